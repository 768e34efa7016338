//! Loss that is not congestion, and congestion that is nothing but loss.

use thalweg_core::law::window::Flavour;

use crate::dumbbell::{Dumbbell, Link, secs};

/// What one flow gets of a link in a minute.
fn alone(flavour: Flavour, link: Link) -> (f64, Dumbbell) {
    let mut dumbbell = Dumbbell::new(link, 1);
    dumbbell.add(flavour, secs(0));
    dumbbell.run_until(secs(5));
    (dumbbell.shares(1, secs(65))[0], dumbbell)
}

#[test]
fn five_percent_of_random_loss_starve_newreno_and_cubic_and_not_copa() {
    // §5.4's link: 12 Mb/s, 50 ms.
    let link = Link { mbit: 12, rtt_ms: 50, queue: 100, loss: 0.05 };
    // Mathis et al. 1997: sqrt(3 / (2 p)) segments a round trip at most, of the 50 that the path holds.
    let mathis = libm::sqrt(1.5 / 0.05) / link.bdp();
    for flavour in [Flavour::NewReno, Flavour::Cubic] {
        let (share, _) = alone(flavour, link);
        assert!(share < mathis, "{flavour}: {share}, at most {mathis}");
    }
    let (share, dumbbell) = alone(Flavour::Copa, link);
    // 95 % arrive. A lost retransmission costs this TCP a timeout and a window sent twice.
    assert!(share > 0.85, "{share}");
    assert_eq!(dumbbell.dropped(0), 0, "it does not pay by filling the queue");
}

#[test]
fn a_link_that_drops_instead_of_queueing_is_not_drowned() {
    for (mbit, rtt_ms) in [(12, 50), (50, 60)] {
        // One packet waits: no delay that could tell.
        let link = Link { mbit, rtt_ms, queue: 1, loss: 0.0 };
        let (share, dumbbell) = alone(Flavour::Copa, link);
        let (dropped, sent) = (dumbbell.dropped(0) as f64, dumbbell.sender(0).counters().sent as f64);
        // A third at most, and of what is sent for it a third again, of which this TCP cannot tell the law.
        assert!(dropped / sent < 1.0 / 3.0 + 1.0 / 9.0, "{link:?}: {} lost", dropped / sent);
        assert!(share > 0.4, "{link:?}: {share}");
    }
}
