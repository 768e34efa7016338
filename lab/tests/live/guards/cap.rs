//! A maximum rate: it is never exceeded, and fully used.

use std::collections::VecDeque;

use thalweg_core::law::redundancy::{Law, none};
use thalweg_core::session::live::sender::{self, Event as Said};
use thalweg_core::time::Time;
use thalweg_core::units::{Bytes, Rate};

use crate::live::auto::auto;
use crate::live::props::{PAYLOAD, at, geneva, ms, receiver_config, sender_config, wire};
use crate::live::story::Story;
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    source_beyond_the_maximum_rate_is_reported_once_a_second,
}

/// A story under a maximum rate, after half a second of handshake.
fn under(greatest: Rate, repair: Law) -> Story {
    let config = sender::Config { max_rate: Some(greatest), repair, ..sender_config() };
    let mut story = Story::new(config, receiver_config(), wire(ms(20)), wire(ms(20)));
    story.until(500);
    story
}

/// The highest rate over any tenth of a second.
pub(in crate::live) fn peak(story: &Story) -> Rate {
    let mut window = VecDeque::new();
    let mut sum = Bytes(0);
    let mut most = 0;
    for &(when, size) in &story.departures {
        window.push_back((when, size));
        sum += size;
        while window.front().is_some_and(|(first, _)| when.since(*first) >= ms(100)) {
            sum = Bytes(sum.0 - window.pop_front().map_or(0, |(_, size): (Time, Bytes)| size.0));
        }
        most = most.max(sum.0);
    }
    Rate::of(Bytes(most), ms(100))
}

/// The rate of the media delivered in the second that begins at `from`.
pub(super) fn came(story: &Story, from: u64) -> Rate {
    let second = at(from)..at(from + 1000);
    let packets = story.outputs.iter().filter(|output| output.intact && second.contains(&output.at)).count();
    Rate::of(Bytes((packets * PAYLOAD) as u64), ms(1000))
}

#[test]
fn media_and_repair_stay_under_the_greatest_rate() {
    // Media of 30 Mb/s takes 31 with its headers.
    for (mbps, media_lost) in [(60, false), (36, false), (32, false), (20, true)] {
        let greatest = Rate::from_mbps(mbps);
        let mut story = under(greatest, geneva());
        story.play(Rate::from_mbps(30)).until(5500).pause().until(6000);
        let peak = peak(&story);
        // One packet more or less fits into a tenth of a second.
        assert!(peak.as_bps() <= greatest.as_bps() + 120_000, "{peak} under {mbps} Mb/s");
        assert!(story.latency(1.0) <= ms(90), "{} under {mbps} Mb/s", story.latency(1.0));
        let metrics = story.sender_metrics();
        let (given, unsent) = (story.inputs.len() as f64, metrics["unsent_packets_total"]);
        assert_eq!(metrics["source_packets_total"] + unsent, given, "{mbps} Mb/s");
        if media_lost {
            // 20 of 31 fit, and a last tenth of a second of these may be in addition.
            let fits = 20.0 / 31.0;
            assert!((0.95 * fits..=1.05 * fits).contains(&(1.0 - unsent / given)), "{unsent} of {given}");
        } else {
            assert_eq!((unsent, story.lost(0, 6000)), (0.0, 0), "{mbps} Mb/s");
        }
    }
}

#[test]
fn a_host_that_is_late_by_ten_milliseconds_keeps_its_media() {
    for repair in [geneva(), none::None.into(), auto()] {
        let greatest = Rate::from_mbps(45);
        let mut story = under(greatest, repair.clone());
        story.turns = Some(ms(10));
        story.play(Rate::from_mbps(30)).until(5500).pause().until(6000);
        let peak = peak(&story);
        assert_eq!((story.sender_metrics()["unsent_packets_total"], story.lost(0, 6000)), (0.0, 0), "{repair:?}");
        assert!(story.latency(1.0) <= ms(90), "{} with {repair:?}", story.latency(1.0));
        // A tenth of a second, and the ten milliseconds before it.
        assert!(peak.as_bps() <= greatest.as_bps() / 10 * 11 + 120_000, "{peak} with {repair:?}");
    }
}

/// The source's rate, the maximum rate, and the source's lowered rate, in kb/s.
const BEYOND: [(u64, u64, u64); 6] = [
    (30_000, 20_000, 15_000),
    (4_200, 4_000, 3_000),
    (10_000, 8_000, 6_000),
    (2_000, 2_000, 1_500),
    (2_000, 1_000, 750),
    (3_800, 4_000, 3_800),
];

#[test]
fn media_beyond_the_greatest_rate_fills_it_every_second_and_comes_whole_once_it_fits() {
    let kbps = |kbps: u64| Rate::from_bps(kbps * 1000);
    for repair in [geneva(), none::None.into(), auto()] {
        for (media, greatest, less) in BEYOND {
            let mut story = under(kbps(greatest), repair.clone());
            story.play(kbps(media)).until(5500).play(kbps(less)).until(8500).pause().until(9000);
            let case = format!("{media} under {greatest} kb/s with {repair:?}");
            for from in [1000, 2000, 3000, 4000] {
                // Headers take 44 bytes per 1316, and hellos about one percent.
                let came = came(&story, from);
                assert!(came.as_bps() >= greatest * 900, "{case}: {came} from {from} ms on");
            }
            assert_eq!(story.lost(5600, 8500), 0, "{case}: all that fits");
            assert!(story.latency(1.0) <= ms(90) && story.is_in_order(), "{case}: {}", story.latency(1.0));
            // The receiver does not count datagrams that were never sent as lost.
            assert_eq!(story.receiver_metrics()["residual_lost_packets_total"], 0.0, "{case}");
            assert_eq!(story.sender_metrics()["breaker_open"], 0.0, "{case}");
        }
    }
}

#[test]
fn a_machine_that_is_late_makes_no_loss_of_what_does_not_fit() {
    // 30.9 Mb/s with headers, on a machine that runs the sender every 3 ms.
    for mbps in [20, 29] {
        let greatest = Rate::from_mbps(mbps);
        let mut story = under(greatest, none::None.into());
        story.turns = Some(ms(3));
        story.play(Rate::from_mbps(30)).until(5500);
        for from in [1000, 2000, 3000, 4000] {
            let came = came(&story, from);
            assert!(came.as_bps() >= greatest.as_bps() / 10 * 9, "{came} under {mbps} Mb/s from {from} ms on");
        }
        assert_eq!(story.receiver_metrics()["residual_lost_packets_total"], 0.0, "under {mbps} Mb/s");
        let reported: u64 = story
            .sender_events
            .iter()
            .map(|(_, said)| if let Said::OverRate { unsent, .. } = said { *unsent } else { 0 })
            .sum();
        let unsent = story.sender_metrics()["unsent_packets_total"];
        assert!(reported as f64 >= unsent * 0.75, "{reported} of {unsent} in all but the last second of five");
    }
}

fn source_beyond_the_maximum_rate_is_reported_once_a_second(variant: Variant) {
    let mut story = under(Rate::from_mbps(20), variant.repair());
    story.play(Rate::from_mbps(30)).until(5500).play(Rate::from_mbps(15)).until(9000);
    let words: Vec<(Time, u64)> = story
        .sender_events
        .iter()
        .filter_map(|(when, said)| match said {
            Said::OverRate { greatest, unsent } if *greatest == Rate::from_mbps(20) => Some((*when, *unsent)),
            _ => None,
        })
        .collect();
    assert_eq!(words.len(), 5, "from when the first packets are late, over almost five seconds: {words:?}");
    assert!(words.windows(2).all(|pair| pair[1].0.since(pair[0].0) >= ms(990)), "{words:?}");
    // 11 of 31 Mb/s, in packets of 1360 bytes.
    let second = 11_000_000.0 / (1360.0 * 8.0);
    assert!(words[1..].iter().all(|(_, unsent)| (*unsent as f64 / second - 1.0).abs() < 0.1), "{words:?}");
}
