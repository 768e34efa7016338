//! Sequence numbers that jump: a number that was never sent, and numbers behind an outage.

use thalweg_core::law::redundancy::{Law, none};
use thalweg_core::rng::Rng;
use thalweg_core::session::Session;
use thalweg_core::session::live::sender;
use thalweg_core::units::Rate;
use thalweg_core::wire::rtp;
use thalweg_lab::node::reorder::Reorder;

use crate::live::props::{PAYLOAD, at, ms, receiver_config, sender_config, wire};
use crate::live::story::{Back, Story};
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    one_packet_that_nobody_sent_costs_no_others,
}

/// The last source packet sent, with its sequence number raised by `by`.
fn ahead(story: &Story, by: u16) -> Vec<u8> {
    let is_source = |bytes: &&Vec<u8>| {
        !rtp::is_rtcp(bytes) && rtp::Packet::parse(bytes).is_ok_and(|packet| packet.header.payload_type == rtp::MP2T)
    };
    let mut forged = story.recent.iter().find(is_source).expect("media flows").clone();
    let sequence = forged[2..].first_chunk_mut().expect("a whole header");
    *sequence = u16::from_be_bytes(*sequence).wrapping_add(by).to_be_bytes();
    forged
}

/// If the number were believed, all packets before it would be late as soon as the latency of its packet is over.
fn one_packet_that_nobody_sent_costs_no_others(variant: Variant) {
    for by in [101, 300, 1000, 2990, 30_000] {
        let mut story = variant.over(wire(ms(20)), wire(ms(20)));
        story.until(500).play(Rate::from_mbps(30));
        for millis in (3000..5000).step_by(100) {
            story.until(millis);
            let (forged, from) = (ahead(&story, by), story.sender_at);
            let _ = story.receiver.handle_datagram(story.now, from, &forged);
        }
        story.until(7000).pause().until(7500);
        assert_eq!(story.lost(500, 7000), 0, "{by} ahead");
        assert!(story.is_in_order());
    }
}

/// A source of `packets` packets a second, with an outage of `dark` milliseconds from `from` on.
fn cut(packets: u64, repair: Law, from: u64, dark: u64) -> Story {
    let config = sender::Config { repair, ..sender_config() };
    let forward = wire(ms(20)).then("reorder", Reorder::new(0.3, ms(1), Rng::new(1)));
    let mut story = Story::new(config, receiver_config(), forward, wire(ms(20)));
    story.length = |_| 100;
    story.until(500).play(Rate::from_bps(packets * 8 * PAYLOAD as u64)).until(from);
    (story.back, story.deaf) = (Back::Nothing, true);
    story.until(from + dark);
    (story.back, story.deaf) = (Back::Everything, false);
    story.until(from + dark + 1000).pause().until(from + dark + 1500);
    story
}

/// 400 Mb/s in packets of seven transport stream packets are 38 000 a second: RTP's numbers wrap in 1.7 s.
#[test]
fn nothing_behind_a_cut_is_taken_for_old() {
    for (packets, dark) in [(3000, 100), (3000, 1200), (38_000, 600), (38_000, 1000), (38_000, 1500), (38_000, 1800)] {
        let story = cut(packets, none::None.into(), 1500, dark);
        // Packets that the outage and its end hit in flight left up to 21 ms before.
        let (from, to) = (1500 + dark - 19, 2500 + dark);
        assert_eq!(story.lost(from, to), 0, "{packets} a second, {dark} ms of darkness");
        assert!(story.is_in_order());
        assert!(story.outputs.iter().all(|output| output.at < at(1500) || output.latency <= ms(90)));
    }
}
