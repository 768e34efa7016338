//! TCP Stream: H. Oda, H. Hisamatsu, H. Noborio, "Design, Implementation and Evaluation of Congestion Control Mechanism
//! for Video Streaming".
//!
//! Two windows are added. The loss window is NewReno's, up to a ceiling at the playback rate: the bandwidth that the
//! video needs is taken as any TCP would take it. The delay window is Vegas's: additional bandwidth is taken if it is
//! unused.
//!
//! | paper §4, Table 1 | here | |
//! |---|---|---|
//! | lwnd | `lwnd` | loss window, segments, with its fraction |
//! | dwnd | `dwnd` | delay window, segments; whole unless a loss halves it |
//! | swnd | `swnd` | send-out window, lwnd + dwnd |
//! | ceil(Rate RTT / MSS) | [`Playback::cap`] | segments of one round trip at the playback rate |
//! | tau | `tau` | minimum of all round trips, s |
//! | RTT of Eq. (1) | `rtt` | newest round trip, s |
//! | RTT of Eqs. (2) and (4) | `Round::mean` | mean round trip of a round, s, as in Vegas |
//! | Diff | `diff` | segments in the queue: swnd (1 - tau / RTT) |
//! | alpha, beta | [`Thresholds`] | segments in the queue |
//!
//! A kernel can compute it in integers: tau and the sum of a round in us, lwnd as whole segments and a count towards
//! the next, and for Diff < alpha its multiple swnd (RTT - tau) < alpha RTT. The other state is ssthresh, dwnd and the
//! latch.

mod variant;

pub use self::variant::{OnLoss, Thresholds, Variant};
use super::playback::Playback;
use super::{Acked, Config, CongestionWindow, ParameterError, Start, avoidance, reduced, slow_start};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};
use crate::time::Time;
use crate::units::Seconds;

/// alpha without the ceiling: with fewer segments in the queue dwnd grows (Eq. (4), from Vegas).
const ALPHA: f64 = 2.0;
/// beta without the ceiling: with more segments in the queue dwnd shrinks (Eq. (4), from Vegas).
const BETA: f64 = 4.0;

/// The window control of Oda, Hisamatsu and Noborio.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpStream {
    playback: Playback,
    variant: Variant,
    lwnd: f64,
    dwnd: f64,
    ssthresh: f64,
    tau: Option<f64>,
    rtt: Option<f64>,
    round: Round,
    /// True if lwnd has reached its ceiling since the last loss.
    delay_on: bool,
    diff: Option<f64>,
}

/// The round-trip samples of a round.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Round {
    sum: f64,
    samples: u32,
}

impl TcpStream {
    /// The initial window.
    pub fn new(start: Start, playback: Playback, variant: Variant) -> TcpStream {
        TcpStream {
            playback,
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

    /// Changes the video or the size of its packets: the ceiling moves with the next acknowledgement.
    pub fn play(&mut self, playback: Playback) {
        self.playback = playback;
    }

    /// Takes a round-trip sample.
    pub fn sample(&mut self, rtt: Seconds) {
        self.tau = Some(self.tau.map_or(rtt.0, |tau| tau.min(rtt.0)));
        self.rtt = Some(rtt.0);
        self.round.sum += rtt.0;
        self.round.samples += 1;
    }

    /// The ceiling of the loss window, in segments, from the newest round trip.
    pub fn cap(&self) -> Option<u32> {
        self.rtt.map(|rtt| self.playback.cap(Seconds(rtt)))
    }

    /// The send-out window, in segments.
    pub fn swnd(&self) -> f64 {
        self.lwnd + self.dwnd
    }

    /// True if the delay window is active.
    pub fn delay_on(&self) -> bool {
        self.delay_on
    }

    /// Takes an acknowledgement of `newly` segments outside recovery, after its sample; `may_grow` is true if the
    /// window held the sender back.
    // Reading(TCP Stream §4): the paper's video always has data to send. A window that did not limit the sender does not
    // grow, as in RFC 9002 §7.8 and RFC 9438 §5.8, but Eq. (1) lowers lwnd and Eq. (3) lowers dwnd all the same.
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
            // Reading(TCP Stream §4): the paper starts the delay part "when the loss window size equals" the ceiling.
            // Here that is a latch, until a loss: a growing round trip raises the ceiling above lwnd, which must not
            // block dwnd just when it should shrink.
            self.delay_on |= self.lwnd >= cap;
        }
    }

    /// Eqs. (2) to (4).
    fn adjust_dwnd(&mut self, tau: f64, rtt: f64, may_grow: bool) {
        // Without any delay there is no queue.
        let diff = if rtt > 0.0 { self.swnd() * (1.0 - tau / rtt) } else { 0.0 };
        self.diff = Some(diff);
        let base = match self.variant.thresholds {
            Thresholds::Paper => f64::from(self.playback.cap(Seconds(rtt))),
            Thresholds::Vegas => 0.0,
        };
        if diff < ALPHA + base {
            self.dwnd += f64::from(u8::from(may_grow));
        } else if diff > BETA + base {
            self.dwnd = (self.dwnd - 1.0).max(0.0);
        }
    }

    /// Takes a loss: the loss window is halved.
    pub fn lose(&mut self) {
        // Deviation(RFC 5681 §3.1): half of lwnd, not of FlightSize, which contains dwnd's segments, too.
        self.ssthresh = reduced(self.lwnd, 0.5);
        self.lwnd = self.ssthresh;
        self.dwnd = match self.variant.on_loss {
            // Reading(TCP Stream §4): the paper does not say what a loss does to dwnd; kept, it would overflow small
            // queues.
            OnLoss::Reset => 0.0,
            OnLoss::Halve => self.dwnd / 2.0,
        };
        self.delay_on = false;
    }

    /// Takes a timeout: slow start, with tau unchanged. `again` as in [`CongestionWindow::on_timeout`].
    pub fn expire(&mut self, again: bool) {
        if !again {
            self.ssthresh = reduced(self.lwnd, 0.5);
        }
        // Reading(TCP Stream §2): "the congestion window size is decreased to one"; that is all of swnd, so dwnd is 0
        // in every variant, and begins again only once lwnd has reached its ceiling.
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

impl Entry<Config> for TcpStream {
    const NAME: &'static str = "tcp-stream";
    const ABOUT: &'static str = "a loss window up to the playback rate of a video, and a delay window for the rest";
    const NEEDS_PLAYBACK: bool = true;
    type Parameters = Variant;

    fn start(variant: &Variant, config: &Config) -> Result<TcpStream, ParameterError> {
        Ok(TcpStream::new(config.start, config.video()?, *variant))
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
