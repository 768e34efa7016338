use proptest::prelude::*;

use super::super::Coded;
use super::super::queues::uncoded;
use super::*;

/// A combination that ends with `l`.
fn combination(l: u64) -> Coded {
    Coded { first: l - 1, last: l, p_useless: 0.0 }
}

fn evaluated_in(queue: &Queue, channel: &Channel) -> Decodability {
    evaluated_for(Delivery::InOrder, queue, channel)
}

fn evaluated_for(delivery: Delivery, queue: &Queue, channel: &Channel) -> Decodability {
    let mut evaluated = Decodability::new(delivery);
    evaluated.evaluate(queue, channel, |_| 1.0);
    evaluated
}

fn evaluated(queue: &Queue, eps: f64) -> Decodability {
    evaluated_in(queue, &Channel::independent(eps))
}

/// The probability of outcomes of packets by their numbers, by the definition of the channel: one transition per
/// packet.
fn share(channel: Gilbert, lost: &[(u32, bool)]) -> f64 {
    let Gilbert { into, out, last } = channel;
    let eps = into / (into + out);
    let mut states = last.map_or([1.0 - eps, eps], |lost| if lost { [0.0, 1.0] } else { [1.0, 0.0] });
    let newest = lost.iter().map(|(number, _)| *number).max().unwrap_or(0);
    for number in 1..=newest {
        let bad = states[0] * into + states[1] * (1.0 - out);
        states = [states[0] + states[1] - bad, bad];
        if let Some((_, lost)) = lost.iter().find(|(it, _)| *it == number) {
            states[usize::from(!lost)] = 0.0;
        }
    }
    states[0] + states[1]
}

/// A channel without the age of its state.
#[derive(Clone, Copy, Debug)]
struct Gilbert {
    into: f64,
    out: f64,
    last: Option<bool>,
}

impl Gilbert {
    /// The channel before the outcome of any packet of `queue` is known.
    fn before(self, queue: &Queue) -> Channel {
        Channel::bursty(self.into, self.out, self.last, queue.left())
    }
}

fn independent(into: f64) -> Gilbert {
    // The sum is exactly 1 despite rounding.
    let out = 1.0 - into;
    Gilbert { into: 1.0 - out, out, last: None }
}

/// p and Q by the definition: all outcomes of all packets in flight are enumerated.
fn enumerated(queue: &Queue, channel: Gilbert) -> (Vec<f64>, f64) {
    enumerated_for(Delivery::InOrder, queue, channel)
}

fn enumerated_for(delivery: Delivery, queue: &Queue, channel: Gilbert) -> (Vec<f64>, f64) {
    let flight: Vec<(usize, bool, u32)> = queue
        .in_doubt()
        .enumerate()
        .flat_map(|(l, place)| {
            let copies = (0..place.copies).map(move |nth| (l, true, place.copied - nth));
            copies.chain((0..place.coded).map(move |nth| (l, false, place.combined - nth)))
        })
        .collect();
    let (mut p, mut q) = (vec![0.0; queue.n()], 0.0);
    for outcome in 0..1_u32 << flight.len() {
        let arrives = |nth: usize| outcome >> nth & 1 == 1;
        // With independent losses the numbers of packets make no difference.
        let number = |nth: usize| if channel.into + channel.out == 1.0 { nth as u32 + 1 } else { flight[nth].2 };
        let lost: Vec<(u32, bool)> = (0..flight.len()).map(|nth| (number(nth), !arrives(nth))).collect();
        let share = share(channel, &lost);
        let mut deficiency = 0_u32;
        let mut closed = 0;
        let mut alone = vec![false; queue.n()];
        for (l, place) in queue.in_doubt().enumerate() {
            let here = |uncoded| {
                let is_here = |(nth, it): &(usize, &(usize, bool, u32))| (it.0, it.1) == (l, uncoded) && arrives(*nth);
                flight.iter().enumerate().filter(is_here).count() as u32
            };
            let known = place.arrived || here(true) > 0;
            alone[l] = known && delivery == Delivery::Any;
            deficiency = (deficiency + u32::from(!known)).saturating_sub(place.coded_arrived + here(false));
            closed = if deficiency == 0 { l + 1 } else { closed };
        }
        let there = |l: usize| l < closed || alone[l];
        p.iter_mut().enumerate().filter(|(l, _)| there(*l)).for_each(|(_, p)| *p += share);
        q += share * f64::from(deficiency);
    }
    (p, q)
}

/// The knowledge of one original: arrived, copies in flight, combinations in flight, combinations that arrived.
type Outcome = (bool, u32, u32, u32);

fn queue_of(outcomes: &[Outcome]) -> Queue {
    let mut queue = Queue::standing(2, outcomes.len(), 3);
    for (l, (arrived, copies, coded, coded_arrived)) in (2..).zip(outcomes) {
        let send = |queue: &mut Queue, packet: Coded, times: u32| (0..times).for_each(|_| queue.sent(&packet));
        send(&mut queue, uncoded(l), *copies + u32::from(*arrived));
        send(&mut queue, combination(l), *coded + *coded_arrived);
        if *arrived {
            queue.arrived_as(&uncoded(l), true);
        }
        (0..*coded_arrived).for_each(|_| queue.arrived_as(&combination(l), true));
    }
    queue
}

fn any_delivery() -> impl Strategy<Value = Delivery> {
    prop_oneof![Just(Delivery::InOrder), Just(Delivery::Any)]
}

prop_compose! {
    fn any_channel()(into in 0.01..0.6_f64, out in 0.05..0.99_f64, last in any::<Option<bool>>()) -> Gilbert {
        Gilbert { into, out, last }
    }
}

prop_compose! {
    /// Up to seven originals; combinations are rarer than originals, as in a stream.
    fn any_queue()(outcomes in prop::collection::vec((any::<bool>(), 0..3_u32, 0..3_u32, 0..9_u32), 1..8)) -> Queue {
        let mut flight = 0;
        let outcome = |(arrived, copies, coded, rare): Outcome| {
            let (copies, coded) = if flight < 12 { (copies.min(2), coded) } else { (0, 0) };
            flight += copies + coded;
            (arrived, copies, coded, u32::from(rare == 0))
        };
        queue_of(&outcomes.into_iter().map(outcome).collect::<Vec<_>>())
    }
}

proptest! {
    /// With many originals, omitting the unreachable deficiencies does not change the results.
    #[test]
    fn omitting_unreachable_states_does_not_change_results(
        outcomes in prop::collection::vec((0u8..4, 0u8..40, 0u8..9), MANY + 1..700), eps in 0.001f64..0.3, rate in 1u8..9,
    ) {
        let outcomes: Vec<Outcome> = outcomes
            .iter()
            .map(|(arrived, lost, coded)| (*arrived == 0, u32::from(*lost > 0), u32::from(*coded == rate), 0))
            .collect();
        let queue = queue_of(&outcomes);
        let trimmed = evaluated(&queue, eps);
        let mut whole = Decodability { many: usize::MAX, ..Decodability::default() };
        whole.evaluate(&queue, &Channel::independent(eps), |_| 1.0);
        prop_assert!(trimmed.work() <= whole.work());
        prop_assert!((trimmed.q() - whole.q()).abs() < 1e-9, "{} {}", trimmed.q(), whole.q());
        for nth in 0..queue.n() {
            prop_assert!((trimmed.p()[nth] - whole.p()[nth]).abs() < 1e-9);
            prop_assert!((trimmed.gain(nth) - whole.gain(nth)).abs() < 1e-7, "{} {}", trimmed.gain(nth), whole.gain(nth));
        }
    }
}

proptest! {
    #[test]
    fn p_and_q_equal_an_enumeration(queue in any_queue(), channel in any_channel(), delivery in any_delivery()) {
        let (p, q) = enumerated_for(delivery, &queue, channel);
        let evaluated = evaluated_for(delivery, &queue, &channel.before(&queue));
        for (evaluated, p) in evaluated.p().iter().zip(&p) {
            prop_assert!((evaluated - p).abs() < 1e-9, "{:?} is not {:?}", evaluated, p);
        }
        prop_assert!((evaluated.q() - q).abs() < 1e-9, "{} is not {q}", evaluated.q());
    }

    /// The gains of all candidates, from one run of the chain, equal those of sending them.
    #[test]
    fn gains_of_all_candidates_equal_an_enumeration(
        queue in any_queue(), eps in 0.01..0.6_f64, slope in 0.0..2.0_f64, delivery in any_delivery(),
    ) {
        let weight = |l: usize| 1.0 + slope * l as f64;
        let mut together = Decodability::new(delivery);
        together.evaluate(&queue, &Channel::independent(eps), weight);
        for nth in 0..queue.n() {
            let mut sent = queue.clone();
            sent.sent(&combination(queue.b() + nth as u64));
            let (p, q) = enumerated_for(delivery, &sent, independent(eps));
            let gain: f64 = p.iter().zip(together.p()).enumerate().map(|(l, (new, old))| weight(l) * (new - old)).sum();
            prop_assert!((together.gain(nth) - gain).abs() < 1e-9, "{nth}: {} is not {gain}", together.gain(nth));
            prop_assert!((together.q_repaired(nth) - q).abs() < 1e-9, "{nth}: {} is not {q}", together.q_repaired(nth));
        }
    }

    /// The same with bursts of losses, but only for the candidate that leaves in the order of the others.
    #[test]
    fn gain_of_the_last_candidate_equals_an_enumeration(
        queue in any_queue(), channel in any_channel(), delivery in any_delivery(),
    ) {
        let before = evaluated_for(delivery, &queue, &channel.before(&queue));
        let mut sent = queue.clone();
        sent.sent(&combination(queue.d() - 1));
        let (p, q) = enumerated_for(delivery, &sent, channel);
        let gain: f64 = p.iter().zip(before.p()).map(|(new, old)| new - old).sum();
        let last = queue.n() - 1;
        prop_assert!((before.gain(last) - gain).abs() < 1e-9, "{} is not {gain}", before.gain(last));
        prop_assert!((before.q_repaired(last) - q).abs() < 1e-9, "{} is not {q}", before.q_repaired(last));
        let all = enumerated(&sent, channel).0[last];
        prop_assert!((before.p_all_repaired() - all).abs() < 1e-9, "{} is not {all}", before.p_all_repaired());
    }

    #[test]
    fn new_original_does_not_change_the_probabilities_of_others(queue in any_queue(), channel in any_channel()) {
        let before = evaluated_in(&queue, &channel.before(&queue));
        let mut sent = queue.clone();
        sent.sent(&uncoded(queue.d()));
        let after = evaluated_in(&sent, &channel.before(&sent));
        let new = [before.p_new()];
        let p = before.p().iter().chain(&new);
        for (after, p) in after.p().iter().zip(p) {
            prop_assert!((after - p).abs() < 1e-12);
        }
        prop_assert!((after.q() - before.q_new()).abs() < 1e-12);
    }

    #[test]
    fn p_never_rises_with_l_and_never_falls_with_a_packet(queue in any_queue(), eps in 0.01..0.6_f64) {
        let before = evaluated(&queue, eps);
        prop_assert!(before.p().windows(2).all(|pair| pair[1] <= pair[0] + 1e-12));
        for l in queue.b()..queue.d() {
            for packet in [uncoded(l), combination(l)] {
                let mut sent = queue.clone();
                sent.sent(&packet);
                let after = evaluated(&sent, eps);
                prop_assert!(after.p().iter().zip(before.p()).all(|(after, before)| after + 1e-12 >= *before));
            }
        }
    }

    /// Beyond enumerable sizes: with every original in flight once, p_l = (1 - eps)^(l - B + 1) and Q = N eps.
    #[test]
    fn without_repair_every_original_must_arrive(n in 1..400_usize, eps in 0.001..0.3_f64) {
        let queue = queue_of(&vec![(false, 1, 0, 0); n]);
        let evaluated = evaluated(&queue, eps);
        let mut all = 1.0;
        for p in evaluated.p() {
            all *= 1.0 - eps;
            prop_assert!((p - all).abs() < 1e-12);
        }
        prop_assert!((evaluated.q() - n as f64 * eps).abs() < 1e-9);
    }
}

/// §II-E, all printed digits.
#[test]
fn probabilities_equal_the_papers_example() {
    let mut queue = queue_of(&[(false, 1, 0, 0); 4]);
    let digits = |value: f64| libm::round(value * 1e4) / 1e4;
    let p = |queue: &Queue| evaluated(queue, 0.1).p().iter().map(|p| digits(*p)).collect::<Vec<_>>();
    assert_eq!(p(&queue), [0.9, 0.81, 0.729, 0.6561]);
    let before = evaluated(&queue, 0.1);
    assert_eq!((digits(before.p_new()), digits(before.q_new())), (0.5905, 0.5));
    assert_eq!(digits(before.q_repaired(3)), 0.0905);
    queue.sent(&combination(5));
    assert_eq!(p(&queue), [0.9656, 0.9412, 0.9258, 0.9185]);
    assert_eq!(digits(evaluated(&queue, 0.1).q()), 0.0905);
}

/// A combination of the first originals that leaves behind them all shares no burst with its neighbours in the chain.
#[test]
fn combination_that_left_later_does_not_hide_a_burst() {
    let channel = Gilbert { into: 0.01, out: 0.1, last: Some(false) };
    for end in 2..=6 {
        let mut queue = Queue::new(1);
        for l in 1..=8 {
            let _ = queue.push(crate::time::Time::ZERO);
            queue.sent(&uncoded(l));
        }
        [end, 8, 8].into_iter().for_each(|end| queue.sent(&combination(end)));
        let missing = 1.0 - evaluated_for(Delivery::Any, &queue, &channel.before(&queue)).p()[0];
        let exact = 1.0 - enumerated_for(Delivery::Any, &queue, channel).0[0];
        assert!((missing / exact - 1.0).abs() < 0.2, "{end}: {missing} instead of {exact}");
    }
}
