use super::super::Queue;
use super::super::channel::Channel;
use super::super::toy::{in_flight, uncoded};
use super::super::{Choice, Path};
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

proptest! {
    /// What is told without reckoning is what is reckoned.
    #[test]
    fn what_is_surely_new_is_new(
        n in 0u64..80, m in 1u64..60, exponent in 1..7, out in 0.05..1.0f64, rtt in 1u64..500, slot in 1u64..40,
    ) {
        let queue = in_flight(n, m);
        let eps = libm::pow(10.0, -f64::from(exponent));
        let path = Path { eps, channel: Channel::bursty(eps, out, Some(false), n as u32), rtt: Span::from_millis(rtt), slot: Span::from_millis(slot) };
        let view = View { now: Time::ZERO + Span::from_millis(400), queue: &queue, path };
        let mut law = law(Parameters { u_max: 1e6, ..Parameters::default() });
        if law.is_surely_new(&view) {
            prop_assert_eq!(law.reckoned(&view), Decision::NEW);
        }
    }

    /// Nor where a crowd waits and combinations are in flight.
    #[test]
    fn what_is_surely_new_in_a_crowd_is_new(
        n in 2u64..250, coded in 0u64..20, exponent in 2..6, out in 0.05..1.0f64, rtt in 1u64..500,
    ) {
        let mut queue = in_flight(n, 60);
        for nth in 0..coded {
            queue.sent(&super::super::Coded { first: 1, last: 2 + nth * (n - 2) / 20, p_useless: 0.0 });
        }
        let eps = libm::pow(10.0, -f64::from(exponent));
        let path = Path { eps, channel: Channel::bursty(eps, out, Some(false), (n + coded) as u32), rtt: Span::from_millis(rtt), slot: Span::from_millis(1) };
        let view = View { now: Time::ZERO + Span::from_millis(400), queue: &queue, path };
        let mut law = Adaptive { crowded: RELIEF, ..law(Parameters { u_max: 1e6, ..Parameters::default() }) };
        if law.is_surely_new(&view) {
            prop_assert_eq!(law.reckoned(&view), Decision::NEW);
        }
    }

    /// What a large window may cost: no more than an opportunity allows and one reckoning, over however many opportunities.
    #[test]
    fn large_windows_are_reckoned_as_often_as_they_may_be(n in 257u64..1500, coded in 0u64..60, micros in 1u64..1000) {
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

/// While a reckoning is owed, what was found to be lost since then goes first, and then what waits.
#[test]
fn what_is_lost_while_work_is_owed_goes_first() {
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

/// A run of losses that was seen to end says little of what is in flight now: where a tenth of all packets is lost in runs of
/// thirty, a new original goes where with independent losses a combination would (§II-E).
#[test]
fn a_run_of_losses_that_has_ended_is_over() {
    let queue = in_flight(10, 1);
    let path = |channel: Channel| Path { channel, ..view(&queue, channel.eps()).path };
    let mut law = law(Parameters::default());
    let mut chosen = |channel| law.choose(&View { path: path(channel), ..view(&queue, 0.1) }).choice;
    assert!(matches!(chosen(Channel::independent(0.1)), Choice::Repair { .. }));
    assert_eq!(chosen(Channel::bursty(1.0 / 270.0, 1.0 / 30.0, Some(false), 10)), Choice::New);
}

/// An original that is missing for certain goes before what waits, however much is missing and however short the round
/// trip is.
#[test]
fn what_is_missing_for_certain_goes_first() {
    let mut queue = in_flight(12, 4);
    (1..=12).for_each(|l| queue.lost(&uncoded(l)));
    let path = Path { rtt: Span::from_millis(40), ..view(&queue, 0.02).path };
    let decision = law(Parameters::default()).choose(&View { path, ..view(&queue, 0.02) });
    assert!(matches!(decision.choice, Choice::Resend { .. } | Choice::Repair { .. }), "{decision:?}");
    assert_eq!(decision.p_useless, 0.0);
}

/// An original that is missing leaves as it is where combinations in flight cannot make up for all that is missing: all
/// that one more combination would close is closed by it.
#[test]
fn what_is_missing_for_certain_leaves_uncoded() {
    let mut queue = in_flight(12, 4);
    (1..=12).for_each(|l| queue.lost(&uncoded(l)));
    for sent in 0..12 {
        let decision = law(Parameters::default()).choose(&view(&queue, 0.02));
        let Choice::Resend { original } = decision.choice else { panic!("{decision:?} after {sent}") };
        assert!(queue.place(original).is_missing(), "{original} after {sent}");
        // Every other time a combination of all leaves in its place.
        let packet =
            if sent % 2 == 0 { uncoded(original) } else { super::super::Coded { first: 1, last: 12, p_useless: 0.0 } };
        queue.sent(&packet);
    }
    let decision = law(Parameters::default()).choose(&view(&queue, 0.02));
    assert!(decision.p_useless > 0.0 || decision == Decision::NEW, "all may be on its way: {decision:?}");
}

/// On a line of some packets a useless packet costs as much as a lost one; with thousands in flight that much less.
#[test]
fn in_a_crowd_a_fast_line_repairs_by_its_flight() {
    let queue = in_flight(2, 20);
    let bound = |rtt| {
        worth::useless_in_crowd(&View { path: Path { rtt, ..view(&queue, 0.01).path }, ..view(&queue, 0.01) }, 0.01)
    };
    assert_eq!([100, 400].map(|ms| bound(Span::from_millis(ms))), [0.01; 2]);
    assert!((bound(Span::from_millis(1600)) - 0.04).abs() < 1e-12);
    assert_eq!(bound(Span::from_secs(400)), 0.05);
}
