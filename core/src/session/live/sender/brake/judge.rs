//! Lossy or full: the judgement about a path whose loss stays high.
//!
//! # The question
//!
//! A path loses packets for two reasons. A *full* path loses what its queue, or a policer, has no room for: to send
//! less is a duty, and helps. A *lossy* path (radio, a bad cable) loses a part of whatever is sent: to send less helps
//! nobody, and takes away the repair that such a path needs. Loss alone does not tell them apart. Delay does where
//! there is a queue that is seen, and otherwise an experiment does: send less repair, and compare.
//!
//! # The states
//!
//! | state | what is done | left when |
//! |---|---|---|
//! | watching | loss is low, or has been high for less than a second; a sample is collected meanwhile | loss stays high: asking, or full where round trips have grown |
//! | asking | repair is taken down to its least, or by half where that is what there is; once packets of before have come, a second sample is collected | the samples are compared: lossy or full; undecided after [`PATIENCE`] is full |
//! | full | repair goes to nothing, the source is asked for less | loss is low again: watching. Where it is not after [`PERIOD`], the sample of then is compared with that of the question: lossy; or, where no round trips are grown, probing |
//! | probing | repair is at its least again | the same comparison, the samples in their other order: lossy or full, and then twice as long |
//! | lossy | repair is what the loss of the path needs | what comes is not of the path any more: watching |
//!
//! # The comparison
//!
//! Samples 1 and 2 have the loss ratios p1 and p2, at R1 and R2 packets a second. A path that is full and takes what it
//! took would have let p1 fall by `min(p1, (1 - p1) (R1 / R2 - 1))`. Where others take up what is given free, the fall
//! is less; [`SHARE`] of it is expected of a full path. The sequential probability ratio test (A. Wald, Ann. Math.
//! Stat. 16, 1945) weighs p1 against the ratio so expected, ph: of n packets of which x are lost its logarithm is
//! `x ln(p1 / ph) + (n - x) ln((1 - p1) / (1 - ph))`. It assumes that each packet is lost by itself. Losses in a row
//! say less, so that it is divided by the variance of a sum of a two-state chain over that of independent losses,
//! `(1 + rho) / (1 - rho)`; with runs of m losses on average `rho = 1 - 1/m - p / ((1 - p) m)`. Beyond [`DECISIVE`]
//! either way it decides; there is no decision where the rates differ too little to expect a fall ([`CONTRAST`]). A
//! ratio that has fallen beyond chance, though by less, is in part our doing: full ([`SAME`]).
//!
//! A path is lossy only where delay agrees: in either sample few round trips are grown; the mean delay is no less in
//! the second; and losses do not come at the height of the delay, as they do at a queue that is too short to be seen
//! otherwise. For that the delay of the last packet that came before each run of losses is compared with that of all.

use super::sample::Sample;
use crate::time::{Span, Time};

/// Part of the fall of a queue of ours alone that is expected of a full path. Others take up the rest within seconds.
const SHARE: f64 = 0.75;
/// No comparison unless that fall is this part of the loss ratio: less is within what chance and a path itself change.
const CONTRAST: f64 = 0.25;
/// The logarithm of the likelihood ratio that decides: odds of 150 to 1, and of 30 to 1 in bursts that lose 70 %, whose
/// spread is a third wider than their runs tell.
const DECISIVE: f64 = 5.0;
/// A ratio that has fallen by so many standard deviations is not as it was, whatever is expected of a full path.
const SAME: f64 = 4.0;
/// Each sample has at least so much time: as long as the brake's step, half a period of a TCP of 100 ms at 3 % of loss.
const LEAST_SAMPLE: Span = Span::from_millis(500);
/// A question is open for no longer: 40 packets a second at 3.5 % of loss need four seconds, in bursts twice that.
const PATIENCE: Span = Span::from_secs(8);
/// Before a first look at a full path that loses on though there is no repair.
const PERIOD: Span = Span::from_secs(1);
/// With more than half of the packets lost no code of ours helps: such a path counts as full.
const USABLE: f64 = 0.5;
/// Packets of a sample from which on a lossy path may be found changed.
const ENOUGH: u64 = 200;
/// Standard deviations by which a lossy path's ratio must have moved: looked at often, and runs are longer than they
/// seem.
const MOVED: f64 = 5.0;
/// A sample of a lossy path is complete with so many losses expected in it, and then joins what is known.
const COMPLETE: f64 = 50.0;
/// Packets that what is known counts for at most, so that slow changes are followed.
const KNOWN: u64 = 20_000;
/// Standard deviations of losses in a block for which there is repair on a lossy path.
const MARGIN: f64 = 5.0;

/// State of the judgement, and the limit of repair that follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// The loss is the path's own.
    Lossy,
    /// The path has no room for what is sent.
    Full,
    /// It cannot be told without some repair.
    Probe,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Watching,
    Asking { before: Sample, since: Time },
    Probing { below: Sample, since: Time, wait: Span },
    Lossy { known: Sample },
    Full { before: Sample, wait: Span },
}

/// The judgement of one session.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Judge {
    state: State,
    /// Sample since the state began, once the packets of the one before have come.
    sample: Sample,
}

impl Judge {
    pub(super) fn new() -> Judge {
        Judge { state: State::Watching, sample: Sample::from(Time::ZERO) }
    }

    /// Returns whether an answer is sought, and repair stays as it is until then.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Asking { .. } | State::Probing { .. })
    }

    pub(super) fn is_probing(&self) -> bool {
        matches!(self.state, State::Probing { .. })
    }

    pub(super) fn is_full(&self) -> bool {
        matches!(self.state, State::Full { .. })
    }

    pub(super) fn is_lossy(&self) -> bool {
        matches!(self.state, State::Lossy { .. })
    }

    /// Repair is less from `now` on: what is seen is compared once reports tell of that.
    pub(super) fn restart(&mut self, now: Time, lag: Span) {
        self.sample = Sample::from(now + lag);
    }

    /// Takes what a report has settled.
    pub(super) fn on_report(&mut self, now: Time, settled: &Sample) {
        self.sample.join(now, settled);
    }

    /// Loss is low, or nothing is under way. What is known of a lossy path stays.
    pub(super) fn rest(&mut self, now: Time) {
        if !self.is_lossy() {
            self.enter(State::Watching, now);
        }
    }

    fn enter(&mut self, state: State, from: Time) {
        (self.state, self.sample) = (state, Sample::from(from));
    }

    /// Loss has stayed high: puts the question, unless the delay has answered it. Packets that are under way, of the
    /// rate before, take `lag`.
    pub(super) fn ask(&mut self, now: Time, lag: Span) {
        let before = self.sample;
        if before.ratio() <= USABLE && !before.shows_queue() {
            self.enter(State::Asking { before, since: now }, now + lag);
        } else {
            self.find_full(now);
        }
    }

    /// Takes the present rate for too much, until something else is shown.
    pub(super) fn find_full(&mut self, now: Time) {
        let wait = if let State::Probing { wait, .. } = self.state { wait * 2 } else { PERIOD };
        self.enter(State::Full { before: self.sample, wait }, now);
    }

    /// Compares, and returns an answer that is new. `lag` as above.
    pub(super) fn answer(&mut self, now: Time, lag: Span) -> Option<Answer> {
        let length = self.sample.length();
        let (answer, since) = match &self.state {
            State::Watching | State::Lossy { .. } => return None,
            State::Full { before, wait } if length >= *wait => (compare(before, &self.sample), None),
            State::Asking { before, since } => (compare(before, &self.sample), Some(*since)),
            State::Probing { below, since, .. } => (compare(&self.sample, below), Some(*since)),
            State::Full { .. } => return None,
        };
        let is_late = since.is_some_and(|since| now.since(since) >= PATIENCE + lag);
        if length < LEAST_SAMPLE.max(lag) && !is_late {
            return None;
        }
        match (answer, self.state) {
            (
                Some(Answer::Lossy),
                State::Asking { before: other, .. }
                | State::Probing { below: other, .. }
                | State::Full { before: other, .. },
            ) => {
                self.enter(State::Lossy { known: other.and(&self.sample) }, now + lag);
                Some(Answer::Lossy)
            }
            (_, State::Full { wait, .. }) if !self.sample.shows_queue() && self.sample.ratio() <= USABLE => {
                self.enter(State::Probing { below: self.sample, since: now, wait }, now + lag);
                Some(Answer::Probe)
            }
            (_, State::Full { before, wait }) => {
                self.enter(State::Full { before, wait }, now);
                None
            }
            (Some(Answer::Full), _) => {
                self.find_full(now);
                Some(Answer::Full)
            }
            _ if is_late => {
                self.find_full(now);
                Some(Answer::Full)
            }
            _ => None,
        }
    }

    /// Returns whether a lossy path is not what it was: then it is watched again.
    pub(super) fn has_moved(&mut self, now: Time) -> bool {
        let State::Lossy { known } = &mut self.state else { return false };
        if self.sample.sent() < ENOUGH {
            return false;
        }
        let p = known.ratio();
        let moved = (self.sample.ratio() - p).abs() > MOVED * known.spread(&self.sample) || self.sample.shows_queue();
        if moved {
            self.enter(State::Watching, now);
        } else if self.sample.sent() as f64 * p >= COMPLETE {
            *known = known.and(&self.sample).at_most(KNOWN);
            self.sample = Sample::from(now);
        }
        moved
    }

    /// Repair packets that a block of `k` needs on a lossy path: as many as are lost of the block and them, and
    /// [`MARGIN`] standard deviations more: `n q - MARGIN sqrt(v p q n) = k`, v as above.
    pub(super) fn need(&self, k: f64) -> Option<f64> {
        let State::Lossy { known } = &self.state else { return None };
        let p = known.ratio();
        let q = 1.0 - p;
        let s = MARGIN * libm::sqrt(known.in_a_row() * p * q);
        let root = (s + libm::sqrt(s * s + 4.0 * q * k)) / (2.0 * q);
        Some(root * root - k)
    }
}

/// Conclusion from two samples, the second of which is of less repair.
fn compare(before: &Sample, after: &Sample) -> Option<Answer> {
    let both = before.and(after);
    if both.shows_queue() || after.shows_queue() || after.delay_is_below(before) {
        return Some(Answer::Full);
    }
    let p = before.ratio();
    let fall = ((1.0 - p) * (before.rate() / after.rate() - 1.0)).min(p);
    // Not a number where a sample is empty.
    if !(p > 0.0 && p <= USABLE && fall >= CONTRAST * p) {
        return None;
    }
    let full = p - SHARE * fall;
    let (lost, came) = (after.lost() as f64, (after.sent() - after.lost()) as f64);
    let weight = (lost * libm::log(p / full) + came * libm::log((1.0 - p) / (1.0 - full))) / both.in_a_row();
    match weight {
        weight if weight >= DECISIVE && p - after.ratio() <= SAME * before.spread(after) => Some(Answer::Lossy),
        weight if weight >= DECISIVE => Some(Answer::Full),
        weight if weight <= -DECISIVE => Some(Answer::Full),
        _ => None,
    }
}
