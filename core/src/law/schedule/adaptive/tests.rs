use super::super::Queue;
use super::super::toy::{in_flight, uncoded};
use super::super::{Choice, Path};
use super::*;
use crate::time::{Span, Time};
use proptest::prelude::*;

fn law(parameters: Parameters) -> Adaptive {
    Adaptive::new(parameters).expect("parameters in their ranges")
}

fn view(queue: &Queue, eps: f64) -> View<'_> {
    let path = Path { eps, rtt: Span::from_millis(150), slot: Span::from_millis(20) };
    View { now: Time::ZERO + Span::from_millis(400), queue, path }
}

#[test]
fn what_is_surely_decodable_is_left_alone() {
    assert_eq!(law(Parameters::default()).choose(&view(&in_flight(2, 0), 0.001)), Decision::IDLE);
    let decision = law(Parameters::default()).choose(&view(&in_flight(2, 0), 0.1));
    assert!(matches!(decision.choice, Choice::Repair { .. } | Choice::Resend { .. }), "{decision:?}");
}

#[test]
fn the_overhead_stays_below_its_bound_and_known_losses_are_mended_nonetheless() {
    let mut queue = in_flight(10, 0);
    for u_max in [0.0, 0.02, 0.1] {
        let decision = law(Parameters { u_max, ..Parameters::default() }).choose(&view(&queue, 0.1));
        assert!(queue.overhead().with(decision.p_useless) <= u_max, "{u_max}: {decision:?}");
    }
    queue.lost(&uncoded(1));
    let decision = law(Parameters { u_max: 0.0, ..Parameters::default() }).choose(&view(&queue, 0.1));
    assert_eq!(decision, Decision::resend(1));
}

#[test]
fn parameters_have_ranges() {
    assert!(Adaptive::new(Parameters { u_max: -1.0, ..Parameters::default() }).is_err());
    assert!(Adaptive::new(Parameters { sure: 1.1, ..Parameters::default() }).is_err());
    assert!(law(Parameters::default()).set_u_max(f64::NAN).is_err());
}

/// A stream of which `fates` tells what became of the originals that were sent: 0 arrived, 1 lost, else in flight; with
/// `coded` combinations of all of them in flight.
fn stream(fates: &[u8], coded: u32, waiting: u64) -> Queue {
    let mut queue = in_flight(fates.len() as u64, waiting);
    for (original, fate) in (1..).zip(fates) {
        match fate {
            0 => {
                queue.arrived(&uncoded(original));
            }
            1 => queue.lost(&uncoded(original)),
            _ => {}
        }
    }
    for _ in 0..coded {
        let last = queue.d() - 1;
        queue.sent(&super::super::Coded { first: queue.b(), last, p_useless: 0.0 });
    }
    queue
}

proptest! {
    /// What is told without reckoning is what is reckoned.
    #[test]
    fn what_is_surely_new_is_new(n in 0u64..80, m in 1u64..60, exponent in 1..7, rtt in 1u64..500, slot in 1u64..40) {
        let queue = in_flight(n, m);
        let path = Path { eps: libm::pow(10.0, -f64::from(exponent)), rtt: Span::from_millis(rtt), slot: Span::from_millis(slot) };
        let view = View { now: Time::ZERO + Span::from_millis(400), queue: &queue, path };
        let mut law = law(Parameters { u_max: 1e6, ..Parameters::default() });
        if law.is_surely_new(&view) {
            prop_assert_eq!(law.reckoned(&view), Decision::NEW);
        }
    }

    /// Of a window where both can run and in which nothing waits: both rest or both repair, with the same probability that it is in
    /// vain, whatever was lost, is under way or has come, on slow paths and fast ones.
    #[test]
    fn bulk_that_rests_is_judged_as_it_is_reckoned(
        mut fates in prop::collection::vec(0u8..30, 100..250), coded in 0u32..30, came in 0u32..12,
        loss in 1u32..250, rtt in 1u64..500, slot in 1u64..200,
    ) {
        fates[0] = 2;
        let mut queue = stream(&fates, coded, 0);
        for _ in 0..came {
            let combination = super::super::Coded { first: queue.b(), last: queue.d() - 1, p_useless: 0.0 };
            queue.sent(&combination);
            queue.arrived_as(&combination, true);
        }
        let path = Path { eps: f64::from(loss) / 1000.0, rtt: Span::from_millis(rtt), slot: Span::from_micros(slot * 100) };
        let view = View { now: Time::ZERO + Span::from_millis(400), queue: &queue, path };
        let mut law = law(Parameters { u_max: 1e6, ..Parameters::default() });
        let exact = law.reckoned(&view);
        let (p_all, sure) = (law.now.p_all(), law.sure(&view));
        let rough = bulk::choose(&view, sure, |_| true);
        if (p_all - sure).abs() > 1e-9 {
            prop_assert_eq!(exact == Decision::IDLE, rough == Decision::IDLE, "{} {:?} {:?}", p_all, exact, rough);
        }
        if let Choice::Repair { last } = rough.choice {
            prop_assert_eq!(last, queue.d() - 1);
            prop_assert!((rough.p_useless - p_all).abs() < 1e-9, "{} {}", rough.p_useless, p_all);
        }
    }

    /// A combination that ends early replaces less, so that no more is repaired than is reckoned.
    #[test]
    fn bulk_repairs_no_more_than_is_reckoned_wherever_combinations_end(
        fates in prop::collection::vec(1u8..30, 100..250), ends in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
        loss in 1u32..250,
    ) {
        let mut queue = stream(&fates, 0, 0);
        for end in ends {
            let last = queue.b() + 1 + end.index(fates.len() - 1) as u64;
            queue.sent(&super::super::Coded { first: queue.b(), last, p_useless: 0.0 });
        }
        let view = view(&queue, f64::from(loss) / 1000.0);
        let mut law = law(Parameters { u_max: 1e6, ..Parameters::default() });
        let exact = law.reckoned(&view);
        let (p_all, sure) = (law.now.p_all(), law.sure(&view));
        let rough = bulk::choose(&view, sure, |_| true);
        prop_assert!(exact != Decision::IDLE || rough == Decision::IDLE || (p_all - sure).abs() < 1e-9, "{:?}", rough);
        if let Choice::Repair { .. } = rough.choice {
            prop_assert!(rough.p_useless > p_all - 1e-9, "{} {}", rough.p_useless, p_all);
        }
    }

    /// Where something waits, the first that was lost goes before it, however many were. By the cost of the exact law that is at worst
    /// as much dearer as the next original is held up by all that are still needed: waiting w_D (Q + eps) / (1 - eps).
    #[test]
    fn bulk_that_waits_is_mended_at_a_bounded_cost(
        mut fates in prop::collection::vec(0u8..30, 100..250), waiting in 1u64..60,
        loss in 1u32..250, rtt in 1u64..500, slot in 1u64..200,
    ) {
        fates[0] = 2;
        let queue = stream(&fates, 0, waiting);
        let path = Path { eps: f64::from(loss) / 1000.0, rtt: Span::from_millis(rtt), slot: Span::from_micros(slot * 100) };
        let view = View { now: Time::ZERO + Span::from_millis(400), queue: &queue, path };
        let mut law = law(Parameters { u_max: 1e6, ..Parameters::default() });
        law.reckoned(&view);
        let rough = bulk::choose(&view, law.sure(&view), |_| true);
        let Some(nth) = fates.iter().position(|fate| *fate == 1) else {
            prop_assert_eq!(rough, Decision::NEW);
            return Ok(());
        };
        prop_assert_eq!(rough, Decision::resend(queue.b() + nth as u64));
        let (new, repair) = law.costs(&view);
        let held = law.parameters.waiting * law.weights[queue.n()] * law.now.q_new() / (1.0 - path.eps);
        prop_assert!(repair(nth) <= (new + held) + 1e-9 * held.abs().max(new.abs()), "{} {} {}", repair(nth), new, held);
    }

    /// Alone at the head of what is in flight, a loss goes before what waits by the exact law, too.
    #[test]
    fn a_loss_by_itself_is_mended_by_either(mut fates in prop::collection::vec(0u8..30, 100..250)) {
        fates.iter_mut().for_each(|fate| *fate = (*fate).max(2) * u8::from(*fate != 0));
        fates[0] = 1;
        let queue = stream(&fates, 0, 8);
        let view = view(&queue, 0.01);
        let mut law = law(Parameters { u_max: 1e6, ..Parameters::default() });
        prop_assert!(law.reckoned(&view) != Decision::NEW);
        prop_assert_eq!(bulk::choose(&view, law.sure(&view), |_| true), Decision::resend(queue.b()));
    }
}
