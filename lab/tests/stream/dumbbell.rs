//! Streams that share a bottleneck.

use thalweg_core::law::redundancy::geneva::Geneva;
use thalweg_core::law::redundancy::geneva::Parameters;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_lab::network::{Access, Hop, Network, Part};
use thalweg_lab::node::queue::Limit;
use thalweg_lab::stream::counters::{Received, Sent};
use thalweg_lab::stream::receiver::{self, Receiver};
use thalweg_lab::stream::scheme::Scheme;
use thalweg_lab::stream::sender::{Config, Sender};

use crate::stream::pair::ms;

/// `streams` streams of 30 Mb/s under GENEVA through 100 Mb/s at a round trip of 10 ms, for 20 s, with the losses of
/// each at the queue.
fn share(streams: u32) -> Vec<(Sent, Received, u64)> {
    let hop = Hop::link(Rate::from_mbps(100), Limit::Packets(83), ms(3));
    let mut network = Network::new(vec![hop], streams as usize).expect("a hop");
    for flow in 0..streams {
        let start = Time::ZERO + Span::from_micros(1_700) * u64::from(flow);
        let config = Config {
            flow,
            start,
            scheme: Scheme::blocks(Geneva::new(Parameters::default()).expect("the paper's parameters")),
            ..Config::default()
        };
        let receiver = Receiver::new(receiver::Config { flow, ..receiver::Config::default() });
        let access = Access { rate: Rate::from_mbps(10_000), near: ms(1), far: ms(1) };
        network.add(Sender::new(config).expect("the paper's stream"), receiver, access, 0..1);
    }
    network.run_until(Time::ZERO + Span::from_secs(20));
    network.conservation().expect("conservation");
    let ends = (0..streams).map(|flow| match network.ends(flow) {
        Some((Part::StreamSender(sender), Part::StreamReceiver(receiver))) => {
            (sender.sent(), receiver.received(), network.offered(0)[flow as usize].dropped)
        }
        other => panic!("{other:?}"),
    });
    ends.collect()
}

#[test]
fn two_that_fit_lose_nothing_and_keep_the_least_window() {
    // 2 x 30 x 33 / 25 = 79.2 Mb/s.
    for (sent, received, dropped) in share(2) {
        assert_eq!((sent.mean_window(), received.lost, dropped), (8.0, 0, 0));
        // 33 packets per SYN; 10 ms of propagation, some of transmission, a SYN.
        assert!((66.0..70.0).contains(&sent.mean_w()), "{}", sent.mean_w());
    }
}

#[test]
fn three_that_do_not_fit_lock_themselves_in() {
    // 3 x 30 x 33 / 25 = 118.8 Mb/s lose more than p_max with the minimum window, and with F = 60 they offer 306 Mb/s.
    let streams = share(3);
    for (sent, received, dropped) in &streams {
        assert!(sent.share_widest() > 0.95, "{sent:?}");
        // The queue and the receiver agree, except for packets in flight and the queue's last run of losses.
        assert!(received.lost.abs_diff(*dropped) < 200, "{} {dropped}", received.lost);
        assert!(received.packets.abs_diff(sent.source + sent.repair) < 400);
    }
    let sum = |of: fn(&Received) -> u64| streams.iter().map(|(_, received, _)| of(received)).sum::<u64>() as f64;
    let loss = sum(|received| received.lost) / sum(|received| received.packets);
    assert!((loss - (1.0 - 100.0 / 306.0)).abs() < 0.02, "{loss}");
}
