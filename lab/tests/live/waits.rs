//! The time that a receiver waits for missing packets: as long as repair may still arrive, which the sender's hellos
//! announce.

use thalweg_core::units::Rate;

use crate::live::props::{at, ms, wire};
use crate::live::story::Story;
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    a_slow_stream_is_repaired_from_its_second_block_on,
    a_stream_that_becomes_slow_is_repaired_as_before,
}

/// Five packets per SYN: a block is as long as the latency allows, 36 ms, and its last repair packet arrives 72 ms
/// after its first packet.
const SLOW: Rate = Rate::from_mbps(5);

/// Drops the packets that arrive within two milliseconds: at most two.
fn two_are_lost(story: &mut Story, millis: u64) {
    story.until(millis).deaf = true;
    story.until(millis + 2).deaf = false;
}

/// Hellos that leave before the first block has closed cannot announce the length of blocks. The next regular hello is
/// up to 200 ms away: the stories begin at different times of that interval.
fn a_slow_stream_is_repaired_from_its_second_block_on(variant: Variant) {
    for start in [500, 570, 640] {
        for later in (60..260).step_by(5) {
            let mut story = variant.over(wire(ms(5)), wire(ms(5)));
            story.until(start).play(SLOW);
            two_are_lost(&mut story, start + later);
            story.until(start + 1000).pause().until(start + 1500);
            assert_eq!(story.lost(start, start + 1000), 0, "lost {later} ms after {:?}", at(start));
        }
    }
}

/// From 30 Mb/s down, blocks grow from 10 ms to 36 ms.
fn a_stream_that_becomes_slow_is_repaired_as_before(variant: Variant) {
    for start in [3000, 3070, 3140] {
        for later in (60..260).step_by(5) {
            let mut story = variant.over(wire(ms(5)), wire(ms(5)));
            story.until(500).play(Rate::from_mbps(30)).until(start).play(SLOW);
            two_are_lost(&mut story, start + later);
            story.until(start + 1000).pause().until(start + 1500);
            assert_eq!(story.lost(500, start + 1000), 0, "lost {later} ms after {:?}", at(start));
        }
    }
}
