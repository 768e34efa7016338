//! Calls: one session after another to the same receiver, or at the same port (RFC 8083 §4.5).

use thalweg_core::law::rate;
use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::metric::Kind;
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::rng::Rng;
use thalweg_core::session::live::carried::{Carried, association};
use thalweg_core::session::live::sender::{Config, Sender};
use thalweg_core::session::live::{Ending, inside};
use thalweg_core::session::secure::{Entropy, Key, KeyError};
use thalweg_core::time::{Span, Time};

/// Wait between the end of a session and the first call after it.
const FIRST: Span = Span::from_secs(30);
/// Upper bound on that wait, which doubles from call to call; after a session that lasts longer it is [`FIRST`] again.
const LONGEST: Span = Span::from_secs(300);
/// Time for which a busy receiver is called on: meanwhile, the place of a killed sender becomes free.
const BUSY_RETRY: Span = Span::from_secs(3);

/// The reaction to a session that ends although its user has not stopped it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retry {
    /// A new session, after a wait that doubles.
    Always,
    /// None: the first such end is final.
    Never,
}

/// The current session, and the state that is needed for the next one.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) session: Carried<Sender>,
    config: Config,
    rng: Rng,
    retry: Retry,
    /// Sessions that have begun.
    count: u64,
    /// Start of the current session.
    pub(super) since: Time,
    /// Time at which the session first had a receiver.
    connected: Option<Time>,
    /// Time since which there is no receiver.
    disconnected: Option<Time>,
    /// Wait before the next call.
    wait: Span,
    /// Time at which the current session ends for this reason, unless its receiver answers before.
    deadline: Option<(Time, Ending)>,
    /// Reason for which the session is being ended.
    end_reason: Option<Ending>,
    /// Between sessions: the start of the next one, and the outcome of the previous one.
    pub(super) again: Option<(Time, Ending)>,
    /// Counters of all earlier sessions, in the order of [`Sender::METRICS`].
    earlier: Vec<f64>,
}

impl Calls {
    /// Calls the receiver at once, or listens.
    pub(super) fn new(config: Config, now: Time, rng: Rng, retry: Retry) -> Calls {
        let earlier = vec![0.0; Sender::METRICS.len()];
        Calls {
            session: Carried::clear(Sender::new(config.clone(), now, &rng.fork("call 1"))),
            config,
            rng,
            retry,
            count: 1,
            since: now,
            connected: None,
            disconnected: Some(now),
            wait: FIRST,
            deadline: None,
            end_reason: None,
            again: None,
            earlier,
        }
    }

    /// Puts the stream inside an association, before anything has left.
    pub(super) fn encrypt(&mut self, key: &Key, now: Time, entropy: Entropy) -> Result<(), KeyError> {
        let to = self.config.to;
        self.config.to = inside(to, 0);
        let session = Sender::new(self.config.clone(), now, &self.rng.fork("call 1"));
        self.session = match self.config.listens {
            true => Carried::called(session, (association(), key), entropy)?,
            false => Carried::calling(session, (association(), key), to, now, entropy)?,
        };
        Ok(())
    }

    /// Handles the receiver's answer.
    pub(super) fn on_connected(&mut self, now: Time) {
        self.connected.get_or_insert(now);
        (self.disconnected, self.deadline) = (None, None);
    }

    /// Handles that the receiver is busy with another stream. Returns the time for which it is called on.
    pub(super) fn on_busy(&mut self, now: Time) -> Span {
        let wait = BUSY_RETRY.min(self.left(now));
        self.deadline = Some((now + wait, Ending::Busy));
        wait
    }

    /// Handles that the receiver has fallen silent. Returns the time for which the session waits for it.
    pub(super) fn on_silent(&mut self, now: Time) -> Span {
        let wait = self.wait(now);
        self.deadline = Some((now + wait, Ending::Silent));
        wait
    }

    /// Handles the end of the session. Returns its outcome, and the wait before the next one, if one follows.
    pub(super) fn on_ended(&mut self, now: Time, ending: Ending, is_wanted: bool) -> (Ending, Option<Span>) {
        self.deadline = None;
        let ending = self.end_reason.take().filter(|_| is_wanted).unwrap_or(ending);
        let left = self.left(now);
        let may_retry = is_wanted && self.retry == Retry::Always;
        let wait = match ending {
            Ending::Busy if left == Span::ZERO => None,
            // The last call uses the last [`BUSY_RETRY`] of the time.
            Ending::Busy if may_retry => Some(self.wait(now).min(left.saturating_sub(BUSY_RETRY))),
            Ending::Breaker if may_retry => Some(self.wait(now)),
            // The session has waited for it already.
            Ending::Silent if may_retry => Some(Span::ZERO),
            _ => None,
        };
        self.again = wait.map(|wait| (now + wait, ending));
        (ending, wait)
    }

    /// Does what is due; returns true if a new session has begun.
    pub(super) fn turn(&mut self, now: Time) -> bool {
        if let Some((_, ending)) = self.deadline.take_if(|(due, _)| *due <= now) {
            self.end_reason = Some(ending);
            self.session.finish(now);
        }
        if self.again.take_if(|(due, _)| *due <= now).is_none() {
            return false;
        }
        self.disconnected.get_or_insert(now);
        self.wait = (self.wait * 2).min(LONGEST);
        self.count += 1;
        let rng = self.rng.fork(&format!("call {}", self.count));
        let ended = self.session.replace(Sender::new(self.config.clone(), now, &rng));
        add_counters(&mut self.earlier, &ended);
        (self.since, self.connected) = (now, None);
        true
    }

    /// Changes the parameters of GCA, if that is the law.
    pub(super) fn set_greediness(&mut self, greediness: Greediness) {
        if let Some(rate::Choice::Gca(configured)) = &mut self.config.rate {
            *configured = greediness;
        }
        self.session.set_greediness(greediness);
    }

    /// The time at which [`Calls::turn`] has work to do.
    pub(super) fn next(&self) -> Option<Time> {
        self.deadline.or(self.again).map(|(due, _)| due)
    }

    /// True if this call has no answer at all, although one is expected.
    pub(super) fn is_unanswered(&self) -> bool {
        let is_quiet = self.deadline.is_none() && self.end_reason.is_none() && self.again.is_none();
        is_quiet && self.connected.is_none() && !self.session.is_connected()
    }

    /// Sessions that have begun.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Time for which a receiver is still called: as long as the user waits for one.
    fn left(&self, now: Time) -> Span {
        let since = self.disconnected.unwrap_or(now);
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
        // Counts that only the receiver has are not known of a session without one.
        if let Some(nth) = counter.filter(|_| value.is_finite()) {
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
