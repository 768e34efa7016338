//! Random loss that is not congestion, and congestion that shows as loss only.

use thalweg_core::law::window::Choice;

use crate::copa::dumbbell::{Dumbbell, Link, secs};

/// The share of a link that one flow gets in a minute.
fn alone(law: Choice, link: Link) -> (f64, Dumbbell) {
    let mut dumbbell = Dumbbell::new(link, 1);
    dumbbell.add(law, secs(0));
    dumbbell.run_until(secs(5));
    (dumbbell.shares(1, secs(65))[0], dumbbell)
}

#[test]
fn five_percent_of_random_loss_starve_newreno_and_cubic_and_not_copa() {
    // §5.4's link: 12 Mb/s, 50 ms.
    let link = Link { mbit: 12, rtt_ms: 50, queue: 100, loss: 0.05 };
    // Mathis et al. 1997: sqrt(3 / (2 p)) segments a round trip at most, of the 50 that the path holds.
    let mathis = libm::sqrt(1.5 / 0.05) / link.bdp();
    for law in [Choice::NewReno(()), Choice::Cubic(())] {
        let (share, _) = alone(law.clone(), link);
        assert!(share < mathis, "{law}: {share}, at most {mathis}");
    }
    let (share, dumbbell) = alone(Choice::Copa(()), link);
    // 95 % arrive. A lost retransmission costs this TCP a timeout, and a window that is sent twice.
    assert!(share > 0.85, "{share}");
    assert_eq!(dumbbell.dropped(0), 0, "it does not pay by filling the queue");
}

#[test]
fn a_link_that_drops_instead_of_queueing_is_not_drowned() {
    for (mbit, rtt_ms) in [(12, 50), (50, 60)] {
        // One packet can wait: there is no delay that could signal congestion.
        let link = Link { mbit, rtt_ms, queue: 1, loss: 0.0 };
        let (share, dumbbell) = alone(Choice::Copa(()), link);
        let (dropped, sent) = (dumbbell.dropped(0) as f64, dumbbell.sender(0).counters().sent as f64);
        // A third at most, and a third of the retransmissions for these, which this TCP cannot report to the law.
        assert!(dropped / sent < 1.0 / 3.0 + 1.0 / 9.0, "{link:?}: {} lost", dropped / sent);
        assert!(share > 0.4, "{link:?}: {share}");
    }
}
