//! Cases of the slot model that were worked out by hand, and invariants over many slots.

use thalweg_core::law::schedule::arq::Arq;
use thalweg_core::law::schedule::cost::Cost;
use thalweg_core::law::schedule::cost_based::{CostBased, Parameters};

use super::*;

const SOURCE: Source = Source { burst: 3, gap: 600, buffer: 16, bursts: 1 };

/// Three packets, the second lost, D = 5 T: sent in slots 0, 1, 2. The first is delivered at 5 T. The loss is detected
/// at 6 T; the retransmission leaves in slot 6 and delivers both remaining packets at 11 T.
#[test]
fn a_loss_costs_a_round_trip() {
    let channel = Channel::Scripted { lost: vec![1], rtt: 5 * SLOT };
    let outcome = run(SOURCE, &channel, LossTimeout::RoundTrips(100), Knowledge::Given, &mut Arq);
    let points: Vec<(f64, f64)> = outcome.distribution();
    assert_eq!(points, [(0.1, 1.0 / 3.0), (0.22, 1.0)]);
    assert_eq!(outcome.percentile(1.0 / 3.0), 0.1);
    assert_eq!((outcome.sent.new, outcome.sent.resent, outcome.received, outcome.useless), (3, 1, 3, 0));
}

/// The same with half a round trip more before a loss is declared: it is declared at 8.5 T, and the retransmission
/// leaves in slot 9.
#[test]
fn patience_costs_what_it_waits() {
    let channel = Channel::Scripted { lost: vec![1], rtt: 5 * SLOT };
    let outcome = run(SOURCE, &channel, LossTimeout::RoundTrips(150), Knowledge::Given, &mut Arq);
    assert_eq!(outcome.percentile(1.0), 14.0 * 0.02);
}

/// The oracle detects the loss in slot 2, and retransmits before it sends the third packet.
#[test]
fn the_oracle_waits_for_nothing() {
    let channel = Channel::Scripted { lost: vec![1], rtt: 5 * SLOT };
    let outcome = run(SOURCE, &channel, LossTimeout::Oracle, Knowledge::Given, &mut Arq);
    let delays: Vec<f64> = outcome.distribution().iter().map(|point| point.0).collect();
    assert_eq!(delays, [0.1, 0.14, 0.16]);
}

/// Bursts of three every two slots into a buffer of four: the first is accepted whole; one packet at 2 T; one at 4 T,
/// since the first acknowledgement is handled before the burst of the same instant.
#[test]
fn a_full_buffer_drops_what_does_not_fit() {
    let channel = Channel::Scripted { lost: vec![], rtt: 4 * SLOT };
    let source = Source { burst: 3, gap: 2 * SLOT, buffer: 4, bursts: 3 };
    let outcome = run(source, &channel, LossTimeout::RoundTrips(150), Knowledge::Given, &mut Arq);
    assert_eq!(outcome.accepted, [0, 2, 0, 1]);
}

/// §III-A with U_MAX = 0: nothing that could be useless is sent, so only retransmission remains, and no packet is
/// useless.
#[test]
fn without_overhead_the_cost_policy_is_arq() {
    for (eps, rtt, gap) in [(0.05, 450, 480), (0.15, 1200, 800)] {
        let channel = Channel::Random { seed: 9, eps, rtt };
        let source = Source { burst: 10, gap, buffer: 16, bursts: 1_500 };
        let parameters = Parameters { cost: Cost::default(), u_max: 0.0, cap: None };
        let mut cost_based = CostBased::new(parameters).expect("in range");
        let timeout = LossTimeout::RoundTrips(150);
        let cost_based = run(source, &channel, timeout, Knowledge::Given, &mut cost_based);
        let arq = run(source, &channel, timeout, Knowledge::Given, &mut Arq);
        assert_eq!(cost_based.useless, 0);
        for share in [0.5, 0.9, 0.95] {
            let step = (cost_based.percentile(share) - arq.percentile(share)).abs();
            assert!(step < 0.021, "{share}: {} and {}", cost_based.percentile(share), arq.percentile(share));
        }
    }
}

/// Every accepted packet is delivered once, for any decisions of the law.
#[test]
fn nothing_is_lost_and_nothing_is_invented() {
    let channel = Channel::Random { seed: 4, eps: 0.3, rtt: 600 };
    let source = Source { burst: 10, gap: 480, buffer: 16, bursts: 500 };
    let mut law = CostBased::new(Parameters::default()).expect("in range");
    let outcome = run(source, &channel, LossTimeout::Overdue, Knowledge::Given, &mut law);
    let accepted: u64 = (0..).zip(&outcome.accepted).map(|(packets, bursts)| packets * bursts).sum();
    assert_eq!(outcome.count(), accepted);
    assert_eq!(outcome.received - outcome.useless, accepted, "each useful packet raises the rank by one");
}
