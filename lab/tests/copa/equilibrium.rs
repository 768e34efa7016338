//! Flows of Copa among themselves (§3, §5.1).

use thalweg_core::law::window::Choice;
use thalweg_core::time::Span;

use crate::copa::dumbbell::{Dumbbell, Link, jain, secs};

/// One of the packets in flight is on the link itself, and does not wait.
const SERVED: f64 = 1.0;
/// 1 / delta.
const PACKETS: f64 = 2.0;

/// `flows` flows of Copa that start one by one, after their start phase.
fn settled(link: Link, flows: u32) -> Dumbbell {
    let mut dumbbell = Dumbbell::new(link, 1);
    for flow in 0..flows {
        dumbbell.add(Choice::Copa(()), secs(0) + Span::from_millis(137) * u64::from(flow));
    }
    dumbbell.run_until(secs(10));
    dumbbell
}

#[test]
fn the_link_is_busy_and_the_queue_is_that_of_the_analysis() {
    let links = [(10, 50), (12, 50), (50, 60), (100, 20), (100, 100)];
    for (link, flows) in links.into_iter().flat_map(|link| [1, 2, 4].map(|flows| (link, flows))) {
        let link = Link { mbit: link.0, rtt_ms: link.1, queue: 10_000, loss: 0.0 };
        let mut dumbbell = settled(link, flows);
        let before: Vec<u64> = (0..flows).map(|flow| dumbbell.delivered(flow)).collect();
        let (mut looks, mut sum, mut beyond) = (0.0, 0.0, 0.0);
        dumbbell.watch(secs(30), Span::from_millis(1), |dumbbell| {
            let waiting = dumbbell.waiting(flows) - SERVED;
            looks += 1.0;
            sum += waiting;
            // §3: the queue is between 0 and 2.5 times the packets that the flows aim at; a window is a whole number.
            beyond += f64::from(u8::from(waiting > (2.5 * PACKETS + 1.0) * f64::from(flows)));
        });
        let mean = sum / looks / f64::from(flows);
        assert!(beyond / looks < 0.03, "{link:?}, {flows}: {beyond} of {looks} are beyond the cycle");
        // Eq. (1): n flows of 1 / (delta d_q) each fill the link when d_q is the delay of n / delta packets.
        assert!((0.6..1.4).contains(&(mean / PACKETS)), "{link:?}, {flows}: {mean} packets for each flow");
        let whole = link.packets_per_second() * 20.0;
        let shares: Vec<f64> =
            (0..flows).map(|flow| (dumbbell.delivered(flow) - before[flow as usize]) as f64 / whole).collect();
        assert!(shares.iter().sum::<f64>() > 0.99, "{link:?}, {flows}: {shares:?}");
        assert!(jain(&shares) > 0.97, "{link:?}, {flows}: {shares:?}");
    }
}

#[test]
fn ten_flows_that_arrive_one_a_second_share_the_papers_link() {
    // §5.1: 100 Mb/s, 20 ms, a buffer of one bandwidth-delay product, and one more flow each second for ten seconds.
    let link = Link { mbit: 100, rtt_ms: 20, queue: 167, loss: 0.0 };
    let mut dumbbell = Dumbbell::new(link, 1);
    for flow in 0..10 {
        dumbbell.add(Choice::Copa(()), secs(flow));
    }
    dumbbell.run_until(secs(1));
    let mut indices = Vec::new();
    for second in 2..=10 {
        let shares = dumbbell.shares(second, secs(u64::from(second)));
        // A new flow takes less than its first second to reach its share.
        assert!(shares.iter().sum::<f64>() > 0.98, "{shares:?}");
        indices.push(jain(&shares));
    }
    indices.sort_by(f64::total_cmp);
    assert!(indices[0] > 0.8 && indices[4] > 0.9, "{indices:?}");
    let shares = dumbbell.shares(10, secs(20));
    assert!(jain(&shares) > 0.99 && shares.iter().sum::<f64>() > 0.99, "{shares:?}");
    assert_eq!(
        (0..10).map(|flow| dumbbell.dropped(flow)).sum::<u64>(),
        lost_by_then(&dumbbell),
        "the last ten seconds"
    );
}

/// Packets lost while flows were still being added: once the flows have settled, none is lost.
fn lost_by_then(dumbbell: &Dumbbell) -> u64 {
    (0..10).map(|flow| dumbbell.sender(flow).counters().retransmitted).sum()
}

#[test]
fn a_second_flow_takes_its_half_within_two_seconds() {
    for (mbit, rtt_ms) in [(10, 50), (50, 60), (100, 20)] {
        let link = Link { mbit, rtt_ms, queue: 1_000, loss: 0.0 };
        let mut dumbbell = Dumbbell::new(link, 1);
        dumbbell.add(Choice::Copa(()), secs(0));
        dumbbell.add(Choice::Copa(()), secs(10));
        dumbbell.run_until(secs(12));
        let shares = dumbbell.shares(2, secs(14));
        assert!(shares.iter().all(|share| (0.4..0.6).contains(share)), "{link:?}: {shares:?}");
    }
}
