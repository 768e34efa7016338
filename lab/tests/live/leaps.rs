//! Sequence numbers that leap: one that nobody sent, and those behind a cut.

use thalweg_core::rng::Rng;
use thalweg_core::session::Session;
use thalweg_core::session::live::sender::{self, Repair};
use thalweg_core::units::Rate;
use thalweg_core::wire::rtp;
use thalweg_lab::node::reorder::Reorder;

use crate::props::{PAYLOAD, at, ms, receiver_config, sender_config, wire};
use crate::story::{Back, Story};

/// The source packet that left last, as if so many more had left since.
fn ahead(story: &Story, by: u16) -> Vec<u8> {
    let is_source = |bytes: &&Vec<u8>| {
        !rtp::is_rtcp(bytes) && rtp::Packet::parse(bytes).is_ok_and(|packet| packet.header.payload_type == rtp::MP2T)
    };
    let mut forged = story.recent.iter().find(is_source).expect("media flows").clone();
    let sequence = forged[2..].first_chunk_mut().expect("a whole header");
    *sequence = u16::from_be_bytes(*sequence).wrapping_add(by).to_be_bytes();
    forged
}

/// Once believed, the number would make all before it late as soon as the latency of its packet is over.
#[test]
fn one_packet_that_nobody_sent_costs_no_others() {
    for by in [101, 300, 1000, 2990, 30_000] {
        let mut story = Story::new(sender_config(), receiver_config(), wire(ms(20)), wire(ms(20)));
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

/// A source of so many packets a second, dark from `from` on for `dark` milliseconds.
fn cut(packets: u64, repair: Repair, from: u64, dark: u64) -> Story {
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
        let story = cut(packets, Repair::None, 1500, dark);
        // Packets that the cut and its end hit on their way have left 21 ms before.
        let (from, to) = (1500 + dark - 19, 2500 + dark);
        assert_eq!(story.lost(from, to), 0, "{packets} a second, {dark} ms of darkness");
        assert!(story.is_in_order());
        assert!(story.outputs.iter().all(|output| output.at < at(1500) || output.latency <= ms(90)));
    }
}
