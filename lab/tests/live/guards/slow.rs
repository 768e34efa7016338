//! The brake of a stream with few packets.

use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::Event as Said;
use thalweg_core::units::Rate;
use thalweg_lab::node::loss::Loss;

use crate::live::props::{at, ms, wire};
use crate::live::story::{Policer, Story};
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    a_path_without_room_takes_repair_from_slow_streams_as_from_fast_ones,
    a_percent_of_loss_ends_no_slow_stream,
}

/// A stream of `kbps` from half a second on, over a path that loses the share `loss`.
fn lossy(variant: Variant, kbps: u64, loss: f64, seed: u64, until: u64) -> Story {
    let forward = wire(ms(20)).then("loss", Loss::independent(loss, Rng::new(seed)));
    let mut story = variant.over(forward, wire(ms(20)));
    story.until(500).play(Rate::from_bps(kbps * 1000)).until(until);
    story
}

/// RFC 8083 ends none of them: a tenth of loss at 40 ms leaves a TCP 1 Mb/s, and ten times that is not exceeded (§4.3).
fn a_path_without_room_takes_repair_from_slow_streams_as_from_fast_ones(variant: Variant) {
    for kbps in [300, 1000, 2000, 4000] {
        let mut story = variant.over(wire(ms(20)), wire(ms(20)));
        story.policer = Some(Policer::new(Rate::from_bps(kbps * 900)));
        story.until(500).play(Rate::from_bps(kbps * 1000)).until(25_500);
        let wish = story.sender_events.iter().find(|(_, said)| matches!(said, Said::LowerRate(_)));
        let (when, _) = wish.unwrap_or_else(|| panic!("{kbps} kb/s: {:?}", story.sender_events));
        // Five seconds of averaging, a second more, eight to judge the path, and the path's own delay at each step.
        assert!(*when <= at(15_500), "{kbps} kb/s: {when:?}");
        let before = story.sender_metrics();
        let after = story.until(35_500).sender_metrics();
        let [sources, repairs] =
            ["source_packets_total", "repair_packets_total"].map(|name| after[name] - before[name]);
        assert!(repairs <= 0.1 * sources, "{kbps} kb/s: {repairs} for {sources}");
        assert!(!story.sender_events.iter().any(|(_, said)| matches!(said, Said::Ended(_))), "{kbps} kb/s");
    }
}

fn a_percent_of_loss_ends_no_slow_stream(variant: Variant) {
    for seed in 1..=5 {
        let story = lossy(variant, 300, 0.01, seed, 60_000);
        let ended = story.sender_events.iter().any(|(_, said)| matches!(said, Said::Ended(_)));
        assert!(!ended, "seed {seed}: {:?}", story.sender_events);
    }
}
