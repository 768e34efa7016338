//! On any path a transfer ends, and every segment is delivered once and in order.

use proptest::prelude::*;
use thalweg_core::law::window::newreno::NewReno;
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_lab::node::Tallied;
use thalweg_lab::node::duplicate::Duplicate;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::reorder::Reorder;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Path;
use thalweg_lab::tcp::{DELAYED_ACK, ReceiverConfig, Recovery, SenderConfig};

use crate::tcp::pair::{Pair, ms, starting_at};

/// Loss, duplicates and late packets.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    loss: f64,
    copies: f64,
    late: f64,
    by: Span,
}

fn trouble() -> impl Strategy<Value = Trouble> {
    (0.0..0.2, 0.0..0.1, 0.0..0.3, 1u64..60).prop_map(|(loss, copies, late, by)| Trouble {
        loss,
        copies,
        late,
        by: ms(by),
    })
}

fn path(trouble: Trouble, rng: &Rng) -> Path {
    Path::default()
        .then("loss", Loss::independent(trouble.loss, rng.fork("loss")))
        .then("copies", Duplicate::new(trouble.copies, rng.fork("copies")))
        .then("late", Reorder::new(trouble.late, trouble.by, rng.fork("late")))
        .then("wire", Wire::new(ms(10)))
}

fn recovery() -> impl Strategy<Value = Recovery> {
    prop_oneof![Just(Recovery::NewReno), Just(Recovery::Sack), Just(Recovery::SackPrr)]
}

/// Runs a transfer of `segments` segments to its end, and checks it.
fn finish(mut pair: Pair<NewReno>, segments: u64) -> Result<Pair<NewReno>, TestCaseError> {
    let mut end = Time::ZERO;
    while pair.sender.counters().completed.is_none() {
        end += Span::from_secs(60);
        prop_assert!(end < Time::ZERO + Span::from_secs(4 * 3_600), "stuck: {:?}", pair.sender);
        pair.run_until(end);
    }
    // Packets still in flight arrive.
    pair.run_until(end + Span::from_secs(1));
    let (sender, receiver) = (pair.sender.counters(), pair.receiver.counters());
    prop_assert_eq!(pair.receiver.delivered(), segments);
    prop_assert_eq!(pair.receiver.held(), 0);
    prop_assert_eq!(receiver.received, segments + receiver.duplicates);
    prop_assert_eq!(sender.sent, segments + sender.retransmitted);
    prop_assert_eq!(pair.sent.len() as u64, sender.sent);
    let forward = pair.forward.tally();
    prop_assert_eq!(pair.forward.accepted() + forward.added, receiver.received + forward.dropped.total());
    Ok(pair)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_transfer_ends_whatever_the_path_does(
        there in trouble(), back in trouble(), recovery in recovery(), delayed in any::<bool>(),
        segments in 1u64..300, window in 1u32..64, seed in any::<u64>(),
    ) {
        let rng = Rng::new(seed);
        let sends = SenderConfig { segments: Some(segments), receive_window: window, recovery, ..SenderConfig::new(0) };
        let answers = ReceiverConfig { flow: 0, sack: recovery.has_sack(), delay: delayed.then_some(DELAYED_ACK) };
        let paths = (path(there, &rng.fork("there")), path(back, &rng.fork("back")));
        let start = Pair::across(starting_at(10), sends, answers, paths);
        let once = finish(start.clone(), segments)?;
        prop_assert_eq!(once, finish(start, segments)?);
    }

    #[test]
    fn a_transfer_ends_whichever_segments_are_lost(
        lost in prop::collection::vec(0u64..40, 0..60), acks in 0u32..12, recovery in recovery(),
    ) {
        let sends = SenderConfig { segments: Some(40), recovery, ..SenderConfig::new(0) };
        let mut pair = Pair::new(starting_at(10), sends);
        (pair.doomed, pair.doomed_acks) = (lost, acks);
        finish(pair, 40)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn nothing_is_repeated_in_vain_but_where_rfc_6675_asks_for_it(
        lost in prop::collection::vec(0u64..40, 0..8), prr in any::<bool>(),
    ) {
        let recovery = if prr { Recovery::SackPrr } else { Recovery::Sack };
        let sends = SenderConfig { segments: Some(40), recovery, ..SenderConfig::new(0) };
        let mut pair = Pair::new(starting_at(10), sends);
        pair.doomed.clone_from(&lost);
        let pair = finish(pair, 40)?;
        // After a timeout every segment that is not SACKed is retransmitted, whether it arrived or not.
        if pair.sender.counters().timeouts == 0 {
            repeats_in_vain_as_the_rfc_does(&pair, &lost)?;
        }
    }
}

/// If no acknowledgement is lost, SACK reports every segment that has arrived, and a segment missing on a path that
/// keeps order is lost. Two rules of RFC 6675 may repeat a segment that arrives all the same:
///
/// - §4, NextSeg() rule (4): the highest segment that is not SACKed, lost or not, once per entry into recovery, and
///   only when rule (2) has no more new data to send.
/// - §5, step (4.3): entry into recovery repeats HighACK + 1, though the recovery before, which has no bound above, may
///   have repeated it by rule (1) just before.
fn repeats_in_vain_as_the_rfc_does(pair: &Pair<NewReno>, lost: &[u64]) -> Result<(), TestCaseError> {
    let (sent, recoveries) = (&pair.sent, pair.sender.counters().recoveries);
    let vain = pair.receiver.counters().duplicates;
    prop_assert_eq!(pair.sender.counters().retransmitted, lost.len() as u64 + vain);
    prop_assert!(vain <= recoveries + recoveries.saturating_sub(1), "{vain} of {:?}", pair.repairs());
    let last_new = sent.iter().rposition(|sent| !sent.again);
    for number in 0..pair.receiver.delivered() {
        let times = sent.iter().filter(|sent| sent.number == number).count();
        if times > 1 + lost.iter().filter(|lost| **lost == number).count() {
            let last = sent.iter().rposition(|sent| sent.number == number).expect("it was sent");
            let rescue = Some(last) > last_new;
            let first_in_window = recoveries > 1 && sent[last + 1..].iter().all(|sent| sent.number > number);
            prop_assert!(rescue || first_in_window, "{number} in {:?}", pair.repairs());
        }
    }
    Ok(())
}
