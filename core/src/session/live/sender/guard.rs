//! Limits that keep a stream from flooding its path: the brake of the live profile, and the breaker of RFC 8083.

use super::Breaker;
use super::brake::{Brake, Demand, Pressure, Question};
use crate::law::breaker;
use crate::session::live::REPORT_INTERVAL;
use crate::time::{Span, Time};
use crate::units::Bytes;

/// Td of RFC 8083: five seconds, the fixed minimum of RFC 3550 §6.2.
const BREAKER: breaker::Config =
    breaker::Config { td: Span::from_secs(5), tdr: REPORT_INTERVAL, tf: Span::from_millis(40), g: 1 };

/// The cause of the loss on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LossCause {
    /// The path loses a part of whatever is sent, as radio links do.
    Path,
    /// The path has no capacity for what is sent.
    Queue,
}

impl LossCause {
    /// The names, in the order of the values.
    pub(super) const NAMES: &[&str] = &["path", "queue"];
}

/// The brake and the breaker, as the configuration combines them.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Guard {
    mode: Breaker,
    brake: Brake,
    breaker: breaker::Breaker,
    /// The reason for which RFC 8083 ends the session.
    verdict: Option<breaker::Cause>,
}

impl Guard {
    /// Both limits; `p_max` is that of the law of redundancy.
    pub(super) fn new(mode: Breaker, p_max: f64) -> Guard {
        Guard { mode, brake: Brake::new(p_max), breaker: breaker::Breaker::new(BREAKER), verdict: None }
    }

    /// True if the brake takes reports.
    pub(super) fn has_brake(&self) -> bool {
        self.mode == Breaker::RepairFirst
    }

    /// The round trip without a queue, where the recent minimum is `minimum`.
    pub(super) fn base(&mut self, now: Time, minimum: Span) -> Span {
        self.brake.base(now, minimum)
    }

    /// Passes a report to the brake.
    pub(super) fn on_report(&mut self, now: Time, pressure: &Pressure) -> Option<Demand> {
        self.brake.on_report(now, pressure)
    }

    /// Passes a regular report to the breaker.
    pub(super) fn on_receiver_report(&mut self, now: Time, report: &breaker::Report) {
        self.breaker.on_report(now, report);
    }

    /// Notes a packet of `size`.
    pub(super) fn on_sent(&mut self, now: Time, size: Bytes) {
        self.breaker.on_sent(now, size);
    }

    /// The limit that the brake sets to the repair window `window`.
    pub(super) fn window(&self, window: f64) -> f64 {
        self.brake.window(window)
    }

    /// The question that is asked, if there is one.
    pub(super) fn question(&self) -> Option<Question> {
        self.brake.question()
    }

    /// The greatest repair window; none while the brake is off.
    pub(super) fn limit(&self) -> Option<f64> {
        self.brake.limit()
    }

    /// True if the round trips of recent reports indicate a queue.
    pub(super) fn shows_queue(&self) -> bool {
        self.brake.shows_queue()
    }

    /// The share of packets lost, averaged by the brake.
    pub(super) fn loss(&self) -> f64 {
        self.brake.loss()
    }

    /// The cause of recent loss, as the brake has found it; none without loss, and while the question is open.
    pub(super) fn loss_cause(&self) -> Option<LossCause> {
        match (self.loss() > 0.0, self.brake.is_full()) {
            (true, true) => Some(LossCause::Queue),
            (true, false) => self.brake.is_lossy().then_some(LossCause::Path),
            _ => None,
        }
    }

    /// Notes that media stops until a receiver answers. No breaker needs to end a session that sends no media; with
    /// [`Breaker::Rfc8083`], §4.1 of the RFC ends it to the letter.
    pub(super) fn on_silence(&mut self) {
        if self.mode != Breaker::Rfc8083 {
            self.breaker.cease();
        }
    }

    /// Restarts the breaker: media has stopped while no receiver was connected, and a receiver that comes back is to be
    /// heard before it counts as silent again.
    pub(super) fn restart_breaker(&mut self) {
        self.breaker = breaker::Breaker::new(BREAKER);
    }

    /// True if RFC 8083 requires the session to end.
    pub(super) fn is_open(&self) -> bool {
        self.verdict.is_some()
    }

    /// Asks the breaker, and returns whether the session ends now. `is_connected` is true if a receiver answers.
    pub(super) fn ends(&mut self, now: Time, is_connected: bool) -> bool {
        self.verdict = self.breaker.verdict(now);
        match self.mode {
            Breaker::RepairFirst => self.verdict.is_some_and(|cause| self.is_final(now, cause, is_connected)),
            Breaker::Rfc8083 => self.verdict.is_some(),
            Breaker::Off => false,
        }
    }

    // Deviation(RFC 8083 §4.3): by default, congestion ends a session only where the brake has found the path full,
    // repair has been removed and the source has had twelve seconds to reduce its rate; the RFC would have both done
    // within CB_INTERVAL, and knows no loss but congestion. A sender that waits for a receiver sends no media, and need
    // not end (§4.1).
    fn is_final(&self, now: Time, cause: breaker::Cause, is_connected: bool) -> bool {
        match cause {
            breaker::Cause::RtcpTimeout => is_connected,
            breaker::Cause::MediaTimeout => true,
            breaker::Cause::Congestion => self.brake.is_over(now),
        }
    }
}
