//! The brake: a limit on repair from outside the law.
//!
//! GENEVA says that the media rate must fall when loss stays at p_max or above, and leaves out how (§3.2.4). Its window
//! alone would go to its maximum there and hold the loss where it is (the lock-in). So, where loss stays at p_max or
//! above for a second, the [`judge`] decides whether the path is full or lossy. While it is full, repair is halved
//! every half second, down to none, and the source is asked for a lower rate. Where the round trip has grown, packets
//! are lost to a full queue, and more repair is no cure: then the brake quickly takes repair down to the law's least
//! window. When loss is low again, repair is raised again. On a lossy path there is as much repair as its loss needs. A
//! session ends only on a path that was found full, after twelve seconds of loss that exceeds what chance makes of p_max,
//! and if RFC 8083 ends it.
//!
//! On a slow stream 0.4 s hold a dozen packets, too few for a loss rate. Loss is then averaged over some 200 packets. A
//! single burst keeps such an average high until it leaves the average, so the brake waits for that long in addition to
//! its second; and of the seconds of a loss episode three in four must themselves be high.

mod backoff;
mod base;
mod judge;
mod loss_average;
mod loss_episode;
mod pressure;
mod question;
mod sample;
#[cfg(test)]
mod tests;

use self::backoff::{Backoff, RELIEF};
use self::base::Base;
use self::judge::{Answer, Change, Judge};
use self::loss_average::LossAverage;
use self::loss_episode::LossEpisode;
pub(super) use self::pressure::{Demand, Pressure};
pub(super) use self::question::Question;
pub(super) use self::sample::{Group, Sample};
use crate::time::{Span, Time};

/// The time for which loss must stay high before the brake acts and asks for a lower rate. Ours: GENEVA's own reaction
/// comes first; shorter takes a burst for congestion, longer floods a full path for longer.
const TIGHTEN_DELAY: Span = Span::from_secs(1);
/// Time between two steps of the brake. Ours: a step is seen in the average ([`loss_average`]) before the next.
const STEP: Span = Span::from_millis(500);
/// The same two times while the path's queue is full. Ours: five reports of 10 ms. A queue that stays full loses
/// packets of other flows, too.
const QUICK_DELAY: Span = Span::from_millis(50);
const QUICK_STEP: Span = Span::from_millis(100);
/// Time between two steps of a release. Ours: the limit doubles in each, from 1 to `OFF` in 0.8 s.
const RELEASE_STEP: Span = Span::from_millis(100);
/// The duration of high loss after which the session ends. Ours: two windows of the minimum round trip, after which a route that
/// has become longer looks like no queue any more, and two seconds to find it lossy.
const ENDURANCE: Span = Span::from_secs(12);
/// The brake is released only below this share of p_max, so that it does not oscillate. Ours: the hysteresis; closer to
/// 1 the brake oscillates with the noise of the average, further it stays on a path that has recovered.
const RELEASE: f64 = 0.8;
/// The window of a probe as a part of the source packets, for a law whose window may be zero.
/// Ours: it shows a loss ratio of 12 % or less as clearly as [`judge`] needs, and more leaves more losses unrepaired.
const PROBE: f64 = 0.2;
/// The window, as a part of the source packets, of a law whose window may be zero, while loss is high and not known to be the
/// path's own. As much as the least that GENEVA sends whatever the loss: more would sustain the loss of a path that such
/// streams share, until it is found full.
const UNKNOWN: f64 = 0.35;
/// Limit above which a released brake is off: no block can hold more repair.
const OFF: f64 = 255.0;

// Deviation(GENEVA §3.2.4): the paper leaves the reaction at p_max and above to the media rate. The brake errs where the loss is
// another flow's doing and a stream's own repair changes it little: docs/controls.md has both cases.
/// The brake of one session.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Brake {
    p_max: f64,
    average: LossAverage,
    episode: Option<LossEpisode>,
    /// The time since which loss is low enough for a release.
    low_since: Option<Time>,
    stepped: Time,
    backoff: Backoff,
    /// The time at which the source was last asked for a lower rate; none once the request is withdrawn.
    asked: Option<Time>,
    judge: Judge,
    base: Base,
    /// The time since which the path is full, or was when it was last known.
    full_since: Option<Time>,
    limit: Option<f64>,
    /// The greatest window while loss is high and its cause unknown; infinite otherwise.
    most: f64,
    /// The window before the last question.
    before: f64,
    /// The least window while the path is lossy.
    least: f64,
    /// The time since which each report indicates a queue.
    queued: Option<Time>,
    /// A window that is not known to be too great, and the time at which it was set.
    fits: (f64, Time),
}

impl Brake {
    /// A brake that acts at a loss rate of `p_max`.
    pub(super) fn new(p_max: f64) -> Brake {
        Brake {
            p_max,
            average: LossAverage::default(),
            episode: None,
            low_since: None,
            stepped: Time::ZERO,
            backoff: Backoff::new(),
            asked: None,
            judge: Judge::new(),
            base: Base::new(),
            full_since: None,
            limit: None,
            most: f64::INFINITY,
            before: 0.0,
            least: 0.0,
            queued: None,
            fits: (f64::INFINITY, Time::ZERO),
        }
    }

    /// The round trip without a queue, where the recent minimum is `minimum`.
    pub(super) fn base(&mut self, now: Time, minimum: Span) -> Span {
        self.base.update(now, minimum)
    }

    /// The greatest repair window allowed, in packets for each block of the law; none when the brake is off.
    pub(super) fn limit(&self) -> Option<f64> {
        self.limit
    }

    /// The window granted to a law that asks for `window`.
    pub(super) fn window(&self, window: f64) -> f64 {
        window.max(self.least).min(self.most).min(self.limit.unwrap_or(f64::INFINITY))
    }

    /// The question that is asked, if there is one.
    pub(super) fn question(&self) -> Option<Question> {
        self.judge.question()
    }

    /// True while the path counts as full.
    pub(super) fn is_full(&self) -> bool {
        self.judge.is_full() || self.judge.is_probing()
    }

    /// True if the last report, or the sample that is being collected, indicates a queue.
    pub(super) fn shows_queue(&self) -> bool {
        self.queued.is_some() || self.judge.shows_queue()
    }

    /// True while the path counts as lossy.
    pub(super) fn is_lossy(&self) -> bool {
        self.judge.is_lossy()
    }

    /// The recent loss rate; NaN before there is one.
    pub(super) fn loss(&self) -> f64 {
        self.average.rate()
    }

    /// Returns whether loss has stayed high for too long at `now`, on a full path.
    pub(super) fn is_over(&self, now: Time) -> bool {
        let is_over = |episode: LossEpisode| {
            !episode.is_dipping() && episode.has_stayed(now, ENDURANCE) && !episode.is_chance(self.p_max)
        };
        let has_been_full = self.full_since.is_some_and(|since| now.since(since) >= ENDURANCE);
        self.judge.is_surely_full()
            && has_been_full
            && self.average.has_evidence(now)
            && self.episode.is_some_and(is_over)
    }

    /// Takes a report.
    pub(super) fn on_report(&mut self, now: Time, pressure: &Pressure) -> Option<Demand> {
        let sent = pressure.lost.saturating_add(pressure.delivered);
        if sent == 0 {
            if !self.average.has_evidence(now) {
                // Nothing is in flight, so nothing is lost.
                (self.episode, self.low_since, self.average) = (None, None, LossAverage::default());
                self.judge.rest(now);
            }
            return None;
        }
        self.average.push(now, pressure.lost, sent);
        // A question takes its time; what delay or the amount of loss shows was so since the loss began.
        let since = if self.judge.is_open() { now } else { Time::ZERO };
        let demand = self.judge_report(now, pressure, sent);
        self.full_since = match (self.judge.is_full(), self.judge.is_probing()) {
            (true, _) if !self.base.is_restored() => Some(self.full_since.unwrap_or(since)),
            (true, _) | (_, true) => self.full_since,
            _ => None,
        };
        demand
    }

    /// Takes the packets of a report, of which there are `sent`, once they are averaged.
    fn judge_report(&mut self, now: Time, pressure: &Pressure, sent: u32) -> Option<Demand> {
        self.judge.on_report(now, &pressure.passed);
        self.queued = pressure.queue.then(|| self.queued.unwrap_or(now));
        self.most = f64::INFINITY;
        if let Some(round_trip) = pressure.round_trip {
            self.base.on_round_trip(now, round_trip, pressure.queue);
        }
        if let Some(since) = self.judge.lossy_since() {
            match self.judge.changed(now) {
                None => {
                    self.base.lengthen(now, since);
                    self.supply(now, pressure);
                    return None;
                }
                Some(Change::Grown) => self.base.restore(now),
                Some(Change::Moved) => {}
            }
        }
        self.least = 0.0;
        let loss = self.loss();
        let is_high = loss >= self.p_max;
        let mut episode =
            if is_high { Some(self.episode.unwrap_or_else(|| LossEpisode::new(now))) } else { self.episode };
        if let Some(episode) = &mut episode {
            episode.count(now, pressure.lost, sent, self.p_max);
            episode.dip(now, !is_high);
        }
        // What loss does during a question is the answer.
        let is_open = self.judge.is_open();
        self.episode = episode.filter(|episode| is_open || !episode.has_dipped(now, self.average.span(now) / 2));
        if self.episode.is_none() {
            self.judge.rest(now);
        } else if pressure.bounds.0 == 0.0 && self.question() != Some(Question::More) {
            self.most = UNKNOWN * pressure.k;
        }
        if let Some(episode) = self.episode.filter(|_| is_high || is_open) {
            self.low_since = None;
            return self.tighten(now, &episode, pressure);
        }
        if loss >= RELEASE * self.p_max || self.limit.is_none() {
            self.low_since = None;
            return None;
        }
        let since = *self.low_since.get_or_insert(now);
        self.release(now, since)
    }

    /// The time for which loss must have been high at `now` to count as persistent.
    fn tighten_delay(&self, now: Time) -> Span {
        TIGHTEN_DELAY + self.average.excess(now)
    }

    /// Takes repair down as the path requires, because loss is high.
    fn tighten(&mut self, now: Time, episode: &LossEpisode, pressure: &Pressure) -> Option<Demand> {
        let stays = episode.has_stayed(now, self.tighten_delay(now));
        let (window, (least, _)) = (self.window(pressure.window), pressure.bounds);
        let quick =
            self.is_queued(now) && episode.has_lasted(now, QUICK_DELAY) && now.since(self.stepped) >= QUICK_STEP;
        if quick && window > least {
            self.relapse(now, least);
            self.step(now, (window / 2.0).max(least));
        }
        if self.judge.is_full() {
            if stays && now.since(self.stepped) >= STEP && window > 0.0 {
                self.relapse(now, least);
                self.step(now, if window < 2.0 { 0.0 } else { window / 2.0 });
                self.judge.restart(now, pressure.lag);
            }
        } else if stays && !self.judge.is_open() && self.judge.is_above(self.p_max) {
            self.ask(now, window, pressure);
        }
        let (is_probing, question) = (self.judge.is_probing(), self.question());
        match self.judge.answer(now, pressure.lag) {
            Some(Answer::Lossy) => {
                (self.episode, self.low_since) = (None, None);
                self.supply(now, pressure);
                return self.restored();
            }
            Some(Answer::Probe) => {
                let probe = if least > 0.0 { least } else { PROBE * pressure.k };
                let limit = probe.min(self.fitting(now));
                self.step(now, limit);
            }
            Some(Answer::Full) if question == Some(Question::More) => {
                self.fits = (self.before, now);
                self.step(now, self.before / 2.0);
            }
            Some(Answer::Full) => self.fits = (if is_probing { window / 2.0 } else { window }, now),
            None => {}
        }
        self.demand(now, stays)
    }

    /// Changes repair from `window`, because loss stays high, to see what that changes.
    fn ask(&mut self, now: Time, window: f64, pressure: &Pressure) {
        let (least, _) = pressure.bounds;
        let is_held_back = least == 0.0 && self.limit.is_some() && window < PROBE * pressure.k / 4.0;
        let (question, limit) = match least {
            0.0 => Question::about(self.loss(), (window, pressure.bound), pressure.k),
            _ if window >= 2.0 * least => (Question::Less, least),
            _ => (Question::Less, window / 2.0),
        };
        self.before = window;
        self.step(now, limit);
        // With next to no repair there is nothing to compare.
        if window == 0.0 || window < least / 2.0 || is_held_back {
            self.judge.find_full(now);
            return;
        }
        self.judge.ask(now, question, pressure.lag);
        if self.judge.is_full() {
            self.fits = (limit.min(window), now);
            self.step(now, self.fits.0);
        }
    }

    /// The greatest window that is not known to be too great; doubled after [`RELIEF`].
    fn fitting(&mut self, now: Time) -> f64 {
        if now.since(self.fits.1) >= RELIEF {
            self.fits = ((2.0 * self.fits.0).max(1.0), now);
        }
        self.fits.0
    }

    /// True if reports have indicated a queue for longer than a machine delays one of them.
    fn is_queued(&self, now: Time) -> bool {
        self.queued.is_some_and(|since| now.since(since) >= QUICK_DELAY)
    }

    fn step(&mut self, now: Time, limit: f64) {
        self.stepped = now;
        self.limit = Some(limit);
    }

    /// On a lossy path, allows as much repair as its loss needs, or the least where a queue is seen.
    fn supply(&mut self, now: Time, pressure: &Pressure) {
        let (least, most) = pressure.bounds;
        let need = self.judge.need(pressure.block).filter(|_| !self.is_queued(now));
        let need = need.map_or(least, |need| (need * pressure.k / pressure.block).clamp(least, most));
        let window = need.min(self.fitting(now));
        self.least = window;
        self.limit = Some(window);
        self.stepped = now;
    }

    fn demand(&mut self, now: Time, stays: bool) -> Option<Demand> {
        let due = stays && self.judge.is_full() && self.asked.is_none_or(|asked| now.since(asked) >= STEP);
        due.then(|| {
            self.asked = Some(now);
            Demand::Lower
        })
    }

    fn restored(&mut self) -> Option<Demand> {
        self.asked.take().map(|_| Demand::Restored)
    }

    /// Delays the next release, because the loss is high again, where no repair has to be sent.
    fn relapse(&mut self, now: Time, least: f64) {
        if least == 0.0 {
            self.backoff.on_relapse(now);
        }
    }

    fn release(&mut self, now: Time, since: Time) -> Option<Demand> {
        if now.since(since) < self.backoff.delay() || now.since(self.stepped) < RELEASE_STEP {
            return None;
        }
        self.backoff.on_release(now);
        self.stepped = now;
        self.limit = self.limit.map(|limit| (2.0 * limit).max(1.0)).filter(|&limit| limit < OFF);
        if self.limit.is_some() {
            return None;
        }
        self.fits = (f64::INFINITY, now);
        self.restored()
    }
}
