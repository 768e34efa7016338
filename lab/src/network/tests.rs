use thalweg_core::rng::Rng;
use thalweg_core::units::Bytes;

use super::*;
use crate::node::Tallied;
use crate::node::ends::{Origin, Sink};
use crate::node::loss::Loss;
use crate::node::recorded::{Columns, Index, Recorded, Recording};
use crate::node::trace_link::{Trace, TraceLink};
use crate::traffic::cbr::Cbr;

const PACKET: Bytes = Bytes(1500);

fn millis(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn access() -> Access {
    Access { rate: Rate::from_mbps(10_000), near: millis(1), far: millis(2) }
}

fn cbr(flow: u32, mbps: u64) -> Origin {
    Origin::new(flow, Cbr::new(Rate::from_mbps(mbps), PACKET), Span::ZERO)
}

fn received(network: &Network, flow: u32) -> u64 {
    match network.ends(flow) {
        Some((_, Part::Sink(sink))) => sink.packets(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_packet_takes_the_sum_of_its_delays_and_transmission_times() {
    let hop = || Hop::link(Rate::from_mbps(100), Limit::Packets(10), millis(5));
    let mut network = Network::new(vec![hop(), hop()], 1).expect("two hops");
    network.add(cbr(0, 1), Sink::default(), access(), 0..2);
    // 1500 bytes take 1.2 us at 10 Gb/s and 120 us at 100 Mb/s.
    let arrival = Time::ZERO + millis(1 + 5 + 5 + 2) + Span::from_nanos(2 * 1_200 + 2 * 120_000);
    network.run_until(arrival - Span::from_nanos(1));
    assert_eq!(received(&network, 0), 0);
    network.run_until(arrival);
    assert_eq!(received(&network, 0), 1);
    network.conservation().expect("conservation");
}

#[test]
fn flows_of_a_parking_lot_share_the_hops_they_cross() {
    // 80 and 60 Mb/s through 100 Mb/s; then the rest of the first flow beside 30 Mb/s.
    let hop = || Hop::link(Rate::from_mbps(100), Limit::Packets(20), millis(5));
    let mut network = Network::new(vec![hop(), hop()], 3).expect("two hops");
    for (flow, mbps, hops) in [(0, 80, 0..2), (1, 60, 0..1), (2, 30, 1..2)] {
        network.add(cbr(flow, mbps), Sink::default(), access(), hops);
    }
    network.run_until(Time::ZERO + Span::from_secs(20));
    network.conservation().expect("conservation");
    let loss = |hop: usize| {
        let offered = network.offered(hop);
        let sum = |of: fn(&Offered) -> u64| offered.iter().map(of).sum::<u64>() as f64;
        sum(|flow| flow.dropped) / sum(|flow| flow.packets)
    };
    // 140 Mb/s into 100; a packet is 1 / 233333 of those that arrive in 20 s.
    assert!((loss(0) - 40.0 / 140.0).abs() < 1e-3, "{}", loss(0));
    assert_eq!(network.offered(0)[2], Offered::default(), "it does not come here");
    let through = |flow| received(&network, flow) as f64 * 12e-3 / 20.0;
    assert!((through(0) + through(1) - 100.0).abs() < 0.5, "the first hop is full");
    assert!(through(0) + through(2) <= 100.0);
}

/// 20 and 10 Mb/s meet a loss of a tenth and a recorded link of 18 Mb/s; the first flow then meets a recording that
/// loses every fourth packet, and a queue before 5 Mb/s. Each element loses packets, and each loss is counted for one
/// flow.
#[test]
fn what_every_element_of_every_hop_loses_is_some_flows_loss() {
    let loss = Loss::independent(0.1, Rng::new(5));
    let trace = TraceLink::new(Trace::parse("1\n1\n2\n").expect("three in 2 ms"), Limit::Packets(10));
    let rows = "send_ms,delay_ms,lost\n0,5,0\n1,5,0\n2,5,0\n3,5,1\n";
    let columns = Columns { sent: "send_ms".into(), delay: "delay_ms".into(), lost: Some("lost".into()), least: None };
    let recording = Recording::parse(rows, &columns).expect("four rows");
    let recorded = Recorded::new(recording, Index::Packet, true);
    let link = |mbps, limit| Element::from(DropTail::new(Rate::from_mbps(mbps), limit).with_wire(millis(5)));
    let first = Hop::Lanes { forward: vec![loss.into(), trace.into()], backward: vec![link(100, Limit::ENDLESS)] };
    let slow = || link(5, Limit::Packets(20));
    let second = Hop::Lanes { forward: vec![recorded.into(), slow()], backward: vec![slow()] };
    let mut network = Network::new(vec![first, second], 2).expect("two hops");
    network.add(cbr(0, 20), Sink::default(), access(), 0..2);
    network.add(cbr(1, 10), Sink::default(), access(), 0..1);
    network.watch(0);
    network.run_until(Time::ZERO + Span::from_secs(10));
    network.conservation().expect("conservation");
    let lost_by = |hop: usize| {
        network.hops[hop].lane(Direction::Forward, 0).iter().map(|id| network.engine.node(*id).tally().dropped.total())
    };
    let (first, second): (Vec<u64>, Vec<u64>) = (lost_by(0).collect(), lost_by(1).collect());
    assert!(first.iter().chain(&second).all(|lost| *lost > 0), "{first:?} {second:?}");
    let flows = [network.of_flow(0), network.of_flow(1)];
    assert_eq!(flows[0].dropped + flows[1].dropped, first.iter().chain(&second).sum());
    // Packets neither lost nor received are in flight: in queues of 10 and 20, and 14 ms on wires.
    for (flow, offered) in (0..).zip(&flows) {
        let on_its_way = offered.packets - offered.dropped - received(&network, flow);
        assert!(on_its_way < 60, "{flow}: {on_its_way} of {offered:?}");
    }
    // Packets of 1500 bytes every 0.6 and 1.2 ms from zero on, which arrive at the hop a millisecond later.
    assert_eq!(flows.map(|flow| flow.packets), [16_665, 8_333]);
}

#[test]
fn a_run_is_the_same_however_it_is_cut() {
    let run = |cuts: u64| {
        let mut network =
            Network::new(vec![Hop::link(Rate::from_mbps(100), Limit::Packets(5), millis(3))], 4).expect("a hop");
        for flow in 0..4 {
            network.add(cbr(flow, 20 + u64::from(flow) * 3), Sink::default(), access(), 0..1);
        }
        for cut in 1..=cuts {
            network.run_until(Time::ZERO + Span::from_secs(3).mul_div(cut, cuts));
        }
        let counts: Vec<u64> = (0..4).map(|flow| received(&network, flow)).collect();
        (counts, network.offered(0).to_vec(), network.engine().turns())
    };
    assert_eq!(run(1), run(1000));
}

#[test]
fn a_hop_without_an_element_is_refused() {
    let hop = Hop::Lanes { forward: Vec::new(), backward: Vec::new() };
    assert_eq!(Network::new(vec![hop], 1).err(), Some(EmptyHop));
}
