//! TCP Stream: H. Oda, H. Hisamatsu, H. Noborio, "Design, Implementation and Evaluation of Congestion Control Mechanism for
//! Video Streaming".
//!
//! Two windows, one on top of the other. The loss window is NewReno's, below a ceiling at the playback rate: what the film
//! needs is taken as any TCP would take it. The delay window is Vegas's: what is more is taken where it is spare.
//!
//! | paper §4, Table 1 | here | |
//! |---|---|---|
//! | lwnd | `lwnd` | loss window, segments, with its fraction |
//! | dwnd | `dwnd` | delay window, segments; whole unless a loss halves it |
//! | swnd | `swnd` | send-out window, lwnd + dwnd |
//! | ceil(Rate RTT / MSS) | [`Playback::cap`] | segments of one round trip at the playback rate |
//! | tau | `tau` | least round trip ever, s |
//! | RTT of Eq. (1) | `rtt` | newest round trip, s |
//! | RTT of Eqs. (2) and (4) | `Round::mean` | mean round trip of a round, s, as Vegas has it |
//! | Diff | `diff` | segments in the queue: swnd (1 - tau / RTT) |
//! | alpha, beta | [`Thresholds`] | segments in the queue |
//!
//! A kernel can do it in integers: tau and the sum of a round in us, lwnd as whole segments and a count towards the next,
//! and for Diff < alpha its multiple swnd (RTT - tau) < alpha RTT. Nothing else is kept but ssthresh, dwnd and the latch.

mod variant;

pub use self::variant::{OnLoss, Thresholds, Variant};
use super::playback::Playback;
use super::{Acked, CongestionWindow, Start, avoidance, reduced, slow_start};
use crate::probe::{Probe, Visitor};
use crate::time::Time;
use crate::units::Seconds;

/// alpha without the ceiling: fewer segments in the queue let dwnd grow (Eq. (4), from Vegas).
const ALPHA: f64 = 2.0;
/// beta without the ceiling: more segments in the queue let dwnd shrink (Eq. (4), from Vegas).
const BETA: f64 = 4.0;

/// The window control of Oda, Hisamatsu and Noborio.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpStream {
    film: Playback,
    variant: Variant,
    lwnd: f64,
    dwnd: f64,
    ssthresh: f64,
    tau: Option<f64>,
    rtt: Option<f64>,
    round: Round,
    /// Whether lwnd has met its ceiling since the last loss.
    delay_on: bool,
    diff: Option<f64>,
}

/// The round trips of a round.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Round {
    sum: f64,
    samples: u32,
}

impl TcpStream {
    /// A window that has seen nothing yet.
    pub fn new(start: Start, film: Playback, variant: Variant) -> TcpStream {
        TcpStream {
            film,
            variant,
            lwnd: f64::from(start.iw),
            dwnd: 0.0,
            ssthresh: start.ssthresh,
            tau: None,
            rtt: None,
            round: Round::default(),
            delay_on: false,
            diff: None,
        }
    }

    /// Another film is played from now on, or its packets have become longer: the ceiling moves with the next acknowledgement.
    pub fn play(&mut self, film: Playback) {
        self.film = film;
    }

    /// A round trip was measured.
    pub fn sample(&mut self, rtt: Seconds) {
        self.tau = Some(self.tau.map_or(rtt.0, |tau| tau.min(rtt.0)));
        self.rtt = Some(rtt.0);
        self.round.sum += rtt.0;
        self.round.samples += 1;
    }

    /// The ceiling of the loss window, in segments, as the newest round trip has it.
    pub fn cap(&self) -> Option<u32> {
        self.rtt.map(|rtt| self.film.cap(Seconds(rtt)))
    }

    /// The send-out window, in segments.
    pub fn swnd(&self) -> f64 {
        self.lwnd + self.dwnd
    }

    /// Whether the delay window is at work.
    pub fn delay_on(&self) -> bool {
        self.delay_on
    }

    /// An acknowledgement of `newly` segments outside recovery, after its sample; `may_grow` unless the sender had less to
    /// send than it was let.
    pub fn acknowledge(&mut self, newly: u32, round_end: bool, may_grow: bool) {
        self.grow_lwnd(if may_grow { newly } else { 0 });
        if round_end {
            let round = core::mem::take(&mut self.round);
            if let (true, Some(tau), Some(rtt)) = (self.delay_on, self.tau, round.mean()) {
                self.adjust_dwnd(tau, rtt, may_grow);
            }
        }
    }

    /// Eq. (1).
    fn grow_lwnd(&mut self, newly: u32) {
        let more = if self.lwnd < self.ssthresh { slow_start(newly) } else { avoidance(newly, self.lwnd) };
        self.lwnd += more;
        if let Some(cap) = self.cap().map(f64::from) {
            self.lwnd = self.lwnd.min(cap);
            // A latch: a round trip that grows lifts the ceiling, which must not hold dwnd just when it should fall.
            self.delay_on |= self.lwnd >= cap;
        }
    }

    /// Eqs. (2) to (4).
    fn adjust_dwnd(&mut self, tau: f64, rtt: f64, may_grow: bool) {
        // Where nothing takes any time, nothing waits.
        let diff = if rtt > 0.0 { self.swnd() * (1.0 - tau / rtt) } else { 0.0 };
        self.diff = Some(diff);
        let base = match self.variant.thresholds {
            Thresholds::Paper => f64::from(self.film.cap(Seconds(rtt))),
            Thresholds::Vegas => 0.0,
        };
        if diff < ALPHA + base {
            self.dwnd += f64::from(u8::from(may_grow));
        } else if diff > BETA + base {
            self.dwnd = (self.dwnd - 1.0).max(0.0);
        }
    }

    /// A loss was found: half of the loss window is left.
    pub fn lose(&mut self) {
        // Deviation(RFC 5681 §3.1): half of lwnd, not of FlightSize, in which dwnd has a part that is not NewReno's.
        self.ssthresh = reduced(self.lwnd, 0.5);
        self.lwnd = self.ssthresh;
        self.dwnd = match self.variant.on_loss {
            // Deviation(TCP Stream §4): the paper says nothing of dwnd at a loss; kept, it collapses small queues.
            OnLoss::Reset => 0.0,
            OnLoss::Halve => self.dwnd / 2.0,
        };
        self.delay_on = false;
    }

    /// The timer expired: slow start, with tau as it was. `again` as [`CongestionWindow::on_timeout`] has it.
    pub fn expire(&mut self, again: bool) {
        if !again {
            self.ssthresh = reduced(self.lwnd, 0.5);
        }
        (self.lwnd, self.dwnd, self.delay_on) = (1.0, 0.0, false);
    }
}

impl Round {
    fn mean(self) -> Option<f64> {
        (self.samples > 0).then(|| self.sum / f64::from(self.samples))
    }
}

impl CongestionWindow for TcpStream {
    fn on_ack(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.sample(Seconds(rtt.as_secs_f64()));
        }
        self.acknowledge(acked.newly, acked.round_end, acked.window_limited);
    }

    fn on_repair_ack(&mut self, acked: &Acked, _lost: u32) {
        if let Some(rtt) = acked.rtt {
            self.sample(Seconds(rtt.as_secs_f64()));
        }
    }

    fn on_loss(&mut self, _now: Time, _flight: u32) {
        self.lose();
    }

    fn on_recovered(&mut self, _now: Time) {}

    fn on_timeout(&mut self, _now: Time, _flight: u32, again: bool) {
        self.expire(again);
    }

    fn cwnd(&self) -> f64 {
        self.swnd()
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

impl Probe for TcpStream {
    /// Shows `lwnd`, `dwnd`, `swnd`, `ssthresh`, `diff` and `cap` in segments, `delay_on` as 0 or 1, `tau` in seconds.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("lwnd", self.lwnd);
        visit("dwnd", self.dwnd);
        visit("swnd", self.swnd());
        visit("ssthresh", self.ssthresh);
        visit("delay_on", f64::from(u8::from(self.delay_on)));
        visit("diff", self.diff.unwrap_or(f64::NAN));
        visit("cap", self.cap().map_or(f64::NAN, f64::from));
        visit("tau", self.tau.unwrap_or(f64::NAN));
    }
}

#[cfg(test)]
mod tests;
