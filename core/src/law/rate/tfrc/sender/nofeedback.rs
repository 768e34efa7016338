//! The no-feedback timer of a sender: RFC 5348 §4.4.

use super::{Equation, RecvSet, Sender};
use crate::time::{Span, Time};

impl<E: Equation> Sender<E> {
    /// The time at which `handle_timeout` must be called: the no-feedback timer.
    pub fn poll_timeout(&self) -> Option<Time> {
        Some(self.nofeedback)
    }

    /// Halves the rate if the no-feedback timer has expired by `now` (§4.4).
    pub fn handle_timeout(&mut self, now: Time) {
        if now < self.nofeedback {
            return;
        }
        let x_recv = self.x_recv_set.max();
        match (self.r, self.x_bps) {
            // An idle sender keeps its initial rate before the first report.
            (None, _) if self.idle => {}
            (Some(r), x_bps) if self.idle && self.is_modest(r, x_recv, x_bps.is_some()) => {}
            (_, None) | (None, _) => self.x = (self.x / 2.0).max(self.config.slowest()),
            (Some(_), Some(x_bps)) if x_bps > 2.0 * x_recv => self.update_limits(now, x_recv),
            (Some(_), Some(x_bps)) => self.update_limits(now, x_bps / 2.0),
        }
        self.set_timer(now, self.rto());
    }

    /// Update_Limits of §4.4.
    fn update_limits(&mut self, now: Time, timer_limit: f64) {
        let timer_limit = timer_limit.max(self.config.slowest());
        self.x_recv_set = RecvSet::of(now, timer_limit / 2.0);
        self.set_x(now, timer_limit);
    }

    /// True if an idle sender keeps its rate, which is then no higher than that of a new sender. §4.4.
    fn is_modest(&self, r: f64, x_recv: f64, lossy: bool) -> bool {
        let recover_rate = self.initial_rate(r);
        if lossy { x_recv < recover_rate } else { self.x < 2.0 * recover_rate }
    }

    /// max(4R, 2s/X).
    pub(super) fn rto(&self) -> Span {
        let two_packets = 2.0 * self.config.segment.0 as f64 / self.x;
        Span::from_secs_f64(two_packets.max(4.0 * self.r.unwrap_or(0.0)))
    }

    pub(super) fn set_timer(&mut self, now: Time, rto: Span) {
        self.nofeedback = now + rto;
        self.idle = true;
    }
}
