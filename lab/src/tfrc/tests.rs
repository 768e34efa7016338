//! TFRC over networks: against its own equation, and within its limits.

use thalweg_core::law::rate::tfrc::Equation;
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate, Seconds};

use super::*;
use crate::network::{Access, Hop, Network, Part};
use crate::node::drop_tail::DropTail;
use crate::node::loss::Loss;
use crate::node::queue::Limit;
use crate::node::{Node, Tallied};
use crate::packet::Packet;

const PACKET: Bytes = Bytes(1500);

/// Milliseconds of a round trip, apart from transmission times of 1.2 us.
const RTT: u64 = 100;

/// Links that make a round trip of `rtt` milliseconds.
fn access(rtt: u64) -> Access {
    let delay = Span::from_millis(rtt) / 4;
    Access { rate: Rate::from_mbps(10_000), near: delay, far: delay }
}

fn at(secs: u64) -> Time {
    Time::ZERO + Span::from_secs(secs)
}

/// A TFRC flow of at most `rate` that starts at zero and crosses one hop.
fn network(hop: Hop, rate: Rate, rtt: u64) -> Network {
    network_of(Throughput::default(), hop, rate, rtt)
}

/// The same with another equation.
fn network_of(equation: Throughput, hop: Hop, rate: Rate, rtt: u64) -> Network {
    let mut network = Network::new(vec![hop], 1).expect("a hop");
    let sender = TfrcSender::new(Config { rate, equation, ..Config::default() }).expect("valid");
    network.add(sender, TfrcReceiver::new(0, PACKET, equation), access(rtt), 0..1);
    network
}

fn lossy(p: f64, seed: u64) -> Hop {
    let back = DropTail::new(Rate::from_mbps(10_000), Limit::Packets(u64::MAX));
    Hop::Lanes { forward: vec![Loss::independent(p, Rng::new(seed)).into()], backward: vec![back.into()] }
}

fn ends(network: &Network) -> (&TfrcSender, &TfrcReceiver) {
    match network.ends(0) {
        Some((Part::TfrcSender(sender), Part::TfrcReceiver(receiver))) => (sender, receiver),
        other => panic!("{other:?}"),
    }
}

/// Packets per second that a flow delivers over `secs` seconds, after its first minute.
fn throughput(mut network: Network, secs: u64) -> f64 {
    network.run_until(at(60));
    let before = ends(&network).1.received();
    network.run_until(at(60 + secs));
    network.conservation().expect("conservation");
    (ends(&network).1.received() - before) as f64 / secs as f64
}

/// The rate in packets per second at which a flow with independent loss agrees with the equation. A loss event is a
/// loss and all losses within a round trip after it, so events are X R + 1 / p packets apart.
fn agreement(equation: Throughput, p: f64, rtt: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..100 {
        let x = (low + high) / 2.0;
        let events = 1.0 / (x * rtt + 1.0 / p);
        let allowed = equation.rate(PACKET, Seconds(rtt), events) / PACKET.0 as f64;
        if x < allowed { low = x } else { high = x }
    }
    low
}

#[test]
fn a_flow_with_independent_loss_gets_what_its_equation_says_at_any_round_trip() {
    for rtt in [20, RTT, 300] {
        for (p, seed) in [(0.002, 1), (0.01, 2), (0.03, 3)] {
            // 6000 round trips: 300 loss events and more.
            let seen = throughput(network(lossy(p, seed), Rate::from_mbps(100), rtt), 6 * rtt);
            let expected = agreement(Throughput::default(), p, rtt as f64 / 1e3);
            let ratio = seen / expected;
            assert!((ratio - 1.0).abs() < 0.12, "p = {p}, {rtt} ms: {seen} packets a second, not {expected}: {ratio}");
        }
    }
}

/// GCA, Eq. (2): a quarter of α is half of a TCP, and 2.25 one and a half.
#[test]
fn a_greedy_flow_with_independent_loss_gets_what_its_own_equation_says() {
    for (alpha, beta) in [(0.25, 0.5), (2.25, 0.5), (1.4, 0.7)] {
        let equation = Throughput::Gca(Greediness::new(alpha, beta).expect("in the domain"));
        let seen = throughput(network_of(equation, lossy(0.01, 1), Rate::from_mbps(100), RTT), 6 * RTT);
        let ratio = seen / agreement(equation, 0.01, RTT as f64 / 1e3);
        assert!((ratio - 1.0).abs() < 0.12, "alpha = {alpha}, beta = {beta}: {ratio}");
    }
}

#[test]
fn a_flow_without_loss_gets_its_media_rate_and_no_more() {
    let seen = throughput(network(lossy(0.0, 1), Rate::from_mbps(30), RTT), 10);
    assert!((seen - 2_500.0).abs() <= 1.0, "{seen}");
}

#[test]
fn a_bottleneck_is_filled_and_not_flooded() {
    // 20 Mb/s with a queue of one bandwidth-delay product, 167 packets: 1667 packets a second.
    let hop = Hop::link(Rate::from_mbps(20), Limit::Packets(167), Span::ZERO);
    let mut network = network(hop, Rate::from_mbps(100), RTT);
    network.run_until(at(120));
    network.conservation().expect("conservation");
    let (sender, receiver) = ends(&network);
    let share = receiver.received() as f64 / (120.0 * 20e6 / 12e3);
    assert!((0.85..=1.0).contains(&share), "{share}");
    let lost = receiver.missing() as f64 / sender.sent() as f64;
    assert!(lost < 0.02, "{lost}");
}

#[test]
fn when_reports_stop_the_rate_decays_and_when_the_media_stop_nothing_leaves() {
    let config = Config { stop: Some(at(20)), ..Config::default() };
    let mut sender = TfrcSender::new(config).expect("valid");
    let mut left = Vec::new();
    while let Some(next) = sender.next() {
        left.extend(sender.poll(next).map(|_| next));
    }
    // A packet a second until 2 s, one every 2 s until 6 s, one every 4 s until 14 s; the next one would leave at 21 s.
    assert_eq!(left, [0, 1, 3, 5, 9, 13].map(at));
    assert_eq!(sender.sent(), 6);
}

#[test]
fn a_packet_of_somebody_else_is_taken_and_means_nothing() {
    let (mut sender, mut receiver) =
        (TfrcSender::new(Config::default()).expect("valid"), TfrcReceiver::new(0, PACKET, Throughput::default()));
    let before = sender.law().clone();
    sender.accept(at(1), Packet::length(0, PACKET));
    receiver.accept(at(1), Packet::length(0, PACKET));
    assert_eq!((sender.law(), sender.tally().consumed), (&before, 1));
    assert_eq!((receiver.received(), receiver.bytes(), receiver.next()), (0, Bytes(0), None));
}
