//! Peers that the stream must outperform.

use thalweg_core::session::live::sender;
use thalweg_core::units::Rate;

use crate::live::props::{bursty, ms, receiver_config, sender_config, wire};
use crate::live::story::Story;

/// Thirty seconds of 30 Mb/s at a round trip of 100 ms through Gilbert-Elliott loss (0.005, 0.3, 0.7), where SRT with
/// latency=60 and packetfilter fec,cols:10,rows:3 leaves 0.00077 of the packets lost, for 50 % more bytes.
#[test]
fn blocks_of_20_ms_leave_a_fifth_of_what_srt_leaves_within_90_ms_and_40_percent() {
    let (mut given, mut lost, mut sent) = (0, 0, 0);
    for seed in 0..3 {
        let config = sender::Config { block: Some(ms(20)), ..sender_config() };
        let mut story = Story::new(config, receiver_config(), bursty(ms(50), seed), wire(ms(50)));
        story.until(500).play(Rate::from_mbps(30)).until(30_500).pause().until(31_000);
        given += story.inputs.len();
        lost += story.lost(0, 31_000);
        sent += story.departures.iter().map(|(_, size)| size.0).sum::<u64>();
        assert!(story.latency(0.99) <= ms(90), "{}", story.latency(0.99));
    }
    let overhead = sent as f64 / (given * crate::live::props::PAYLOAD) as f64 - 1.0;
    assert!(overhead <= 0.40, "{overhead}");
    let residual = lost as f64 / given as f64;
    assert!(residual <= 0.00077 / 5.0, "{residual}: {lost} of {given}");
}
