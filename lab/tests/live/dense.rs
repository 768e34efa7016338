//! Sources with more packets than one block holds, and more than a receiver buffers.

use std::collections::BTreeMap;

use allocation_counter::measure;
use thalweg_core::code::rlc::MAX_WINDOW;
use thalweg_core::law::redundancy::none;
use thalweg_core::session::live::receiver::Event as Heard;
use thalweg_core::session::live::{Playout, receiver, sender};
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use crate::live::props::{PAYLOAD, at, bursty, ms, receiver_config, sender_config, wire};
use crate::live::story::Story;
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    memory_is_latency_times_rate_and_five_megabytes,
}

/// Media of `rate` for `secs` after half a second of handshake, in blocks of `block` within `latency`, and the sender's
/// metrics at its end; a pause of twice that latency follows.
fn blocks(rate: Rate, secs: u64, block: Span, latency: Span) -> (Story, BTreeMap<&'static str, f64>) {
    let config = sender::Config { block: Some(block), latency: latency.into(), ..sender_config() };
    let mut story = Story::new(
        config,
        receiver::Config { latency: latency.into(), ..receiver_config() },
        wire(ms(20)),
        wire(ms(20)),
    );
    let end = 500 + secs * 1000;
    let said = story.until(500).play(rate).until(end).sender_metrics();
    story.pause().until(end + 2 * latency.as_micros() / 1000);
    (story, said)
}

/// A block holds 1600 packets, so neither source gets a block as long as it asks for.
#[test]
fn full_blocks_keep_the_rate_of_their_source() {
    let packets = |rate: Rate| rate.as_bps() as f64 / (8 * PAYLOAD) as f64;
    let slow = Rate::from_bps(5000 * 8 * PAYLOAD as u64);
    for (rate, secs, block, latency) in [(slow, 10, ms(1000), ms(3000)), (Rate::from_mbps(400), 3, ms(100), ms(300))] {
        let (story, said) = blocks(rate, secs, block, latency);
        assert_eq!(story.lost(0, 1000 * (secs + 1)), 0);
        assert_eq!(story.sender_metrics()["source_packets_total"], story.inputs.len() as f64);
        // Packets of one SYN, and eight repair packets for them (GENEVA §3.2.2).
        let k = packets(rate) / 100.0;
        assert!((said["block_packets"] / k - 1.0).abs() < 0.02, "{} of {k}", said["block_packets"]);
        let share = said["repair_packets_total"] / said["source_packets_total"];
        assert!((share * k / 8.0 - 1.0).abs() < 0.05, "{share} for 8 of {k}");
        // One block to collect, one to send: as long as the source takes for 1600 packets, and the path delay.
        let full = Span::from_secs_f64(1600.0 / packets(rate));
        let most = full * 2 + ms(20) + ms(10);
        assert!(story.latency(0.98) <= most, "{} of {most}", story.latency(0.98));
        // The last block is not full, and takes its full time.
        assert!(story.latency(1.0) <= block * 2 + ms(30), "{}", story.latency(1.0));
        // The output of a second is the input of a second, and its repair.
        let second = story.departures.iter().filter(|(left, _)| (at(2000)..at(3000)).contains(left));
        let sent: Bytes = second.map(|(_, size)| *size).fold(Bytes(0), |sum, size| Bytes(sum.0 + size.0));
        let wire = packets(rate) * ((PAYLOAD + 46) as f64 + share * (PAYLOAD + 69) as f64);
        assert!((sent.0 as f64 / wire - 1.0).abs() < 0.02, "{sent:?} of {wire}");
    }
}

/// Media of `rate` in packets of `length` for the latency and a second more, with constant playout.
fn constant(rate: Rate, length: fn(u64) -> usize, latency: Span) -> Story {
    let config = sender::Config { repair: none::None.into(), latency: latency.into(), ..sender_config() };
    let receiver = receiver::Config { latency: latency.into(), playout: Playout::Constant, ..receiver_config() };
    let mut story = Story::new(config, receiver, wire(ms(20)), wire(ms(20)));
    story.length = length;
    let (end, millis) = (1500 + latency.as_micros() / 1000, latency.as_micros() / 1000);
    story.until(500).play(rate).until(end).pause().until(end + millis + 100);
    story
}

/// Not even 2^15 packets, half of the range of RTP's 16-bit sequence numbers, are too many.
#[test]
fn everything_waits_for_its_time_where_there_is_memory_for_it() {
    let many = Rate::from_bps(6000 * 8 * PAYLOAD as u64);
    let [short, long]: [fn(u64) -> usize; 2] = [|_| 100, |_| PAYLOAD];
    for (rate, length, secs) in [(many, short, 10), (Rate::from_mbps(100), long, 4)] {
        let story = constant(rate, length, Span::from_secs(secs));
        let heard = story.receiver_metrics();
        assert!(story.inputs.len() > 1 << 15);
        assert_eq!(story.outputs.len(), story.inputs.len());
        assert_eq!((heard["residual_lost_packets_total"], heard["early_packets_total"]), (0.0, 0.0));
        assert!(Span::from_secs(secs).saturating_sub(story.latency(0.0)) < ms(1), "{}", story.latency(0.0));
    }
}

#[test]
fn where_there_is_not_it_comes_early_and_nothing_is_lost() {
    let latency = Span::from_secs(2);
    let story = constant(Rate::from_mbps(400), |_| PAYLOAD, latency);
    let heard = story.receiver_metrics();
    assert_eq!(story.outputs.len(), story.inputs.len());
    assert!(story.is_in_order());
    assert_eq!(heard["residual_lost_packets_total"], 0.0);
    assert!(heard["early_packets_total"] > 10_000.0, "{heard:?}");
    // 64 MiB of media last 1.34 s, less the overhead of each packet beside its payload.
    let early = story.receiver_events.iter().filter_map(|(_, event)| match event {
        Heard::Early { latency, after, .. } => Some((*latency, *after)),
        _ => None,
    });
    let early: Vec<_> = early.collect();
    assert!(matches!(early[..], [(of, after)] if of == latency && after > ms(1000) && after < ms(1342)), "{early:?}");
    assert!(story.latency(0.0) > ms(1000), "{}", story.latency(0.0));
}

/// The memory that a receiver holds until delivery, or until no repair can need it any more. A code that slides has packets
/// of its own: as many as its window, so that packets are repaired however long the latency is.
fn memory_is_latency_times_rate_and_five_megabytes(variant: Variant) {
    let rate = Rate::from_mbps(30);
    for (secs, playout) in [(1, Playout::Constant), (10, Playout::Constant), (10, Playout::Asap)] {
        let latency = Span::from_secs(secs);
        let mut most = Bytes(0);
        let used = measure(|| {
            let config = sender::Config { latency: latency.into(), ..variant.sender() };
            let receiver = receiver::Config { latency: latency.into(), playout, ..receiver_config() };
            let mut story = variant.story(config, receiver, bursty(ms(20), 4), wire(ms(20)));
            story.notes = false;
            story.until(500).play(rate).until(2500 + 1000 * secs);
            most = rate.bytes_in(latency);
            let heard = story.receiver_metrics();
            assert_eq!(heard["early_packets_total"], 0.0);
            let (lost, recovered) = (heard["lost_packets_total"], heard["recovered_packets_total"]);
            assert!(lost > 50.0 && recovered >= 0.9 * lost, "{recovered} of {lost} in {latency}");
        });
        let code = if variant.has_blocks() { 0 } else { most.0.min((MAX_WINDOW * PAYLOAD) as u64) };
        assert!(used.bytes_max <= most.0 + code + 5_000_000, "{} bytes for {most:?} in {latency}", used.bytes_max);
        assert!(used.bytes_max >= most.0, "it is all held: {} bytes for {most:?}", used.bytes_max);
    }
}
