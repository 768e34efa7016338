//! Lossy or full: the judgement about a path whose loss stays high.
//!
//! # The question
//!
//! A path loses packets for two reasons. A *full* path loses what its queue, or a policer, has no capacity for: to send
//! less is a duty, and helps. A *lossy* path (radio, a bad cable) loses a part of whatever is sent: to send less helps
//! no flow, and takes away the repair that such a path needs. Loss alone does not distinguish the two. Delay does where
//! a queue is visible, and otherwise an experiment does: send less repair, or more ([`Question`]), and compare.
//!
//! # The states
//!
//! | state | action | left when |
//! |---|---|---|
//! | watching | loss is low, or has been high for less than a second, or by no more than chance; a sample is collected meanwhile | loss stays high: asking, or full where round trips have grown |
//! | asking | repair is reduced to its least, or halved where it is below twice that; where there is no least, it is raised, or reduced by what a full path loses; once packets sent before have arrived, a second sample is collected | the samples are compared: lossy or full; undecided after [`DECISION_LIMIT`] is full |
//! | full | repair is taken down to none, the source is asked for a lower rate | loss is low again: watching. Otherwise, after [`PERIOD`], the new sample is compared with that of the question: lossy; or, where round trips have not grown, probing |
//! | probing | repair is at its least again | the same comparison, the samples in reverse order: lossy or full, and then for twice as long |
//! | lossy | repair is what the loss of the path needs | new samples do not fit the path any more: watching |
//!
//! # The comparison
//!
//! Samples 1 and 2 have the loss ratios p1 and p2, at R1 and R2 packets a second, of which R1 is the greater. It is that of the
//! later sample if the media has grown by more than the question took away. On a full path that delivers as much as before, p1
//! would have fallen by `min(p1, (1 - p1) (R1 / R2 - 1))`. Where other flows take up the freed capacity, the fall is less;
//! [`SHARE`] of it is expected of a full path: a ratio ph. The sequential probability ratio test (A. Wald, Ann. Math. Stat. 16,
//! 1945) weighs p1 against ph: of n packets of which x are lost its logarithm is
//! `x ln(p1 / ph) + (n - x) ln((1 - p1) / (1 - ph))`. Sample 1 was taken because its ratio was high, so that chance lets the
//! second one be lower. A full path is therefore found only if the greatest likelihoods of both samples, with one ratio for
//! both, and with two that are so far apart, confirm it. The test assumes independent losses. Losses in a row say less, so the
//! logarithm is divided by the variance of the number of losses over that of independent losses: that of a two-state chain,
//! `(1 + rho) / (1 - rho)`, where with runs of m losses on average `rho = 1 - 1/m - p / ((1 - p) m)`, or that of groups of
//! packets if it is more. Beyond [`DECISIVE`] on either side the test decides; there is no decision where the rates differ too
//! little to expect a fall ([`CONTRAST`]). A ratio that has fallen beyond chance, though by less than expected, is in part our
//! doing: full ([`SAME`]).
//!
//! A path is lossy only where delay agrees: in either sample few round trips have grown; the mean delay is no less in
//! the second; and losses do not occur at the peak of the delay, as they do at a queue that is otherwise too short to
//! be seen. For that, the delay of the last packet delivered before each run of losses is compared with that of all
//! packets.

use super::backoff::RELIEF;
use super::question::Question;
use super::sample::Sample;
use crate::time::{Span, Time};

/// The share expected of a full path of the fall at a queue that is ours alone. Other flows take up the rest within
/// seconds.
const SHARE: f64 = 0.75;
/// No comparison unless that fall is this part of the loss ratio: chance and the path itself cause smaller changes.
const CONTRAST: f64 = 0.25;
/// The logarithm of the likelihood ratio that decides: odds of 150 to 1, and of 30 to 1 in bursts that lose 70 %, whose
/// spread is a third wider than their runs show.
const DECISIVE: f64 = 5.0;
/// A ratio that has fallen by so many standard deviations has changed, whatever is expected of a full path. Ours: once
/// in 30 000 by chance (normal).
const SAME: f64 = 4.0;
/// The loss ratio is high beyond chance if it is so many of its errors above p_max. Ours: a question costs repair, so it is
/// not put because of a few bursts; 20 % of loss is clear in less than a second.
const CLEAR: f64 = 1.5;
/// The least duration of a sample: as long as the brake's step, half a period of a TCP of 100 ms at 3 % of loss.
const LEAST_SAMPLE: Span = Span::from_millis(500);
/// The longest time for which a question is open: 40 packets a second at 3.5 % of loss need four seconds, in bursts
/// twice that.
const DECISION_LIMIT: Span = Span::from_secs(8);
/// The time before a full path that still loses packets without repair is first examined. Ours: as long as loss has to
/// be high at first, `TIGHTEN_DELAY`.
const PERIOD: Span = Span::from_secs(1);
/// The loss ratio above which no code of ours helps: such a path counts as full. Beyond it repair would exceed the
/// media.
const USABLE: f64 = 0.5;
/// The least packets of a sample by which a lossy path may be found changed. Ours: as many as the brake averages over.
const ENOUGH: u64 = 200;
/// Standard deviations by which a lossy path's ratio must have moved: it is tested often, and runs are longer than they
/// seem.
const MOVED: f64 = 5.0;
/// The loss of a lossy path has grown if its ratio has, by this part of that at which it was found lossy. Ours: 1.6 times the
/// error of a complete sample; a greater part lets other streams raise their repair, too.
const GROWTH: f64 = 0.25;
/// A sample of a lossy path is complete with so many expected losses, more where they occur in a row, and then joins the
/// known sample. The error of a ratio is then 1 / sqrt(50), 14 %.
const COMPLETE: f64 = 50.0;
/// The most packets that the known sample counts for, so that slow changes are followed. Ours: about 20 s of 10 Mb/s;
/// more is more precise and follows a moving receiver later.
const KNOWN: u64 = 20_000;
/// Standard deviations of the losses in a block that repair covers on a lossy path. Ours: less repair leaves losses at
/// the end of bursts, more costs rate; with 5 of a normal spread one block in 3.5 million fails.
const MARGIN: f64 = 5.0;

/// A conclusion about the path, from which the limit of repair follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// The loss is the path's own.
    Lossy,
    /// The path has no capacity for what is sent.
    Full,
    /// No conclusion is possible without some repair.
    Probe,
}

/// A change of a lossy path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// The loss has grown within [`RELIEF`] of the finding, as the repair has.
    Grown,
    /// The path has another loss ratio, or a queue.
    Moved,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Watching,
    Asking { before: Sample, question: Question, since: Time },
    Probing { below: Sample, since: Time, wait: Span },
    Lossy { known: Sample, found: f64, since: Time },
    Full { before: Sample, wait: Span },
}

/// The judgement of one session.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Judge {
    state: State,
    /// The sample since the state began, without packets sent before.
    sample: Sample,
}

impl Judge {
    pub(super) fn new() -> Judge {
        Judge { state: State::Watching, sample: Sample::from(Time::ZERO) }
    }

    /// Returns whether a question is open; until it is answered repair stays as it is.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Asking { .. } | State::Probing { .. })
    }

    /// The question that is asked, if there is one.
    pub(super) fn question(&self) -> Option<Question> {
        if let State::Asking { question, .. } = self.state { Some(question) } else { None }
    }

    pub(super) fn is_probing(&self) -> bool {
        matches!(self.state, State::Probing { .. })
    }

    /// True on a full path, unless it is probed for the first time.
    pub(super) fn is_surely_full(&self) -> bool {
        match self.state {
            State::Probing { wait, .. } => wait > PERIOD,
            _ => self.is_full(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        matches!(self.state, State::Full { .. })
    }

    /// True if the sample that is being collected indicates a queue.
    pub(super) fn shows_queue(&self) -> bool {
        self.sample.shows_queue()
    }

    pub(super) fn is_lossy(&self) -> bool {
        self.lossy_since().is_some()
    }

    /// The time at which the path was found lossy, if it counts as lossy.
    pub(super) fn lossy_since(&self) -> Option<Time> {
        if let State::Lossy { since, .. } = self.state { Some(since) } else { None }
    }

    /// Restarts the sample, because repair is less from `now` on; reports show that after `lag`.
    pub(super) fn restart(&mut self, now: Time, lag: Span) {
        self.sample = Sample::from(now + lag);
    }

    /// Takes the packets that a report has settled.
    pub(super) fn on_report(&mut self, now: Time, settled: &Sample) {
        self.sample.join(now, settled);
    }

    /// Returns to watching, because loss is low or nothing is in flight. The knowledge of a lossy path stays.
    pub(super) fn rest(&mut self, now: Time) {
        if !self.is_lossy() {
            self.enter(State::Watching, now);
        }
    }

    fn enter(&mut self, state: State, from: Time) {
        (self.state, self.sample) = (state, Sample::from(from));
    }

    /// Returns whether the sample's loss ratio exceeds `p` beyond chance.
    pub(super) fn is_above(&self, p: f64) -> bool {
        self.sample.ratio() - p > CLEAR * self.sample.error()
    }

    /// Puts the question, because loss has stayed high, unless the delay has answered it. Packets in flight, sent at
    /// the rate before, take `lag`.
    pub(super) fn ask(&mut self, now: Time, question: Question, lag: Span) {
        let before = self.sample;
        if before.ratio() <= USABLE && !before.shows_queue() {
            self.enter(State::Asking { before, question, since: now }, now + lag);
        } else {
            self.find_full(now);
        }
    }

    /// Takes the present rate to be too high, until another comparison.
    pub(super) fn find_full(&mut self, now: Time) {
        let wait = if let State::Probing { wait, .. } = self.state { wait * 2 } else { PERIOD };
        self.enter(State::Full { before: self.sample, wait }, now);
    }

    /// Compares the samples, and returns an answer that is new; `lag` is that of `ask`.
    pub(super) fn answer(&mut self, now: Time, lag: Span) -> Option<Answer> {
        let length = self.sample.length();
        let (answer, since) = match &self.state {
            State::Watching | State::Lossy { .. } => return None,
            State::Full { before, wait } if length >= *wait => (compare(before, &self.sample), None),
            State::Asking { before, since, question: Question::Less } => (compare(before, &self.sample), Some(*since)),
            State::Asking { before, since, question: Question::More } => (compare(&self.sample, before), Some(*since)),
            State::Probing { below, since, .. } => (compare(&self.sample, below), Some(*since)),
            State::Full { .. } => return None,
        };
        let is_late = since.is_some_and(|since| now.since(since) >= DECISION_LIMIT + lag);
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
                let known = other.and(&self.sample);
                self.enter(State::Lossy { known, found: known.ratio(), since: now }, now + lag);
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

    /// Returns the change of a lossy path, if there is one; it is then watched again.
    pub(super) fn changed(&mut self, now: Time) -> Option<Change> {
        let State::Lossy { known, found, since } = &mut self.state else { return None };
        if self.sample.sent() < ENOUGH {
            return None;
        }
        let (p, ratio) = (known.ratio(), self.sample.ratio());
        let limit = MOVED * known.spread(&self.sample);
        let has_grown = now.since(*since) < RELIEF && (ratio - p > limit || p > (1.0 + GROWTH) * *found);
        if has_grown || (ratio - p).abs() > limit || self.sample.loses_at_peaks() {
            self.enter(State::Watching, now);
            return Some(if has_grown { Change::Grown } else { Change::Moved });
        }
        if self.sample.sent() as f64 * p >= COMPLETE * known.in_a_row() {
            *known = known.and(&self.sample).at_most(KNOWN);
            self.sample = Sample::from(now);
        }
        None
    }

    /// Repair packets that a block of `k` needs on a lossy path: the expected losses of the block and of its repair,
    /// and [`MARGIN`] standard deviations more: `n q - MARGIN sqrt(v p q n) = k`, v being the ratio of variances above.
    pub(super) fn need(&self, k: f64) -> Option<f64> {
        let State::Lossy { known, .. } = &self.state else { return None };
        let p = known.ratio();
        let q = 1.0 - p;
        let s = MARGIN * libm::sqrt(known.in_a_row() * p * q);
        let root = (s + libm::sqrt(s * s + 4.0 * q * k)) / (2.0 * q);
        Some(root * root - k)
    }
}

/// The greatest value of a function of a loss ratio that has one maximum.
fn greatest(likelihood: impl Fn(f64) -> f64) -> f64 {
    // The golden section; 30 steps leave a millionth.
    let section = (libm::sqrt(5.0) - 1.0) / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..30 {
        let (left, right) = (high - section * (high - low), low + section * (high - low));
        if likelihood(left) < likelihood(right) { low = left } else { high = right }
    }
    likelihood((low + high) / 2.0)
}

/// Concludes from two samples, in either order.
fn compare(one: &Sample, other: &Sample) -> Option<Answer> {
    let (before, after) = if one.rate() < other.rate() { (other, one) } else { (one, other) };
    let both = before.and(after);
    if both.shows_queue() || after.shows_queue() || after.delay_is_below(before) {
        return Some(Answer::Full);
    }
    let p = before.ratio();
    let gain = before.rate() / after.rate() - 1.0;
    let fall = |p: f64| ((1.0 - p) * gain).min(p);
    // NaN where a sample is empty.
    if !(p > 0.0 && p <= USABLE && fall(p) >= CONTRAST * p) {
        return None;
    }
    let full = |p: f64| (p - SHARE * fall(p)).max(0.0);
    // The ratio of the first sample is likely to be too high, as the question was put because of it: against a full path it
    // is taken as it is, for one it is not.
    let lossy = (after.likelihood(p) - after.likelihood(full(p))) / both.in_a_row();
    let pooled = both.ratio();
    let either = before.likelihood(pooled) + after.likelihood(pooled);
    let full = (either - greatest(|p| before.likelihood(p) + after.likelihood(full(p)))) / both.in_a_row();
    match (lossy, full) {
        (lossy, _) if lossy >= DECISIVE && p - after.ratio() <= SAME * before.spread(after) => Some(Answer::Lossy),
        (lossy, _) if lossy >= DECISIVE => Some(Answer::Full),
        (lossy, full) if lossy <= -DECISIVE && full <= -DECISIVE => Some(Answer::Full),
        _ => None,
    }
}
