//! Bytes that are corrupted in transit.

use std::collections::BTreeSet;

use thalweg_core::rng::Rng;
use thalweg_core::session::live::{Playout, receiver};
use thalweg_core::time::Time;
use thalweg_core::units::Rate;
use thalweg_core::wire::rtp;
use thalweg_lab::node::Node;
use thalweg_lab::node::corrupt::Corrupt;
use thalweg_lab::node::reorder::Reorder;
use thalweg_lab::packet::{Body, Packet};

use crate::live::props::{ms, receiver_config, wire};
use crate::live::story::Story;
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    corrupted_bytes_harm_their_own_packets_alone,
    a_damaged_timestamp_harms_no_others,
    a_damaged_sender_report_makes_nothing_late,
}

/// Numbers of the media datagrams that `node` damages when it processes the sender's output: the number before, and the
/// one that is read after the damage.
fn hit(story: &Story, mut node: Corrupt) -> BTreeSet<u64> {
    let [mut rest, _] = story.written.as_ref().expect("it was kept").each_ref().map(Vec::as_slice);
    let headers = Packet::datagram(0, Vec::new()).size;
    let mut hit = BTreeSet::new();
    for (_, size) in &story.departures {
        let (before, behind) = rest.split_at((size.0 - headers.0) as usize);
        rest = behind;
        node.accept(Time::ZERO, Packet::datagram(0, before.to_vec()));
        let Some(Packet { body: Body::Datagram(after), .. }) = node.poll(Time::ZERO) else { panic!("it passes") };
        if before != after {
            let payloads =
                [before, &after].map(|bytes| rtp::Packet::parse(bytes).map_or(&[][..], |packet| packet.payload));
            let numbers = payloads.into_iter().filter_map(|payload| payload.first_chunk());
            hit.extend(numbers.map(|number| u64::from_be_bytes(*number)));
        }
    }
    assert!(rest.is_empty(), "{} bytes", rest.len());
    hit
}

fn corrupted_bytes_harm_their_own_packets_alone(variant: Variant) {
    let corrupt = Corrupt::new(0.01, 3, Rng::new(3));
    let forward = wire(ms(20)).then("corrupt", corrupt.clone());
    let mut story = variant.over(forward, wire(ms(20)));
    story.written = Some([Vec::new(), Vec::new()]);
    story.until(500).play(Rate::from_mbps(30)).until(8000).pause().until(8500);
    let hit = hit(&story, corrupt);
    let damaged: Vec<u64> = story.outputs.iter().filter(|output| !output.intact).map(|output| output.number).collect();
    let others: Vec<&u64> = damaged.iter().filter(|number| !hit.contains(*number)).collect();
    assert!(!damaged.is_empty() && others.is_empty(), "{others:?} were not hit, of {} that are damaged", damaged.len());
    let intact = story.outputs.iter().filter(|output| output.intact).count();
    assert!(intact > story.inputs.len() * 98 / 100, "{intact} of {}", story.inputs.len());
    let last = story.outputs.iter().filter(|output| output.intact).map(|output| output.number).max();
    assert_eq!(last, Some(story.inputs.len() as u64 - 1), "the stream goes on to its end");
}

/// Sets the timestamp of one source packet in fifty back by ten minutes.
fn some_are_old(bytes: &mut [u8]) {
    let is_source = rtp::Packet::parse(bytes).is_ok_and(|packet| packet.header.payload_type == rtp::MP2T);
    if is_source && bytes[3].is_multiple_of(50) {
        let timestamp = bytes[4..].first_chunk_mut().expect("a whole header");
        *timestamp = u32::from_be_bytes(*timestamp).wrapping_sub(600 * rtp::CLOCK_RATE).to_be_bytes();
    }
}

/// Packets still in flight before such a packet do not become late because of it.
fn a_damaged_timestamp_harms_no_others(variant: Variant) {
    let forward = wire(ms(20)).then("reorder", Reorder::new(0.3, ms(4), Rng::new(1)));
    let mut story = variant.over(forward, wire(ms(20)));
    story.rewrite = some_are_old;
    story.until(500).play(Rate::from_mbps(30)).until(8000).pause().until(8500);
    // A receiver begins with the first packet that arrives: 30 % are delayed by 4 ms.
    assert_eq!(story.lost(505, 8000), 0);
    assert!(story.is_in_order());
}

/// Shifts the RTP timestamp of one sender report by 0.36 s, as a long queue could, except that the NTP time stays.
fn one_report_is_off(bytes: &mut [u8]) {
    let is_report = rtp::is_rtcp(bytes);
    // The third second of the sender's clock.
    if is_report && bytes[8..12] == [0, 0, 0, 3] && bytes[12] < 64 {
        bytes[18] ^= 0x80;
    }
}

fn a_damaged_sender_report_makes_nothing_late(variant: Variant) {
    for playout in [Playout::Asap, Playout::Constant] {
        let receiver = receiver::Config { playout, ..receiver_config() };
        let forward = wire(ms(20)).then("reorder", Reorder::new(0.3, ms(4), Rng::new(1)));
        let mut story = variant.story(variant.sender(), receiver, forward, wire(ms(20)));
        story.rewrite = one_report_is_off;
        story.until(500).play(Rate::from_mbps(30)).until(8000).pause().until(8500);
        assert_eq!(story.lost(505, 8000), 0, "{playout:?}");
        assert!(playout == Playout::Asap || story.latency(0.0) > ms(89), "{}", story.latency(0.0));
    }
}
