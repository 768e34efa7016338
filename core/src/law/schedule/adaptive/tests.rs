use super::super::Queue;
use super::super::channel::Channel;
use super::super::queues::{in_flight, uncoded};
use super::super::{Next, Path};
use super::*;
use crate::time::{Span, Time};
use proptest::prelude::*;

fn law(parameters: Parameters) -> Adaptive {
    Adaptive::new(parameters).expect("parameters in their ranges")
}

fn view(queue: &Queue, eps: f64) -> View<'_> {
    let path =
        Path { eps, channel: Channel::independent(eps), rtt: Span::from_millis(150), slot: Span::from_millis(20) };
    View { now: Time::ZERO + Span::from_millis(400), queue, path }
}

#[test]
fn almost_certainly_decodable_queue_gets_no_repair() {
    assert_eq!(law(Parameters::default()).choose(&view(&in_flight(2, 0), 0.001)), Decision::IDLE);
    let decision = law(Parameters::default()).choose(&view(&in_flight(2, 0), 0.1));
    assert!(matches!(decision.next, Next::Repair { .. } | Next::Resend { .. }), "{decision:?}");
}

#[test]
fn overhead_is_bounded_except_for_known_losses() {
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

proptest! {
    /// The shortcut without an evaluation agrees with the evaluation.
    #[test]
    fn shortcut_for_new_originals_agrees_with_the_evaluation(
        n in 0u64..80, m in 1u64..60, exponent in 1..7, out in 0.05..1.0f64, rtt in 1u64..500, slot in 1u64..40,
    ) {
        let queue = in_flight(n, m);
        let eps = libm::pow(10.0, -f64::from(exponent));
        let path = Path { eps, channel: Channel::bursty(eps, out, Some(false), n as u32), rtt: Span::from_millis(rtt), slot: Span::from_millis(slot) };
        let view = View { now: Time::ZERO + Span::from_millis(400), queue: &queue, path };
        let mut law = law(Parameters { u_max: 1e6, ..Parameters::default() });
        if law.is_surely_new(&view) {
            prop_assert_eq!(law.evaluated(&view), Decision::NEW);
        }
    }

    /// The same under a backlog with combinations in flight.
    #[test]
    fn shortcut_under_a_backlog_agrees_with_the_evaluation(
        n in 2u64..250, coded in 0u64..20, exponent in 2..6, out in 0.05..1.0f64, rtt in 1u64..500,
    ) {
        let mut queue = in_flight(n, 60);
        for nth in 0..coded {
            queue.sent(&super::super::Coded { first: 1, last: 2 + nth * (n - 2) / 20, p_useless: 0.0 });
        }
        let eps = libm::pow(10.0, -f64::from(exponent));
        let path = Path { eps, channel: Channel::bursty(eps, out, Some(false), (n + coded) as u32), rtt: Span::from_millis(rtt), slot: Span::from_millis(1) };
        let view = View { now: Time::ZERO + Span::from_millis(400), queue: &queue, path };
        let mut law = Adaptive { backlog: BACKLOG_END, ..law(Parameters { u_max: 1e6, ..Parameters::default() }) };
        if law.is_surely_new(&view) {
            prop_assert_eq!(law.evaluated(&view), Decision::NEW);
        }
    }

    /// The work for large windows: at most that allowed per opportunity, and one evaluation, over any number of
    /// opportunities.
    #[test]
    fn large_windows_are_evaluated_within_the_allowed_work(n in 257u64..1500, coded in 0u64..60, micros in 1u64..1000) {
        let mut queue = in_flight(n, 8);
        for nth in 0..coded {
            queue.sent(&super::super::Coded { first: 1, last: 2 + nth * (n - 2) / 60, p_useless: 0.0 });
        }
        let path = Path { eps: 0.02, channel: Channel::independent(0.02), rtt: Span::from_micros(micros) * n, slot: Span::from_micros(micros) };
        let view = View { now: Time::ZERO + Span::from_secs(1), queue: &queue, path };
        let mut law = law(Parameters::default());
        let allowed = (micros * 32).min(4096) as usize;
        let (mut worked, mut largest, mut opportunities) = (0, 0, 0);
        for _ in 0..200 {
            law.now.rest();
            law.choose(&view);
            opportunities += 1;
            let work = if law.now.candidates() > 0 { law.now.work() + n as usize + 8 } else { 0 };
            (worked, largest) = (worked + work, largest.max(work));
            prop_assert!(worked <= opportunities * allowed + largest, "{worked} {opportunities} {allowed} {largest}");
        }
        prop_assert!(largest > 0);
    }
}

/// While the work of an evaluation is owed, losses found since then go first, then waiting originals.
#[test]
fn losses_found_while_evaluation_is_deferred_go_first() {
    let mut queue = in_flight(600, 4);
    let path =
        Path { eps: 0.01, channel: Channel::independent(0.01), rtt: Span::from_millis(6), slot: Span::from_micros(10) };
    let mut law = law(Parameters::default());
    law.choose(&View { now: Time::ZERO + Span::from_millis(6), queue: &queue, path });
    queue.lost(&uncoded(7));
    let view = View { now: Time::ZERO + Span::from_millis(6), queue: &queue, path };
    assert_eq!(law.choose(&view), Decision::resend(7));
    queue.sent(&uncoded(7));
    let view = View { now: Time::ZERO + Span::from_millis(6), queue: &queue, path };
    assert_eq!(law.choose(&view), Decision::NEW);
}

/// A burst of losses that has ended says little about the packets in flight now: where a tenth of all packets is lost
/// in bursts of thirty, a new original is sent where with independent losses a combination would be (§II-E).
#[test]
fn burst_that_has_ended_triggers_no_repair() {
    let queue = in_flight(10, 1);
    let path = |channel: Channel| Path { channel, ..view(&queue, channel.eps()).path };
    let mut law = law(Parameters::default());
    let mut chosen = |channel| law.choose(&View { path: path(channel), ..view(&queue, 0.1) }).next;
    assert!(matches!(chosen(Channel::independent(0.1)), Next::Repair { .. }));
    assert_eq!(chosen(Channel::bursty(1.0 / 270.0, 1.0 / 30.0, Some(false), 10)), Next::New);
}

/// A certainly missing original precedes waiting ones, however many are missing and however short the round trip is.
#[test]
fn missing_originals_precede_new_ones() {
    let mut queue = in_flight(12, 4);
    (1..=12).for_each(|l| queue.lost(&uncoded(l)));
    let path = Path { rtt: Span::from_millis(40), ..view(&queue, 0.02).path };
    let decision = law(Parameters::default()).choose(&View { path, ..view(&queue, 0.02) });
    assert!(matches!(decision.next, Next::Resend { .. } | Next::Repair { .. }), "{decision:?}");
    assert_eq!(decision.p_useless, 0.0);
}

/// A missing original is sent uncoded if combinations in flight cannot make up for all missing ones: it closes all that
/// one more combination would.
#[test]
fn missing_originals_are_resent_uncoded() {
    let mut queue = in_flight(12, 4);
    (1..=12).for_each(|l| queue.lost(&uncoded(l)));
    for sent in 0..12 {
        let decision = law(Parameters::default()).choose(&view(&queue, 0.02));
        let Next::Resend { original } = decision.next else { panic!("{decision:?} after {sent}") };
        assert!(queue.place(original).is_missing(), "{original} after {sent}");
        // Every other time a combination of all originals is sent in its place.
        let packet =
            if sent % 2 == 0 { uncoded(original) } else { super::super::Coded { first: 1, last: 12, p_useless: 0.0 } };
        queue.sent(&packet);
    }
    let decision = law(Parameters::default()).choose(&view(&queue, 0.02));
    assert!(decision.p_useless > 0.0 || decision == Decision::NEW, "all may be on its way: {decision:?}");
}

/// On a path of some packets a useless packet costs as much as a lost one; with thousands in flight, that much less.
#[test]
fn useless_bound_under_a_backlog_scales_with_packets_in_flight() {
    let queue = in_flight(2, 20);
    let bound = |rtt| {
        worth::max_useless_under_backlog(
            &View { path: Path { rtt, ..view(&queue, 0.01).path }, ..view(&queue, 0.01) },
            0.01,
        )
    };
    assert_eq!([100, 400].map(|ms| bound(Span::from_millis(ms))), [0.01; 2]);
    assert!((bound(Span::from_millis(1600)) - 0.04).abs() < 1e-12);
    assert_eq!(bound(Span::from_secs(400)), 0.05);
}
