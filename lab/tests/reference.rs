//! The lab beside ns-3.37, on two dumbbells: 100 long TCP flows and ten streams of 39.6 Mb/s on 1 Gb/s, which
//! `benches/ns3/run` measures again where ns-3 is installed; and ten TCP flows beside Poisson traffic on 100 Mb/s.

use thalweg_core::law::window::{Flavour, Start};
use thalweg_core::rng::Rng;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::experiment::{AccessRange, Experiment, Group, Kind, Outcome, Run, Tcp};
use thalweg_lab::network::Hop;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::tcp::{Dialect, Recovery, Timeouts};
use thalweg_lab::traffic::cbr::Cbr;
use thalweg_lab::traffic::poisson::Poisson;

/// Seeds of each point: more in the long tier.
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
    Group { name: name.to_owned(), kind, count, start, every: Span::ZERO, access: access(), hops: 0..1 }
}

fn dumbbell(tcp: Tcp, flows: usize) -> Experiment {
    let cbr = Kind::Open(Cbr::new(Rate::from_bps(39_600_000), Bytes(1500)).into());
    Experiment {
        hops: vec![Hop::link(Rate::from_mbps(1000), Limit::Packets(833), Span::from_millis(3))],
        groups: vec![
            group("tcp", Kind::Tcp(tcp), flows, Span::ZERO..Span::from_secs(5)),
            // 303 us are one packet's time: streams that start together would be lost together.
            group("cbr", cbr, 10, Span::ZERO..micros(303)),
        ],
        warmup: Span::from_secs(10),
        duration: Span::from_secs(40),
    }
}

fn tcp(flavour: Flavour, recovery: Recovery, delayed_ack: Option<Span>) -> Tcp {
    Tcp {
        flavour,
        start: Start::default(),
        recovery,
        dialect: Dialect::Ns3,
        delayed_ack,
        timeouts: Timeouts::default(),
        mss: Bytes(1460),
        receive_window: 1 << 16,
        film: None,
    }
}

fn outcomes(tcp: Tcp) -> Vec<Outcome> {
    let experiment = dumbbell(tcp, 100);
    (1..=seeds()).map(|seed| Run::new(&experiment, seed).expect("possible").finish().expect("conservation")).collect()
}

fn mean(outcomes: &[Outcome], name: &str) -> f64 {
    outcomes.iter().map(|outcome| outcome.value(name)).sum::<f64>() / outcomes.len() as f64
}

/// Within 20 % of ns-3's link loss.
fn compare(outcomes: &[Outcome], link_loss: f64) {
    let seen = mean(outcomes, "link_loss");
    assert!((seen / link_loss - 1.0).abs() < 0.2, "link loss {seen}, ns-3 has {link_loss}");
}

/// The loss of the ten streams, which hangs on their phases: two seeds of ns-3 have 1.74 and 2.16 %, whose standard deviation
/// is 15 % of their mean. The means of our seeds and of its own are to be within two standard errors of each other by that.
fn compare_streams(outcomes: &[Outcome], of_ns3: &[f64]) {
    const DEVIATION: f64 = 0.15;
    let (seen, n) = (mean(outcomes, "stream_loss"), outcomes.len() as f64);
    let (expected, m) = (of_ns3.iter().sum::<f64>() / of_ns3.len() as f64, of_ns3.len() as f64);
    let room = 2.0 * DEVIATION * (1.0 / n + 1.0 / m).sqrt();
    assert!((seen / expected - 1.0).abs() < room, "loss of the streams {seen}, ns-3 has {expected}");
}

#[test]
fn linux_reno_with_prr_that_acknowledges_every_packet() {
    let outcomes = outcomes(tcp(Flavour::LinuxReno, Recovery::SackPrr, None));
    // Two seeds of ns-3: 2.64 and 2.74 %.
    compare(&outcomes, 0.0269);
    let goodput = mean(&outcomes, "tcp_goodput_mbps");
    assert!((goodput / 593.0 - 1.0).abs() < 0.03, "{goodput} Mb/s, ns-3 has 593");
    let tcp_loss = mean(&outcomes, "tcp_loss");
    assert!((tcp_loss / 0.0320 - 1.0).abs() < 0.2, "TCP's loss {tcp_loss}, ns-3 has 3.20 %");
    compare_streams(&outcomes, &[0.0174, 0.0216]);
}

#[test]
fn newreno_growth_with_classic_recovery() {
    let outcomes = outcomes(tcp(Flavour::NewReno, Recovery::Sack, None));
    compare(&outcomes, 0.0172);
    compare_streams(&outcomes, &[0.0122]);
}

#[test]
fn linux_reno_with_delayed_acknowledgements() {
    let outcomes = outcomes(tcp(Flavour::LinuxReno, Recovery::SackPrr, Some(Span::from_millis(40))));
    compare(&outcomes, 0.0241);
    compare_streams(&outcomes, &[0.0113]);
}

/// TCP flows and 30 Mb/s of Poisson traffic on 100 Mb/s, 40 ms; access links of the same rate, U(5, 15) ms at each side.
fn beside_poisson(tcp: Tcp, flows: usize, seed: u64) -> Experiment {
    let delays = micros(5_000)..micros(15_000);
    let access = AccessRange { rate: Rate::from_mbps(100), near: delays.clone(), far: delays };
    let poisson = Poisson::new(Rate::from_mbps(30), Bytes(1500), Rng::new(seed).fork("poisson"));
    let tcps = group("tcp", Kind::Tcp(tcp), flows, Span::ZERO..Span::from_secs(5));
    let udp = group("udp", Kind::Open(poisson.into()), 1, Span::ZERO..Span::ZERO);
    Experiment {
        hops: vec![Hop::link(Rate::from_mbps(100), Limit::Packets(500), Span::from_millis(40))],
        groups: [tcps, udp].map(|group| Group { access: access.clone(), ..group }).into(),
        warmup: Span::from_secs(50),
        duration: Span::from_secs(150),
    }
}

/// The median over the seeds, of which there is an odd number.
fn median(outcomes: &[Outcome], name: &str) -> f64 {
    let mut values: Vec<f64> = outcomes.iter().map(|outcome| outcome.value(name)).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// ns-3: 6.71 Mb/s for each flow, and a link loss of 0.069 %.
///
/// The median, not the mean: with access links of the bottleneck's rate a TCP may lock its phase to the departures and take
/// some 30 Mb/s, and the loss falls on all others. It does with seeds 3 and 9 here, and it does in ns-3 (`docs/lab.md`).
/// The loss of the other seeds has a standard deviation of a tenth: for the median of three 20 % is wide.
#[test]
fn linux_reno_beside_poisson_traffic() {
    let outcomes = all_beside_poisson(10);
    let each = median(&outcomes, "tcp_throughput_mbps");
    assert!((each / 6.71 - 1.0).abs() < 0.03, "{each} Mb/s each, ns-3 has 6.71");
    let link_loss = median(&outcomes, "link_loss");
    assert!((link_loss / 0.000_69 - 1.0).abs() < 0.2, "link loss {link_loss}, ns-3 has 0.069 %");
}

fn all_beside_poisson(flows: usize) -> Vec<Outcome> {
    let tcp = tcp(Flavour::LinuxReno, Recovery::SackPrr, None);
    let long = std::env::var_os("THALWEG_TEST_ALL").is_some();
    let seeds = 1..=if long { 9 } else { 3 };
    let run =
        |seed| Run::new(&beside_poisson(tcp, flows, seed), seed).expect("possible").finish().expect("conservation");
    seeds.map(run).collect()
}

/// With five flows more ns-3 has 3.44 Mb/s for each of the ten and 33.4 for the five together, and a link loss of 0.139 %.
///
/// Equal flows would have 4.5 Mb/s each: one of the five is locked to the departures and takes some 20 Mb/s of them. Which
/// flow that is, and how much, is chance there and here; what all have together is not.
#[test]
fn five_more_flows_beside_poisson_traffic() {
    let outcomes = all_beside_poisson(15);
    let (all, of_ns3) = (median(&outcomes, "tcp_goodput_mbps"), 10.0 * 3.44 + 33.4);
    assert!((all / of_ns3 - 1.0).abs() < 0.03, "{all} Mb/s together, ns-3 has {of_ns3}");
    let link_loss = median(&outcomes, "link_loss");
    assert!((link_loss / 0.001_39 - 1.0).abs() < 0.2, "link loss {link_loss}, ns-3 has 0.139 %");
}
