use super::super::queues::{in_flight, uncoded};
use super::super::{Coded, Next, Path};
use super::*;
use crate::time::{Span, Time};

fn law(parameters: Parameters) -> CostBased {
    CostBased::new(parameters).expect("parameters in their ranges")
}

fn chosen(law: &mut CostBased, queue: &Queue) -> Decision {
    let path =
        Path { eps: 0.1, channel: Channel::independent(0.1), rtt: Span::from_millis(150), slot: Span::from_millis(20) };
    law.choose(&View { now: Time::ZERO, queue, path })
}

/// §II-E: with two waiting originals the first of them is sent, with one a combination precedes it.
#[test]
fn decisions_equal_the_two_of_the_paper() {
    let mut law = law(Parameters::default());
    assert_eq!(chosen(&mut law, &in_flight(4, 2)), Decision::NEW);
    let queue = in_flight(10, 1);
    let Decision { next: Next::Repair { last }, p_useless } = chosen(&mut law, &queue) else { panic!("no repair") };
    assert!(last > 1 && last <= 10, "a prefix of what was sent, not {last}");
    let before: f64 = (0..last).map(|_| 0.9).product();
    assert!((p_useless - before).abs() < 1e-12, "it is useless if all of its originals arrive");
}

#[test]
fn known_loss_is_resent_uncoded_at_any_overhead() {
    let mut queue = in_flight(2, 0);
    queue.sent(&Coded { first: 1, last: 2, p_useless: 0.81 });
    queue.lost(&uncoded(1));
    queue.arrived_as(&uncoded(2), true);
    queue.lost(&Coded { first: 1, last: 2, p_useless: 0.81 });
    (0..9).for_each(|_| queue.arrived_as(&uncoded(0), false));
    let mut law = law(Parameters { u_max: 0.0, ..Parameters::default() });
    assert_eq!(chosen(&mut law, &queue), Decision::resend(1));
}

/// Eq. (9): with a bound of zero, no packet that may be useless is sent.
#[test]
fn the_overhead_is_bounded() {
    let queue = in_flight(10, 0);
    assert_eq!(chosen(&mut law(Parameters { u_max: 0.0, ..Parameters::default() }), &queue), Decision::IDLE);
    for u_max in [0.02, 0.05, 0.1, 0.5] {
        let decision = chosen(&mut law(Parameters { u_max, ..Parameters::default() }), &queue);
        assert!(queue.overhead().with(decision.p_useless) <= u_max, "{u_max}: {decision:?}");
    }
}

#[test]
fn combinations_in_flight_are_capped_without_new_originals() {
    let mut queue = in_flight(4, 0);
    let mut law = law(Parameters { cap: Some(0.5), ..Parameters::default() });
    for _ in 0..2 {
        let decision = chosen(&mut law, &queue);
        let packet = decision.packet(&queue).expect("there is room for repair");
        assert!(!packet.is_uncoded());
        queue.sent(&packet);
    }
    assert_eq!(chosen(&mut law, &queue), Decision::IDLE);
}

#[test]
fn empty_queue_is_idle_and_a_waiting_original_is_sent() {
    assert_eq!(chosen(&mut law(Parameters::default()), &Queue::new(7)), Decision::IDLE);
    assert_eq!(chosen(&mut law(Parameters::default()), &in_flight(0, 1)), Decision::NEW);
}

#[test]
fn parameters_have_ranges() {
    let refused = |parameters: Parameters| CostBased::new(parameters).is_err();
    assert!(refused(Parameters { u_max: -0.1, ..Parameters::default() }));
    assert!(refused(Parameters { cap: Some(0.0), ..Parameters::default() }));
    assert!(refused(Parameters { cost: Cost { kappa: 0.0, ..Cost::default() }, ..Parameters::default() }));
}
