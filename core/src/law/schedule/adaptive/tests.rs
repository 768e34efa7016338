use super::super::Queue;
use super::super::toy::{in_flight, uncoded};
use super::super::{Choice, Path};
use super::*;
use crate::time::{Span, Time};

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
