//! Real recordings, if they are available: the elements that replay them must reproduce their known properties.

use std::path::Path as FilePath;

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::node::Node;
use thalweg_lab::packet::Packet;
use thalweg_lab::path::Path;
use thalweg_lab::scenario::Scenario;

/// A forward path of one element that reads a file of the shared recordings; none, after a message, without these.
fn path(element: &str) -> Option<Path> {
    let text = format!("seed = 1\n[forward]\nelement = [{{ {element} }}]\n[reverse]\n");
    let beside = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/net");
    let mut load = |name: &str| std::fs::read_to_string(beside.join(name)).map_err(|error| error.to_string());
    match Scenario::parse("recording", &text, None, &mut load) {
        Ok(scenario) => Some(scenario.forward),
        Err(error) if !beside.exists() => {
            println!("skipped, there is no ../shared/data/net: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Sends `count` packets of 1500 bytes, one every `gap`, and returns the time of every arrival.
fn arrivals(path: &mut Path, count: u32, gap: Span) -> Vec<(u32, Time)> {
    let mut out = Vec::new();
    let mut now = Time::ZERO;
    for flow in 0..count {
        path.accept(now, Packet::length(flow, Bytes(1500)));
        now += gap;
        while let Some(at) = path.next().filter(|at| *at <= now) {
            out.extend(path.poll(at).map(|packet| (packet.flow, at)));
        }
    }
    out
}

#[test]
fn the_lte_traces_carry_5_0_and_5_9_mbps() {
    for (file, mbps) in [("Verizon-LTE-short.down", 5.0), ("Verizon-LTE-short.up", 5.9)] {
        let Some(mut path) = path(&format!("kind = \"trace_link\", trace = \"{file}\", queue = 100000")) else {
            return;
        };
        // 12 Mb/s for the 140 s of the trace keep its queue full.
        let carried = arrivals(&mut path, 140_000, Span::from_millis(1)).len() as u64;
        let rate = Rate::of(Bytes(1500) * carried, Span::from_secs(140)).as_mbps_f64();
        assert!((rate - mbps).abs() < 0.05, "{file}: {rate} Mb/s");
    }
}

#[test]
fn the_starlink_recording_loses_a_third_of_a_percent_on_the_way_down() {
    let columns = "kind = \"recorded\", file = \"starlink_irtt_10ms.csv\", sent = \"send_ms\", delay = \"down_delay_ms\", \
                   lost = \"down_lost\"";
    let Some(mut by_packet) = path(&format!("{columns}, index = \"packet\"")) else { return };
    let Some(mut by_time) = path(&format!("{columns}, index = \"time\"")) else { return };
    // At the pace of the recording both index modes give the same result.
    let seen = arrivals(&mut by_packet, 10_000, Span::from_millis(10));
    assert_eq!(arrivals(&mut by_time, 10_000, Span::from_millis(10)), seen);
    assert_eq!(by_packet.accounts().map(|account| account.tally.dropped.of_ends).sum::<u64>(), 33);
    // The first row: 36.114 ms.
    assert_eq!(seen.first(), Some(&(0, Time::from_nanos(36_114_000))));
}

#[test]
fn the_jitter_profile_reorders() {
    let columns = "kind = \"recorded\", file = \"hrtf_g722_1C_48_jitterT2.csv\", sent = \"send_ms\", \
                   delay = \"rel_delay_ms\", lost = \"lost\", index = \"packet\"";
    for (keep_order, overtaken) in [(false, true), (true, false)] {
        let Some(mut path) = path(&format!("{columns}, keep_order = {keep_order}")) else { return };
        let seen = arrivals(&mut path, 1_192, Span::from_millis(20));
        assert_eq!(!seen.is_sorted_by_key(|(flow, _)| *flow), overtaken);
    }
}
