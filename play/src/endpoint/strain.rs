//! The warning that most pictures are not displayed.

use std::cmp::Reverse;
use std::collections::VecDeque;

use thalweg_core::law::playback::{Outcome, Tally};
use thalweg_core::session::stored::control::Control;
use thalweg_core::time::{Span, Time};
use thalweg_core::video::Kind;
use thalweg_net::report::Report;

use super::Settings;

/// The interval of the looks, and those that a warning is about.
const LOOK: Span = Span::from_secs(1);
const LOOKS: usize = 5;
/// The time from one warning to the next.
const AGAIN: Span = Span::from_secs(60);

/// The pictures by outcome, in the order of [`Outcome::ALL`].
type Counts = [u64; Outcome::ALL.len()];

/// The counts of the last seconds.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Strain {
    /// Of each look the pictures whose outcome was known by then.
    looks: VecDeque<Counts>,
    next: Option<Time>,
    warned: Option<Time>,
}

impl Strain {
    /// True once the next look is due.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.next.is_none_or(|next| now >= next)
    }

    /// Takes the outcomes so far. Returns a warning if most of those that became known in the last seconds are not playable.
    pub(super) fn look(&mut self, now: Time, pictures: &Tally, settings: &Settings) -> Option<Report> {
        self.next = Some(now + LOOK);
        let counts = Outcome::ALL.map(|outcome| Kind::ALL.into_iter().map(|kind| pictures.of(kind, outcome)).sum());
        self.looks.push_back(counts);
        if self.looks.len() <= LOOKS {
            return None;
        }
        let before = self.looks.pop_front()?;
        let outcomes = Outcome::ALL.into_iter().zip(counts.into_iter().zip(before));
        let outcomes = outcomes.map(|(outcome, (count, before))| (outcome, count.saturating_sub(before)));
        let (playable, mut others): (Vec<_>, Vec<_>) = outcomes.partition(|(outcome, _)| *outcome == Outcome::Playable);
        let sum = |outcomes: &[(Outcome, u64)]| outcomes.iter().map(|(_, count)| count).sum::<u64>();
        let (displayed, hidden) = (sum(&playable), sum(&others));
        if displayed >= hidden || self.warned.is_some_and(|warned| now < warned + AGAIN) {
            return None;
        }
        self.warned = Some(now);
        others.retain(|(_, count)| *count > 0);
        others.sort_by_key(|(_, count)| Reverse(*count));
        let list = others.iter().map(|(outcome, count)| format!("{} {count}", outcome.name()));
        let list = list.collect::<Vec<_>>().join(", ");
        let due = displayed + hidden;
        // Orphans follow from the others.
        let cause = others.iter().map(|(outcome, _)| *outcome).find(|outcome| *outcome != Outcome::Orphan);
        let cause = cause.map_or(String::new(), |cause| format!(": {}", explanation(cause, settings)));
        Some(Report::warning(format!("{hidden} of the last {due} pictures were not displayed in time ({list}){cause}")))
    }
}

/// The cause of an outcome, and the remedy.
fn explanation(outcome: Outcome, settings: &Settings) -> String {
    let Settings { max_rate, control, .. } = settings;
    match outcome {
        Outcome::Skipped => {
            let remedy = match max_rate {
                Some(rate) => format!("raise --max-rate {rate}, or play a video of a lower bit rate"),
                None => "play a video of a lower bit rate, or try a longer --store".to_owned(),
            };
            format!("the requested rate is less than the video needs; {remedy}")
        }
        Outcome::Broken if *control == Control::None => {
            "packets are lost, which --control none does not request again; use another control".to_owned()
        }
        Outcome::Broken => "packets are lost, and not retransmitted in time; try a longer --store".to_owned(),
        Outcome::Late | Outcome::Orphan | Outcome::Playable => {
            "packets arrive after the time of their picture; try a longer --store".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use thalweg_core::units::Rate;

    use super::*;

    /// The texts of the looks of a minute and a half, of which each second has 24 pictures, those not displayed with the outcome
    /// `other`.
    fn warnings(other: Outcome, displayed: impl Fn(u64) -> u64) -> Vec<(u64, String)> {
        let settings = Settings {
            from: None,
            control: Control::R3cpPlus,
            store: Span::ZERO,
            max_rate: Some(Rate::from_bps(300_000)),
            is_fair: false,
            is_interleaved: false,
            constants: Vec::new(),
        };
        let (mut strain, mut tally, mut found) = (Strain::default(), Tally::default(), Vec::new());
        for second in 0..90 {
            let now = Time::ZERO + LOOK * second;
            assert!(strain.is_due(now));
            for nth in 0..24 {
                tally.add(Kind::P, if nth < displayed(second) { Outcome::Playable } else { other });
            }
            let report = strain.look(now, &tally, &settings);
            found.extend(report.map(|report| (second, report.text)));
        }
        found
    }

    #[test]
    fn warning_comes_after_five_seconds_and_again_after_a_minute() {
        let found = warnings(Outcome::Skipped, |_| 2);
        assert_eq!(found.iter().map(|(second, _)| *second).collect::<Vec<_>>(), [5, 65]);
        assert_eq!(
            found[0].1,
            "110 of the last 120 pictures were not displayed in time (skipped 110): the requested rate is less than the video \
             needs; raise --max-rate 300kbit, or play a video of a lower bit rate"
        );
    }

    #[test]
    fn cause_is_that_of_the_outcome() {
        let text = |outcome| warnings(outcome, |_| 2).swap_remove(0).1;
        assert!(
            text(Outcome::Late)
                .ends_with("(late 110): packets arrive after the time of their picture; try a longer --store")
        );
        assert!(text(Outcome::Broken).contains("(broken 110): packets are lost, and not retransmitted in time"));
        assert!(text(Outcome::Orphan).ends_with("(orphan 110)"), "of others, which are not known");
    }

    #[test]
    fn half_of_the_pictures_and_short_losses_are_no_reason() {
        assert_eq!(warnings(Outcome::Late, |_| 12), []);
        assert_eq!(warnings(Outcome::Late, |second| if second % 10 < 2 { 0 } else { 24 }), []);
    }
}
