//! NADA: X. Zhu, R. Pan, M. Ramalho, S. Mena, "Network-Assisted Dynamic Adaptation (NADA): A Unified Congestion Control
//! Scheme for Real-Time Media", RFC 8698, 2020.
//!
//! Delay, loss and marks become one congestion signal, a delay. The rate settles where that signal is inversely
//! proportional to the rate, so that flows of one bottleneck share it by their priorities. Both halves are at the sender,
//! which RFC 8888 reports give the arrival of each packet (§6.3).
//!
//! | RFC | here | |
//! |---|---|---|
//! | r_ref | [`Nada::r_ref`] | reference rate, at which packets leave: encoder and shaping buffer (§5.2) are the session's |
//! | d_fwd, d_base, d_queue | `nada::window` | forward delay, its minimum, and the least queuing delay of 15 packets (§5.1.1) |
//! | r_recv, p_loss | `nada::window` | receive rate and loss ratio over LOGWIN (§5.1.2, §5.1.3) |
//! | loss_int, loss_exp | `nada::window` | average loss interval, and MULTILOSS times it (§4.2) |
//! | d_tilde, Eq. (1) | `nada::d_tilde` | queuing delay, warped while losses are recent |
//! | x_curr, Eq. (2) | `nada::x_curr` | congestion signal |
//! | gamma, Eqs. (3), (4) | `nada::accelerated` | ramp-up while the path is empty |
//! | x_offset, x_diff, Eqs. (5) to (7) | `nada::gradual` | rate update otherwise |
//!
//! Delays are in seconds, and rates in bits per second. Marks are not counted: no session reports any.

#[cfg(test)]
mod tests;
mod window;

use self::window::Window;
use super::{Allowance, Config, Pacer, Report};
use crate::law::ParameterError;
use crate::law::parameter::{known, number, within};
use crate::law::registry::{Argument, Entry, Parameters};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// RMIN: the minimum rate. Fig. 3, as all other constants.
pub const RMIN: f64 = 150e3;
/// RMAX: the maximum rate, unless the session's is lower.
// Deviation(RFC 8698 Fig. 3): RMAX, which the application sets, is 1.5 Mb/s there; a video for a television has up to
// 20 Mb/s.
pub const RMAX: f64 = 20e6;
/// XREF: the reference congestion level.
const XREF: f64 = 0.010;
/// KAPPA and ETA: the gains of the gradual update.
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
/// TAU: the upper bound of the round trip in the gradual update.
const TAU: f64 = 0.5;
/// DELTA: the interval of updates.
const DELTA: Span = Span::from_millis(100);
/// QEPS: the queuing delay that ends the ramp-up.
const QEPS: f64 = 0.010;
/// DFILT: the bound on the delay of the filter.
const DFILT: f64 = 0.120;
/// GAMMA_MAX: the upper bound of an increase in the ramp-up.
const GAMMA_MAX: f64 = 0.5;
/// QBOUND: the queuing delay that the ramp-up may cause.
const QBOUND: f64 = 0.050;
/// MULTILOSS: the number of average loss intervals for which a loss is recent.
const MULTILOSS: f64 = 7.0;
/// QTH and LAMBDA: threshold and exponent of the warping.
const QTH: f64 = 0.050;
const LAMBDA: f64 = 0.5;
/// PLRREF, and DLOSS, the delay that a loss ratio of PLRREF stands for.
const PLRREF: f64 = 0.01;
const DLOSS: f64 = 0.010;

/// PRIO: the priority of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Priority(f64);

impl Default for Priority {
    /// 1, Fig. 3.
    fn default() -> Priority {
        Priority(1.0)
    }
}

impl Parameters for Priority {
    const NAMES: &'static [&'static str] = &["priority"];
    const ARGUMENT: Option<Argument> = Some(Argument::Optional("PRIORITY"));

    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, Priority::NAMES)?;
        let value = number(name, value)?;
        // Ours: beyond this range the signal of one of two flows is within the noise of its measurement.
        within(name, value, 0.05..=20.0)?;
        self.0 = value;
        Ok(())
    }

    fn set_argument(&mut self, value: &str) -> Result<(), ParameterError> {
        self.set("priority", value)
    }

    fn argument(&self) -> Option<String> {
        (*self != Priority::default()).then(|| self.0.to_string())
    }
}

/// A NADA sender.
#[derive(Clone, PartialEq, Debug)]
pub struct Nada {
    prio: f64,
    r_max: f64,
    r_ref: f64,
    x_curr: f64,
    window: Window,
    pacer: Pacer,
    /// t_last: the time of the last update; none before the first report.
    t_last: Option<Time>,
    /// True if the rate held the session back since the last update.
    is_limited: bool,
}

impl Nada {
    /// A sender of priority `prio`, 0.05 to 20, that starts at [`RMIN`].
    pub fn new(prio: Priority, config: &Config) -> Nada {
        Nada {
            prio: prio.0,
            r_max: (config.most.as_bps() as f64).clamp(RMIN, RMAX),
            r_ref: RMIN,
            x_curr: 0.0,
            window: Window::default(),
            pacer: Pacer::new(config.slack),
            t_last: None,
            is_limited: false,
        }
    }

    /// r_ref: the reference rate, in bits per second.
    pub fn r_ref(&self) -> f64 {
        self.r_ref
    }

    /// An update, `delta` seconds after the last one, at a round trip of `rtt` seconds (§4.3).
    fn update(&mut self, now: Time, delta: f64, rtt: f64) {
        let seen = self.window.summary(now);
        let x_prev = core::mem::replace(&mut self.x_curr, x_curr(d_tilde(seen.d_queue, seen.recency), seen.p_loss));
        let r_ref = if seen.is_empty_path {
            accelerated(self.r_ref, seen.r_recv, rtt)
        } else {
            gradual(self.r_ref, delta, (self.x_curr, x_prev), self.prio * self.r_max)
        };
        // Deviation(RFC 8698 §4.3): a sender that the rate did not hold back does not raise it (RFC 7661): its delays say
        // nothing about a higher rate.
        let most = if self.is_limited { self.r_max } else { self.r_ref };
        self.r_ref = r_ref.min(most).clamp(RMIN, self.r_max);
    }
}

/// Eq. (1), for a queuing delay of `d_queue`. `recency` is 1 while losses are recent, 0 without any, and falls between
/// them over one loss interval.
fn d_tilde(d_queue: f64, recency: f64) -> f64 {
    let warped = if d_queue < QTH { d_queue } else { QTH * libm::exp(-LAMBDA * (d_queue - QTH) / QTH) };
    recency * warped + (1.0 - recency) * d_queue
}

/// Eq. (2), without marks.
fn x_curr(d_tilde: f64, p_loss: f64) -> f64 {
    d_tilde + DLOSS * (p_loss / PLRREF) * (p_loss / PLRREF)
}

/// Eqs. (3) and (4).
fn accelerated(r_ref: f64, r_recv: f64, rtt: f64) -> f64 {
    let gamma = GAMMA_MAX.min(QBOUND / (rtt + DELTA.as_secs_f64() + DFILT));
    r_ref.max((1.0 + gamma) * r_recv)
}

/// Eqs. (5) to (7), where `weight` is PRIO RMAX.
fn gradual(r_ref: f64, delta: f64, (x_curr, x_prev): (f64, f64), weight: f64) -> f64 {
    let x_offset = x_curr - XREF * weight / r_ref;
    let x_diff = x_curr - x_prev;
    r_ref - KAPPA * (delta / TAU) * (x_offset / TAU) * r_ref - KAPPA * ETA * (x_diff / TAU) * r_ref
}

impl Entry<Config> for Nada {
    const NAME: &'static str = "nada";
    const ABOUT: &'static str = "short queues for live media up to 20 Mb/s, shared by PRIORITY";
    type Parameters = Priority;

    fn start(priority: &Priority, config: &Config) -> Result<Nada, ParameterError> {
        Ok(Nada::new(*priority, config))
    }
}

impl Allowance for Nada {
    fn next_send(&self, _in_flight: u32) -> Option<Time> {
        Some(self.pacer.release())
    }

    fn rate(&self, _packet: Bytes, _srtt: Span) -> Rate {
        Rate::from_bps(self.r_ref as u64)
    }

    fn on_sent(&mut self, now: Time, size: Bytes) {
        self.pacer.sent(now, Rate::from_bps(self.r_ref as u64).time_for(size));
    }

    fn on_delivered(&mut self, now: Time, _number: u64, sent: Time, size: Bytes) {
        self.window.deliver(now, now.since(sent), size);
    }

    fn on_report(&mut self, report: &Report) {
        self.window.lose(report.now, report.lost);
        self.is_limited |= report.limited;
        let t_last = *self.t_last.get_or_insert(report.now);
        let delta = report.now.since(t_last);
        if delta >= DELTA {
            let rtt = report.srtt.unwrap_or(Span::ZERO).as_secs_f64();
            // A longer time without reports than TAU would make the update overshoot.
            self.update(report.now, delta.as_secs_f64().min(TAU), rtt);
            (self.t_last, self.is_limited) = (Some(report.now), false);
        }
    }

    fn on_silence(&mut self, _now: Time, _in_flight: u32) {
        // Reading(RFC 8698 §4.3): the RFC names no rate for a time without feedback; this is that of RFC 5348 §4.4.
        self.r_ref = (self.r_ref / 2.0).max(RMIN);
    }
}

impl Probe for Nada {
    /// Shows `r_ref` and `r_recv` in bits per second, `x_curr` and `d_queue` in seconds, and `p_loss`.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("r_ref", self.r_ref);
        visit("r_recv", self.window.r_recv());
        visit("x_curr", self.x_curr);
        visit("d_queue", self.window.d_queue());
        visit("p_loss", self.window.p_loss());
    }
}
