//! CUBIC: L. Xu, S. Ha, I. Rhee, V. Goel, L. Eggert, "CUBIC for Fast and Long-Distance Networks", RFC 9438.
//!
//! The window is a cubic function of the time since the last reduction: fast back to the window of the loss, slow
//! around it, fast again beyond; and never below Reno's.
//!
//! | RFC 9438 §4.1 | here | |
//! |---|---|---|
//! | cwnd, ssthresh | `cwnd`, `ssthresh` | segments |
//! | cwnd_prior | `cwnd_prior` | window before the last reduction |
//! | W_max | `w_max` | window before the last reduction, or less by fast convergence; none after a timeout |
//! | t_epoch | `Epoch::start` | start of the congestion avoidance stage, advanced by application-limited times |
//! | K | `Epoch::k` | seconds from then to W_max, Figure 2 |
//! | W_cubic(t) | `Epoch::w_cubic` | Figure 1 |
//! | W_est | `Epoch::w_est` | window of Reno, Figure 4 |
//!
//! Slow start is Reno's, without HyStart++ (RFC 9406), which §4.10 recommends. A spurious loss is not undone (§4.9, a
//! MAY).

use super::{Acked, Config, CongestionWindow, ParameterError, Start, reduced, slow_start};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};

/// C, in segments per second cubed (§5.1).
const C: f64 = 0.4;
/// beta_cubic, the factor on the window after a loss (§4.6).
const BETA: f64 = 0.7;
/// The same as rounded by Linux.
const LINUX_BETA: f64 = 717.0 / 1024.0;
/// alpha_cubic: with `BETA` it results in the mean window of AIMD(1, 0.5) (§4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// The window control of RFC 9438.
#[derive(Clone, PartialEq, Debug)]
pub struct Cubic {
    cwnd: f64,
    ssthresh: f64,
    cwnd_prior: Option<f64>,
    w_max: Option<f64>,
    epoch: Option<Epoch>,
    fast_convergence: bool,
    is_linux: bool,
    /// The time since which the application, not the window, holds the sender back.
    limited_since: Option<Time>,
}

/// A congestion avoidance stage.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Epoch {
    start: Time,
    k: f64,
    w_max: f64,
    w_est: f64,
}

impl Cubic {
    /// The initial window, with fast convergence.
    pub fn new(start: Start) -> Cubic {
        Cubic {
            cwnd: f64::from(start.iw),
            ssthresh: start.ssthresh,
            cwnd_prior: None,
            w_max: None,
            epoch: None,
            fast_convergence: true,
            is_linux: false,
            limited_since: None,
        }
    }

    /// The same without fast convergence, as §4.7 recommends for a single flow.
    pub fn without_fast_convergence(self) -> Cubic {
        Cubic { fast_convergence: false, ..self }
    }

    /// The law as in Linux's tcp_cubic: W_est keeps growing by alpha_cubic beyond cwnd_prior, where §4.3 grows it by
    /// one; a window behind W_est catches up within a round instead of at once; and a loss drops fractions of segments.
    pub fn like_linux(self) -> Cubic {
        Cubic { is_linux: true, ..self }
    }

    fn avoid(&mut self, acked: &Acked) {
        let cwnd = self.cwnd;
        let cwnd_prior = *self.cwnd_prior.get_or_insert(cwnd);
        // Without W_max, initially and after a timeout, it is the window at the start of the stage (§4.8, §4.10).
        let w_max = *self.w_max.get_or_insert(cwnd);
        let epoch = self.epoch.get_or_insert_with(|| Epoch::begin(acked.now, cwnd, w_max));
        let share = (f64::from(acked.newly) / cwnd).min(1.0);
        // Figure 4. At cwnd_prior Reno would have recovered, and W_est grows by one from there on (§4.3).
        let alpha = if epoch.w_est >= cwnd_prior && !self.is_linux { 1.0 } else { ALPHA };
        epoch.w_est += alpha * share;
        let t = acked.now.since(epoch.start).as_secs_f64();
        if !self.is_linux && epoch.w_cubic(t) < epoch.w_est {
            // Deviation(RFC 9438 §4.3): a window larger than W_est stays as it is; the RFC would reduce it to W_est.
            self.cwnd = cwnd.max(epoch.w_est);
            return;
        }
        let rtt = acked.srtt.map_or(0.0, Span::as_secs_f64);
        let target = epoch.w_cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
        let behind = if self.is_linux { epoch.w_est.floor() - cwnd.floor() } else { 0.0 };
        // Deviation(RFC 9438 §4.4): once per segment, so that delayed acknowledgements do not halve the growth.
        self.cwnd += behind.max(target - cwnd) * share;
    }

    /// §4.6 and §4.7, for `flight` segments in flight.
    fn reduce(&mut self, flight: u32) {
        let cwnd = if self.is_linux { self.cwnd.floor() } else { self.cwnd };
        let less = self.fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        self.w_max = Some(if less { cwnd * (1.0 + BETA) / 2.0 } else { cwnd });
        self.cwnd_prior = Some(cwnd);
        self.ssthresh =
            if self.is_linux { reduced(cwnd, LINUX_BETA).floor() } else { reduced(f64::from(flight), BETA) };
    }
}

impl Epoch {
    /// A stage that starts at `start` with a window of `cwnd`, the RFC's cwnd_epoch.
    fn begin(start: Time, cwnd: f64, w_max: f64) -> Epoch {
        // Figure 2; K is 0 if the window already exceeds W_max.
        Epoch { start, k: libm::cbrt((w_max - cwnd).max(0.0) / C), w_max, w_est: cwnd }
    }

    /// W_cubic `t` seconds into the stage, Figure 1.
    fn w_cubic(&self, t: f64) -> f64 {
        let from_k = t - self.k;
        C * from_k * from_k * from_k + self.w_max
    }
}

impl CongestionWindow for Cubic {
    fn on_ack(&mut self, acked: &Acked) {
        if !acked.window_limited {
            self.limited_since.get_or_insert(acked.now);
            return;
        }
        // t excludes application-limited times (§5.8).
        if let (Some(since), Some(epoch)) = (self.limited_since.take(), &mut self.epoch) {
            epoch.start += acked.now.since(since);
        }
        // Deviation(RFC 9438 §4.10): slow start is Reno's, and ends at cwnd = ssthresh, where every recovery ends.
        if self.cwnd < self.ssthresh {
            self.cwnd += slow_start(acked.newly);
        } else {
            self.avoid(acked);
        }
    }

    fn on_loss(&mut self, _now: Time, flight: u32) {
        self.reduce(flight);
        self.cwnd = self.ssthresh;
        self.epoch = None;
    }

    fn on_recovered(&mut self, now: Time) {
        if self.cwnd >= self.ssthresh {
            let w_max = self.w_max.unwrap_or(self.cwnd);
            self.epoch = Some(Epoch::begin(now, self.cwnd, w_max));
        }
    }

    fn on_timeout(&mut self, _now: Time, flight: u32, again: bool) {
        if !again {
            self.reduce(flight);
        }
        self.cwnd = 1.0;
        self.w_max = None;
        self.epoch = None;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

impl Entry<Config> for Cubic {
    const NAME: &'static str = "cubic";
    const ABOUT: &'static str = "reacts to loss as most TCPs do";
    type Parameters = ();

    fn start(_parameters: &(), config: &Config) -> Result<Cubic, ParameterError> {
        Ok(Cubic::new(config.start))
    }
}

impl Probe for Cubic {
    /// Shows `cwnd`, `ssthresh`, `w_max`, `cwnd_prior`, `w_est` in segments and `k` in seconds.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("cwnd", self.cwnd);
        visit("ssthresh", self.ssthresh);
        visit("w_max", self.w_max.unwrap_or(f64::NAN));
        visit("cwnd_prior", self.cwnd_prior.unwrap_or(f64::NAN));
        visit("w_est", self.epoch.map_or(f64::NAN, |epoch| epoch.w_est));
        visit("k", self.epoch.map_or(f64::NAN, |epoch| epoch.k));
    }
}

#[cfg(test)]
mod tests;
