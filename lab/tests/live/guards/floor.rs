//! The overhead on a path without loss: at most 40 % of the media's bytes, all bytes counted, at any rate.

use thalweg_core::session::live::sender;
use thalweg_core::time::Span;
use thalweg_core::units::Rate;

use crate::live::props::{PAYLOAD, ms, receiver_config, sender_config, wire};
use crate::live::story::Story;

/// Twenty seconds of a stream over a path without loss: `overhead_ratio` over all of it, and the number of repair
/// packets per source packet. They are preceded by 2.5 s, after which the source's rate is known.
fn over_a_clean_path(rate: Rate, latency: Span, length: fn(u64) -> usize) -> (f64, f64) {
    let config = sender::Config { latency: latency.into(), ..sender_config() };
    let mut story = Story::new(config, receiver_config(), wire(ms(20)), wire(ms(20)));
    story.length = length;
    story.until(500).play(rate).until(3000);
    let early = story.sender_metrics();
    story.until(23_000);
    let late = story.sender_metrics();
    let since = |name| late[name] - early[name];
    let repair = since("repair_packets_total") / since("source_packets_total");
    (since("wire_bytes_total") / since("media_bytes_total") - 1.0, repair)
}

#[test]
fn a_clean_path_costs_at_most_forty_percent_at_any_rate_and_any_latency() {
    for latency in [90, 500] {
        for kbps in [200, 300, 500, 1_000, 2_000, 5_000, 10_000, 22_000, 22_500, 24_000, 30_000, 90_000] {
            let (overhead, repair) = over_a_clean_path(Rate::from_bps(kbps * 1000), ms(latency), |_| PAYLOAD);
            // Packets collected and not yet sent are one block of those twenty seconds, and so is their repair.
            assert!(overhead <= 0.405, "{kbps} kb/s within {latency} ms: {overhead}");
            if kbps <= 22_000 {
                // The limit is used, too: headers take 46 bytes per 1316, hellos up to 7 kb/s, a repair packet 1385
                // bytes.
                let room = (0.4 - 46.0 / 1316.0 - 7.0 / kbps as f64) * 1316.0 / 1385.0;
                assert!(repair >= 0.97 * room, "{kbps} kb/s within {latency} ms: {repair} of {room}");
            }
        }
    }
}

#[test]
fn short_datagrams_among_long_ones_are_weighed_not_counted() {
    // A repair packet is as long as the longest packet of its block. Audio of 200 bytes with video packets in between;
    // every other datagram half as long; the last of each six short, as where frames are split into datagrams.
    let mixes: [fn(u64) -> usize; 3] = [
        |number| if number.is_multiple_of(8) { PAYLOAD } else { 200 },
        |number| if number.is_multiple_of(2) { PAYLOAD } else { PAYLOAD / 2 },
        |number| if number.is_multiple_of(6) { 300 } else { PAYLOAD },
    ];
    for (mix, length) in mixes.into_iter().enumerate() {
        for kbps in [1_000, 8_000, 24_000] {
            let (overhead, repair) = over_a_clean_path(Rate::from_bps(kbps * 1000), ms(90), length);
            assert!((0.3..=0.405).contains(&overhead), "mix {mix} of {kbps} kb/s: {overhead}");
            assert!(repair > 0.0, "mix {mix} of {kbps} kb/s");
        }
    }
}

/// With datagrams of 100 bytes headers take 46 %: the limit cannot be kept, and a fifth is still repair.
#[test]
fn where_headers_take_it_all_a_fifth_is_still_repair() {
    let (overhead, repair) = over_a_clean_path(Rate::from_mbps(8), ms(90), |_| 100);
    // A repair packet of 169 bytes for the 146 of a source packet.
    let share = 0.2 * 146.0 / 169.0;
    assert!((repair / share - 1.0).abs() < 0.02, "{repair} for {share}");
    assert!((overhead - (0.46 + 0.2 * 1.46)).abs() < 0.02, "{overhead}");
}
