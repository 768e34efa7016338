//! The warning that most pictures are not displayed.

use std::collections::VecDeque;

use thalweg_core::law::playback::{Outcome, Tally};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_core::video::Kind;
use thalweg_net::report::Report;

/// The interval of the looks, and those that a warning is about.
const LOOK: Span = Span::from_secs(1);
const LOOKS: usize = 5;
/// The time from one warning to the next.
const AGAIN: Span = Span::from_secs(60);

/// The counts of the last seconds.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Strain {
    /// Of each look the pictures that were due by then, and those that were displayed.
    looks: VecDeque<(u64, u64)>,
    next: Option<Time>,
    warned: Option<Time>,
}

impl Strain {
    /// True once the next look is due.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.next.is_none_or(|next| now >= next)
    }

    /// Takes the outcomes so far. Returns a warning if most pictures of the last seconds were not displayed.
    pub(super) fn look(&mut self, now: Time, pictures: &Tally, max_rate: Option<Rate>) -> Option<Report> {
        self.next = Some(now + LOOK);
        let count = |outcome| Kind::ALL.into_iter().map(|kind| pictures.of(kind, outcome)).sum::<u64>();
        let (due, displayed) = (Outcome::ALL.into_iter().map(count).sum::<u64>(), count(Outcome::Playable));
        self.looks.push_back((due, displayed));
        if self.looks.len() <= LOOKS {
            return None;
        }
        let (due_before, displayed_before) = self.looks.pop_front()?;
        let (due, displayed) = (due.saturating_sub(due_before), displayed.saturating_sub(displayed_before));
        let is_warned = self.warned.is_some_and(|warned| now < warned + AGAIN);
        if 2 * displayed >= due || is_warned {
            return None;
        }
        self.warned = Some(now);
        let (what, how) = match max_rate {
            Some(rate) => (format!("the path or --max-rate {rate}"), "raise --max-rate, "),
            None => ("the path".to_owned(), ""),
        };
        let hidden = due - displayed;
        let text = format!(
            "{hidden} of {due} pictures of the last {LOOKS} s were not displayed, since {what} carries less than the video \
             needs; {how}play a video of a lower bit rate, or try a longer --store"
        );
        Some(Report::warning(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of the looks of a minute and a half, of which each second has 24 pictures due.
    fn warnings(displayed: impl Fn(u64) -> u64) -> Vec<(u64, String)> {
        let (mut strain, mut tally, mut found) = (Strain::default(), Tally::default(), Vec::new());
        for second in 0..90 {
            let now = Time::ZERO + LOOK * second;
            assert!(strain.is_due(now));
            for nth in 0..24 {
                tally.add(Kind::P, if nth < displayed(second) { Outcome::Playable } else { Outcome::Skipped });
            }
            let report = strain.look(now, &tally, Some(Rate::from_bps(300_000)));
            found.extend(report.map(|report| (second, report.text)));
        }
        found
    }

    #[test]
    fn warning_comes_after_five_seconds_and_again_after_a_minute() {
        let found = warnings(|_| 2);
        assert_eq!(found.iter().map(|(second, _)| *second).collect::<Vec<_>>(), [5, 65]);
        assert_eq!(
            found[0].1,
            "110 of 120 pictures of the last 5 s were not displayed, since the path or --max-rate 300kbit carries less than \
             the video needs; raise --max-rate, play a video of a lower bit rate, or try a longer --store"
        );
    }

    #[test]
    fn half_of_the_pictures_and_short_losses_are_no_reason() {
        assert_eq!(warnings(|_| 12), []);
        assert_eq!(warnings(|second| if second % 10 < 2 { 0 } else { 24 }), []);
    }
}
