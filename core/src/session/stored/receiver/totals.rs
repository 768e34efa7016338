//! Measurements of a receiver over its whole run.

use crate::time::{Span, Time};

/// Sums over the flow control periods, from the start of playout on.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Totals {
    /// Periods.
    pub periods: u64,
    /// Periods whose loss was measured.
    pub measured: u64,
    /// The sum of the loss p of these.
    pub loss: f64,
    /// The greatest p.
    pub loss_max: f64,
    /// The sum of rho over the periods, in packets per second.
    pub rho: f64,
    /// The sum of its squares.
    pub rho_squared: f64,
    /// The packets requested: rho times the length of each period.
    pub requested: f64,
    /// The packets received in the periods, retransmissions excluded.
    pub arrived: u64,
    /// The total length of the periods.
    pub time: Span,
    /// Packets received since the start of the session, retransmissions excluded.
    pub received: u64,
    /// Retransmissions received, and those that were asked for.
    pub resent: u64,
    /// Packets asked for again.
    pub asked: u64,
    /// Bytes of all datagrams received, without IP and UDP headers.
    pub bytes: u64,
}

impl Totals {
    /// Adds a period that ends at `now`.
    pub(super) fn add(&mut self, now: Time, since: Time, rho: f64, p: Option<f64>, arrived: u64) {
        let length = now.since(since);
        self.periods += 1;
        self.arrived += arrived;
        self.rho += rho;
        self.rho_squared += rho * rho;
        self.requested += rho * length.as_secs_f64();
        self.time += length;
        if let Some(p) = p {
            self.measured += 1;
            self.loss += p;
            self.loss_max = self.loss_max.max(p);
        }
    }

    /// The mean loss of a period; none before the first.
    pub fn loss_mean(&self) -> Option<f64> {
        (self.measured > 0).then(|| self.loss / self.measured as f64)
    }

    /// The mean requested rate over time, in packets per second.
    pub fn rho_mean(&self) -> Option<f64> {
        let seconds = self.time.as_secs_f64();
        (seconds > 0.0).then(|| self.requested / seconds)
    }

    /// The mean received rate over time, retransmissions excluded, in packets per second.
    pub fn received_mean(&self) -> Option<f64> {
        let seconds = self.time.as_secs_f64();
        (seconds > 0.0).then(|| self.arrived as f64 / seconds)
    }

    /// The coefficient of variation of rho by period.
    pub fn rho_variation(&self) -> Option<f64> {
        let n = self.periods as f64;
        let mean = self.rho / n;
        (self.periods > 0 && mean > 0.0).then(|| (self.rho_squared / n - mean * mean).max(0.0).sqrt() / mean)
    }
}
