//! Comparison of the lab with ns-3.37, on two dumbbells: long TCP flows and ten streams of 39.6 Mb/s on 1 Gb/s, which
//! `benches/ns3/run` measures again where ns-3 is installed; and ten TCP flows beside Poisson traffic on 100 Mb/s.
//!
//! The tolerance is 5 % of ns-3's median for loss, 10 % for timeouts and 3 % for goodput, or the range of its seeds, if
//! that is wider.

use thalweg_core::law::window::{Choice, Start};
use thalweg_core::rng::Rng;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::experiment::{AccessRange, Experiment, Group, Kind, Outcome, Run, Tcp};
use thalweg_lab::network::{Direction, Hop};
use thalweg_lab::node::queue::Limit;
use thalweg_lab::tcp::{Dialect, Recovery, Timeouts};
use thalweg_lab::traffic::cbr::Cbr;
use thalweg_lab::traffic::poisson::Poisson;

/// The number of seeds of each point: more in the long tier.
fn seeds() -> u64 {
    if std::env::var_os("THALWEG_TEST_ALL").is_some() { 8 } else { 3 }
}

fn micros(micros: u64) -> Span {
    Span::from_micros(micros)
}

/// Access links of 10 Gb/s, of U(0.5, 1.5) ms at the sender's side and 1 ms at the receiver's.
fn access() -> AccessRange {
    AccessRange { rate: Rate::from_mbps(10_000), near: micros(500)..micros(1_500), far: micros(1_000)..micros(1_000) }
}

fn group(name: &str, kind: Kind, count: usize, start: core::ops::Range<Span>) -> Group {
    Group {
        name: name.to_owned(),
        kind,
        count,
        start,
        every: Span::ZERO,
        access: access(),
        hops: 0..1,
        direction: Direction::Forward,
        stations: 0..0,
        need: None,
    }
}

/// Long TCP and ten streams, with a queue of one bandwidth-delay product.
fn dumbbell(tcp: Tcp, flows: usize, rtt_ms: u64) -> Experiment {
    let cbr = Kind::Open(Cbr::new(Rate::from_bps(39_600_000), Bytes(1500)).into());
    let queue = Limit::Packets(rtt_ms * 1_000 / 12);
    Experiment {
        hops: vec![Hop::link(Rate::from_mbps(1000), queue, micros(rtt_ms * 500 - 2_000))],
        groups: vec![
            group("tcp", Kind::Tcp(tcp), flows, Span::ZERO..Span::from_secs(5)),
            // 303 us are one packet's time: streams that start together would lose packets together.
            group("cbr", cbr, 10, Span::ZERO..micros(303)),
        ],
        share: None,
        warmup: Span::from_secs(10),
        duration: Span::from_secs(40),
    }
}

fn tcp(law: Choice, recovery: Recovery, delayed_ack: Option<Span>) -> Tcp {
    Tcp {
        law: law.into(),
        start: Start::default(),
        recovery,
        dialect: Dialect::Ns3,
        delayed_ack,
        timeouts: Timeouts::default(),
        mss: Bytes(1460),
        receive_window: 1 << 16,
        video: None,
    }
}

fn outcomes(tcp: Tcp, flows: usize, rtt_ms: u64) -> Vec<Outcome> {
    let experiment = dumbbell(tcp, flows, rtt_ms);
    (1..=seeds()).map(|seed| Run::new(&experiment, seed).expect("possible").finish().expect("conservation")).collect()
}

fn mean(outcomes: &[Outcome], name: &str) -> f64 {
    outcomes.iter().map(|outcome| outcome.value(name)).sum::<f64>() / outcomes.len() as f64
}

/// Checks that the mean is within `part` of the median of ns-3's seeds, or within their range, if that is wider.
fn compare(outcomes: &[Outcome], name: &str, of_ns3: &[f64], part: f64) {
    let mut sorted = of_ns3.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    let median = f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    let seen = mean(outcomes, name);
    let (low, high) = (least.min(median * (1.0 - part)), most.max(median * (1.0 + part)));
    assert!((low..=high).contains(&seen), "{name} {seen}, ns-3 has {of_ns3:?}");
}

const LOSS: f64 = 0.05;
const TIMEOUTS: f64 = 0.1;
const GOODPUT: f64 = 0.03;

/// Compares the loss of the ten streams, which depends on their phases: two seeds of ns-3 have 1.74 and 2.16 %, whose
/// standard deviation is 15 % of their mean. By that deviation, the means of our seeds and of ns-3's must be within two
/// standard errors of each other.
fn compare_streams(outcomes: &[Outcome], of_ns3: &[f64]) {
    const DEVIATION: f64 = 0.15;
    let (seen, n) = (mean(outcomes, "stream_loss"), outcomes.len() as f64);
    let (expected, m) = (of_ns3.iter().sum::<f64>() / of_ns3.len() as f64, of_ns3.len() as f64);
    let room = 2.0 * DEVIATION * (1.0 / n + 1.0 / m).sqrt();
    assert!((seen / expected - 1.0).abs() < room, "loss of the streams {seen}, ns-3 has {expected}");
}

#[test]
fn linux_reno_with_prr_that_acknowledges_every_packet() {
    let outcomes = outcomes(tcp(Choice::LinuxReno(()), Recovery::SackPrr, None), 100, 10);
    compare(&outcomes, "link_loss", &[0.0264, 0.0274, 0.026_874], LOSS);
    compare(&outcomes, "tcp_loss", &[0.0320, 0.031_582], LOSS);
    compare(&outcomes, "tcp_goodput_mbps", &[593.0, 594.063], GOODPUT);
    compare(&outcomes, "tcp_timeouts", &[11.25], TIMEOUTS);
    compare_streams(&outcomes, &[0.0174, 0.0216, 0.019_382]);
}

#[test]
fn linux_reno_in_windows_of_two_segments() {
    let outcomes = outcomes(tcp(Choice::LinuxReno(()), Recovery::SackPrr, None), 250, 10);
    compare(&outcomes, "link_loss", &[0.069_139], LOSS);
    compare(&outcomes, "tcp_loss", &[0.080_338], LOSS);
    compare(&outcomes, "tcp_goodput_mbps", &[605.883], GOODPUT);
    compare(&outcomes, "tcp_timeouts", &[39.504], TIMEOUTS);
}

#[test]
fn linux_reno_over_a_tenth_of_a_second() {
    let outcomes = outcomes(tcp(Choice::LinuxReno(()), Recovery::SackPrr, None), 400, 100);
    compare(&outcomes, "link_loss", &[0.005_775], LOSS);
    compare(&outcomes, "tcp_loss", &[0.006_499], LOSS);
    compare(&outcomes, "tcp_goodput_mbps", &[584.917], GOODPUT);
    compare(&outcomes, "tcp_timeouts", &[2.502], TIMEOUTS);
}

#[test]
fn newreno_growth_with_classic_recovery() {
    let outcomes = outcomes(tcp(Choice::NewReno(()), Recovery::Sack, None), 100, 10);
    compare(&outcomes, "link_loss", &[0.0172], LOSS);
    compare_streams(&outcomes, &[0.0122]);
}

#[test]
fn newreno_growth_with_delayed_acknowledgements() {
    let delayed = Some(Span::from_millis(40));
    let outcomes = outcomes(tcp(Choice::NewReno(()), Recovery::Sack, delayed), 100, 10);
    compare(&outcomes, "link_loss", &[0.007_725], LOSS);
    compare(&outcomes, "tcp_loss", &[0.010_337], LOSS);
    compare(&outcomes, "tcp_goodput_mbps", &[588.007], GOODPUT);
}

#[test]
fn linux_reno_with_delayed_acknowledgements() {
    let outcomes = outcomes(tcp(Choice::LinuxReno(()), Recovery::SackPrr, Some(Span::from_millis(40))), 100, 10);
    compare(&outcomes, "link_loss", &[0.0241], LOSS);
    compare_streams(&outcomes, &[0.0113]);
}

/// TCP flows and 30 Mb/s of Poisson traffic on 100 Mb/s, 40 ms; access links of the same rate, U(5, 15) ms at each
/// side.
fn beside_poisson(tcp: Tcp, flows: usize, seed: u64) -> Experiment {
    let delays = micros(5_000)..micros(15_000);
    let access = AccessRange { rate: Rate::from_mbps(100), near: delays.clone(), far: delays };
    let poisson = Poisson::new(Rate::from_mbps(30), Bytes(1500), Rng::new(seed).fork("poisson"));
    let tcps = group("tcp", Kind::Tcp(tcp), flows, Span::ZERO..Span::from_secs(5));
    let udp = group("udp", Kind::Open(poisson.into()), 1, Span::ZERO..Span::ZERO);
    Experiment {
        hops: vec![Hop::link(Rate::from_mbps(100), Limit::Packets(500), Span::from_millis(40))],
        groups: [tcps, udp].map(|group| Group { access: access.clone(), ..group }).into(),
        share: None,
        warmup: Span::from_secs(50),
        duration: Span::from_secs(150),
    }
}

/// The median over the seeds, whose number is odd.
fn median(outcomes: &[Outcome], name: &str) -> f64 {
    let mut values: Vec<f64> = outcomes.iter().map(|outcome| outcome.value(name)).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// ns-3: 6.71 Mb/s for each flow, and a link loss of 0.059 to 0.099 % (four seeds).
///
/// The median, not the mean: with access links of the bottleneck's rate a TCP flow may lock its phase to the departures
/// and take some 30 Mb/s, and all losses are those of the other flows (`docs/lab.md`).
#[test]
fn linux_reno_beside_poisson_traffic() {
    let outcomes = all_beside_poisson(10);
    let each = median(&outcomes, "tcp_throughput_mbps");
    assert!((each / 6.71 - 1.0).abs() < GOODPUT, "{each} Mb/s each, ns-3 has 6.71");
    let link_loss = median(&outcomes, "link_loss");
    assert!((0.000_59..=0.000_99).contains(&link_loss), "link loss {link_loss}, ns-3 has 0.059 to 0.099 %");
}

fn all_beside_poisson(flows: usize) -> Vec<Outcome> {
    let tcp = tcp(Choice::LinuxReno(()), Recovery::SackPrr, None);
    let long = std::env::var_os("THALWEG_TEST_ALL").is_some();
    let seeds = 1..=if long { 9 } else { 3 };
    let run = |seed| {
        let experiment = beside_poisson(tcp.clone(), flows, seed);
        Run::new(&experiment, seed).expect("possible").finish().expect("conservation")
    };
    seeds.map(run).collect()
}

/// With five more flows ns-3 has 3.44 Mb/s for each of the ten and 33.4 for the five together, and a link loss of 0.139
/// %.
///
/// Equal flows would have 4.5 Mb/s each: one of the five is locked to the departures and takes some 20 Mb/s of them.
/// The flow that is locked, and its share, are random in both simulators; the total of all flows is not.
#[test]
fn five_more_flows_beside_poisson_traffic() {
    let outcomes = all_beside_poisson(15);
    let (all, of_ns3) = (median(&outcomes, "tcp_goodput_mbps"), 10.0 * 3.44 + 33.4);
    assert!((all / of_ns3 - 1.0).abs() < GOODPUT, "{all} Mb/s together, ns-3 has {of_ns3}");
    let link_loss = median(&outcomes, "link_loss");
    // Three times the tolerance: a single seed of ns-3, and only some hundred losses.
    assert!((link_loss / 0.001_39 - 1.0).abs() < 3.0 * LOSS, "link loss {link_loss}, ns-3 has 0.139 %");
}
