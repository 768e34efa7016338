//! Copa beside flows that fill buffers (§2.2, §5.5).

use thalweg_core::law::window::Choice;
use thalweg_core::time::{Span, Time};

use crate::copa::dumbbell::{Dumbbell, Link, secs};

/// A link of the paper's range, 1 to 50 Mb/s, 2 to 100 ms, with a buffer of `bdps` bandwidth-delay products.
fn link(mbit: u64, rtt_ms: u64, bdps: f64) -> Link {
    let link = Link { mbit, rtt_ms, queue: 0, loss: 0.0 };
    Link { queue: (link.bdp() * bdps) as u64, ..link }
}

/// The shares of Copa and of a flow of `law` that starts a second later, over a minute, and the share of time in
/// which Copa competes.
fn beside(law: Choice, link: Link) -> (Vec<f64>, f64) {
    let mut dumbbell = Dumbbell::new(link, 1);
    dumbbell.add(Choice::Copa(()), secs(0));
    dumbbell.add(law, secs(1));
    dumbbell.run_until(secs(10));
    let before = [0, 1].map(|flow| dumbbell.delivered(flow));
    let (mut looks, mut competes) = (0.0, 0.0);
    dumbbell.watch(secs(70), Span::from_millis(5), |dumbbell| {
        looks += 1.0;
        competes += dumbbell.shown(0, "competes");
    });
    let whole = link.packets_per_second() * 60.0;
    let shares = (0..2).map(|flow| (dumbbell.delivered(flow) - before[flow as usize]) as f64 / whole);
    (shares.collect(), competes / looks)
}

#[test]
fn beside_newreno_it_competes_and_the_two_share_the_link() {
    for (mbit, rtt_ms) in [(10, 20), (10, 50), (50, 60), (20, 100)] {
        for bdps in [1.0, 2.0, 5.0] {
            let (shares, competes) = beside(Choice::NewReno(()), link(mbit, rtt_ms, bdps));
            // Neither has more than twice the other's share; without the mode Copa would hold two packets of a full
            // buffer.
            assert!(shares[0] / shares[1] > 0.5 && shares[0] / shares[1] < 2.0, "{mbit} {rtt_ms} {bdps}: {shares:?}");
            assert!(shares.iter().sum::<f64>() > 0.98 && competes > 0.5, "{shares:?} {competes}");
        }
    }
}

#[test]
fn beside_cubic_too_where_cubic_is_as_reno_is() {
    for (mbit, rtt_ms, bdps) in
        [(10, 20, 1.0), (10, 20, 2.0), (10, 20, 5.0), (10, 50, 1.0), (10, 50, 2.0), (20, 100, 0.5)]
    {
        let (shares, competes) = beside(Choice::Cubic(()), link(mbit, rtt_ms, bdps));
        assert!(shares[0] / shares[1] > 0.5 && shares[0] / shares[1] < 2.0, "{mbit} {rtt_ms} {bdps}: {shares:?}");
        assert!(competes > 0.5, "{competes}");
    }
}

#[test]
fn once_the_other_has_left_the_queue_is_short_again() {
    let link = link(10, 50, 2.0);
    let mut dumbbell = Dumbbell::new(link, 1);
    dumbbell.add(Choice::Copa(()), secs(0));
    // About ten seconds of half the link.
    dumbbell.add_finite(Choice::NewReno(()), secs(5), 4_000);
    let mut competed = false;
    let mut left = None;
    dumbbell.watch(secs(40), Span::from_millis(10), |dumbbell| {
        competed |= dumbbell.shown(0, "competes") == 1.0;
        left = left.or(dumbbell.sender(1).counters().completed);
        if left.is_some_and(|left| dumbbell.now().since(left) > Span::from_secs(2)) {
            // 2.5 / delta packets, one on the link, one by rounding.
            assert!(dumbbell.waiting(1) <= 7.0, "{} at {:?}", dumbbell.waiting(1), dumbbell.now());
        }
    });
    assert!(competed && left.is_some());
}

#[test]
fn beside_two_of_cubic_it_has_no_more_than_its_rule_gives_where_the_queue_is_never_seen_empty() {
    let link = link(50, 20, 1.0);
    let mut fooled = 0;
    for turn in 0..10 {
        let mut dumbbell = Dumbbell::new(link, 1);
        let start = |step: u64| Time::ZERO + Span::from_millis(step * turn % 100);
        dumbbell.add(Choice::Copa(()), start(7));
        dumbbell.add(Choice::Cubic(()), start(13));
        dumbbell.add(Choice::Cubic(()), start(31));
        dumbbell.run_until(secs(15));
        let before = [0, 1, 2].map(|flow| dumbbell.delivered(flow));
        dumbbell.run_until(secs(60));
        fooled += u32::from(dumbbell.shown(0, "rtt_min") > 0.022);
        let got = [0, 1, 2].map(|flow| (dumbbell.delivered(flow) - before[flow as usize]) as f64);
        let share = got[0] / got.iter().sum::<f64>();
        // A round trip adds one to 1/delta, which adds RTTstanding / d_q segments to cwnd, where Reno adds one; a loss
        // halves both. The round trip with a full queue is 40 ms, of which CUBIC's 0.7 leaves 28 ms, which Copa takes
        // for RTTmin: 40 / 12.
        let ratio = 40.0 / 12.0;
        assert!(share < ratio / (ratio + 2.0) && share > 1.0 / 6.0, "{share}");
    }
    assert!(fooled > 5, "{fooled}");
}
