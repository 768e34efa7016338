//! Calls: one session after another to the same receiver (RFC 8083 §4.5).

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::{Config, Sender};
use thalweg_core::session::live::{Ending, Kind};
use thalweg_core::time::{Span, Time};

/// Between the end of a session and the first call after it.
const FIRST: Span = Span::from_secs(30);
/// Bound on that time, which doubles from call to call; after a session that lasts longer it is [`FIRST`] again.
const LONGEST: Span = Span::from_secs(300);
/// Time for which a receiver that is taken is asked on: the place of a sender that was killed comes free meanwhile.
const TAKEN: Span = Span::from_secs(3);

/// The sequel of a session that ends against its user's wish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retry {
    /// A new session, after a time that doubles.
    Always,
    /// Nothing: the first such end is the last.
    Never,
}

/// The session under way, and what is needed for the next one.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) session: Sender,
    config: Config,
    rng: Rng,
    retry: Retry,
    /// Sessions that have begun.
    count: u64,
    /// Start of the session under way.
    pub(super) since: Time,
    /// Time at which it first had a receiver.
    connected: Option<Time>,
    /// Time since which there is no receiver.
    alone: Option<Time>,
    /// Wait before the next call.
    wait: Span,
    /// The session under way ends at this time for this reason, unless its receiver answers before.
    doubt: Option<(Time, Ending)>,
    /// Reason for which it is being ended.
    verdict: Option<Ending>,
    /// After a session: the start of the next one, and the reason for which that one ended.
    pub(super) again: Option<(Time, Ending)>,
    /// Counters of the sessions before, in the order of [`Sender::METRICS`].
    earlier: Vec<f64>,
}

impl Calls {
    /// Calls at once.
    pub(super) fn new(config: Config, now: Time, rng: Rng, retry: Retry) -> Calls {
        let earlier = vec![0.0; Sender::METRICS.len()];
        Calls {
            session: Sender::new(config.clone(), now, &rng.fork("call 1")),
            config,
            rng,
            retry,
            count: 1,
            since: now,
            connected: None,
            alone: Some(now),
            wait: FIRST,
            doubt: None,
            verdict: None,
            again: None,
            earlier,
        }
    }

    /// The receiver has answered.
    pub(super) fn on_connected(&mut self, now: Time) {
        self.connected.get_or_insert(now);
        (self.alone, self.doubt) = (None, None);
    }

    /// The receiver takes another stream. Returns how long it is asked on.
    pub(super) fn on_busy(&mut self, now: Time) -> Span {
        let wait = TAKEN.min(self.left(now));
        self.doubt = Some((now + wait, Ending::Busy));
        wait
    }

    /// The receiver has fallen silent. Returns how long the session waits for it.
    pub(super) fn on_silent(&mut self, now: Time) -> Span {
        let wait = self.wait(now);
        self.doubt = Some((now + wait, Ending::Silent));
        wait
    }

    /// The session has ended. Returns why, and in what time the next one begins, if one does.
    pub(super) fn on_ended(&mut self, now: Time, ending: Ending, is_wanted: bool) -> (Ending, Option<Span>) {
        self.doubt = None;
        let ending = self.verdict.take().filter(|_| is_wanted).unwrap_or(ending);
        let left = self.left(now);
        let may_retry = is_wanted && self.retry == Retry::Always;
        let wait = match ending {
            Ending::Busy if left == Span::ZERO => None,
            // The last call takes the last of the time.
            Ending::Busy if may_retry => Some(self.wait(now).min(left.saturating_sub(TAKEN))),
            Ending::Breaker if may_retry => Some(self.wait(now)),
            // It has been waited for already.
            Ending::Silent if may_retry => Some(Span::ZERO),
            _ => None,
        };
        self.again = wait.map(|wait| (now + wait, ending));
        (ending, wait)
    }

    /// Does what is due; whether a new session has begun.
    pub(super) fn turn(&mut self, now: Time) -> bool {
        if let Some((_, ending)) = self.doubt.take_if(|(due, _)| *due <= now) {
            self.verdict = Some(ending);
            self.session.finish(now);
        }
        if self.again.take_if(|(due, _)| *due <= now).is_none() {
            return false;
        }
        self.alone.get_or_insert(now);
        self.wait = (self.wait * 2).min(LONGEST);
        let session = &self.session;
        add_counters(&mut self.earlier, session);
        self.count += 1;
        let rng = self.rng.fork(&format!("call {}", self.count));
        self.session = Sender::new(self.config.clone(), now, &rng);
        (self.since, self.connected) = (now, None);
        true
    }

    /// The time at which [`Calls::turn`] has something to do.
    pub(super) fn next(&self) -> Option<Time> {
        self.doubt.or(self.again).map(|(due, _)| due)
    }

    /// Returns whether nobody at all has answered this call, although somebody should.
    pub(super) fn is_unanswered(&self) -> bool {
        let is_quiet = self.doubt.is_none() && self.verdict.is_none() && self.again.is_none();
        is_quiet && self.connected.is_none() && !self.session.is_connected()
    }

    /// Sessions that have begun.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Time for which a receiver is still asked for: as long as the user waits for one.
    fn left(&self, now: Time) -> Span {
        let since = self.alone.unwrap_or(now);
        self.config.answer_timeout.map_or(Span::MAX, |timeout| (since + timeout).since(now))
    }

    /// The wait before the next call, after a session that ends or falls silent at `now`.
    fn wait(&mut self, now: Time) -> Span {
        if self.connected.take_if(|connected| now.since(*connected) > LONGEST).is_some() {
            self.wait = FIRST;
        }
        self.wait
    }
}

/// Adds the counters of a session that has ended.
fn add_counters(earlier: &mut [f64], session: &Sender) {
    session.probe(&mut |name, value| {
        let counter = Sender::METRICS.iter().position(|metric| metric.name == name && metric.kind == Kind::Counter);
        if let Some(nth) = counter {
            earlier[nth] += value;
        }
    });
}

impl Probe for Calls {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.session.probe(&mut |name, value| {
            let nth = Sender::METRICS.iter().position(|metric| metric.name == name);
            visit(name, value + nth.map_or(0.0, |nth| self.earlier[nth]));
        });
    }
}
