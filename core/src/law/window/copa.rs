//! Copa: V. Arun, H. Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", USENIX NSDI 2018.
//!
//! The window moves towards the rate 1/(delta d_q), which trades throughput against delay and at which every flow has
//! 1/delta packets in the queue. The shorter the queueing delay, the higher the rate; no other signal counts, not even
//! loss, unless a buffer-filling flow shares the queue.
//!
//! | paper | here | |
//! |---|---|---|
//! | cwnd | `cwnd` | segments |
//! | delta | 1 / `Mode::packets` | §2.2: 0.5, or the result of AIMD beside a buffer-filling flow |
//! | RTTmin | `Delays::rtt_min` | minimum round trip of [`LONG`] (§2.1), at least [`SHORT`] |
//! | RTTstanding | `rtt_standing` | minimum round trip of srtt / 2: the standing queue, without ACK delays (§2.1) |
//! | d_q | `Delays::queueing` | Eq. (2): RTTstanding - RTTmin |
//! | lambda_t | in `steer` | Eq. (1): 1 / (delta d_q) |
//! | lambda | in `steer` | cwnd / RTTstanding, and with d_q the flow's packets in the queue, `Delays::waiting` |
//! | v, direction | `velocity` | §2.1, step 4 |
//! | default and competitive mode | `mode` | §2.2 |
//! | equilibrium | the tests | §3: a queue between 0 and 2.5 n / delta packets every five round trips |

mod drops;
mod mode;
#[cfg(test)]
mod tests;
mod velocity;

use self::drops::{Answer, Drops, Outcomes, Size};
pub use self::mode::PACKETS;
use self::mode::{Mode, Turn};
use self::velocity::{Direction, Velocity};
use super::{Acked, Config, CongestionWindow, ParameterError, Start, start};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::windowed_min::SlidingMin;

/// The time for which the minimum round trip is remembered (§2.1): a longer route is recognized after it.
pub const LONG: Span = Span::from_secs(10);
/// The lower bound of RTTmin.
// Deviation(Copa §2.1): no path counts as shorter. Below a millisecond the event loops of the hosts dominate: if they
// poll for packets every 300 us, a flow would take its own 200 us for a queue and leave most of the path empty.
pub const SHORT: Span = Span::from_millis(1);
/// The minimum of cwnd, in segments; the paper names none, its authors' implementation has this one.
const LEAST: f64 = 2.0;

/// The window control of Arun and Balakrishnan.
#[derive(Clone, PartialEq, Debug)]
pub struct Copa {
    cwnd: f64,
    ssthresh: f64,
    slow_start: bool,
    rtt_min: SlidingMin<Span>,
    rtt_standing: SlidingMin<Span>,
    delays: Option<Delays>,
    velocity: Velocity,
    mode: Mode,
    drops: Drops,
    trip: Option<RoundTrip>,
    /// cwnd before the withdrawal.
    withdrawn: Option<f64>,
    /// True if nothing was acknowledged since the last timeout.
    silent: bool,
}

/// The delays estimated from the round trips.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Delays {
    rtt_min: Span,
    rtt_standing: Span,
}

/// A round trip in progress; it ends with the acknowledgement of a segment that was sent after it began.
#[derive(Clone, Copy, PartialEq, Debug)]
struct RoundTrip {
    began: Time,
    cwnd: f64,
    outcomes: Outcomes,
    /// True while the window limits the sender all the time.
    is_full: bool,
}

impl RoundTrip {
    fn new(began: Time, cwnd: f64) -> RoundTrip {
        RoundTrip { began, cwnd, outcomes: Outcomes::default(), is_full: true }
    }
}

impl Delays {
    fn queueing(self) -> Span {
        self.rtt_standing.saturating_sub(self.rtt_min)
    }

    /// The packets of a window of `cwnd` that wait in the queue: lambda d_q, by Little's law.
    fn waiting(self, cwnd: f64) -> f64 {
        cwnd * self.queueing().as_secs_f64() / self.rtt_standing.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl Copa {
    /// The initial window.
    pub fn new(start: Start) -> Copa {
        Copa {
            cwnd: f64::from(start.iw),
            ssthresh: start.ssthresh,
            slow_start: true,
            rtt_min: SlidingMin::new(),
            rtt_standing: SlidingMin::new(),
            delays: None,
            velocity: Velocity::new(),
            mode: Mode::new(),
            drops: Drops::default(),
            trip: None,
            withdrawn: None,
            silent: false,
        }
    }

    /// True in the competitive mode (§2.2).
    pub fn competes(&self) -> bool {
        self.mode.competes()
    }

    fn sample(&mut self, now: Time, rtt: Span, srtt: Span) {
        let rtt_min = self.rtt_min.update(now, rtt, LONG).max(SHORT);
        let rtt_standing = self.rtt_standing.update(now, rtt, srtt / 2);
        let delays = Delays { rtt_min, rtt_standing };
        self.delays = Some(delays);
        self.mode.sample(now, rtt, rtt_min, srtt, Span::from_secs_f64(rtt_standing.as_secs_f64() / self.cwnd));
        let trip = *self.trip.get_or_insert(RoundTrip::new(now, self.cwnd));
        if now - rtt >= trip.began {
            self.end_round_trip(now, trip, delays);
            self.trip = Some(RoundTrip::new(now, self.cwnd));
        }
    }

    fn end_round_trip(&mut self, now: Time, trip: RoundTrip, delays: Delays) {
        self.velocity.end_round_trip(trip.cwnd, self.cwnd, self.cwnd / self.mode.packets());
        match self.mode.end_round_trip() {
            Turn::Stay => {}
            Turn::Withdraw => {
                self.withdrawn = Some(self.cwnd);
                self.cwnd = (self.cwnd - delays.waiting(self.cwnd)).max(LEAST);
            }
            Turn::Return => self.cwnd = self.withdrawn.take().unwrap_or(self.cwnd).max(self.cwnd),
        }
        // Deviation(Copa §2.1): on a path that delivers less than two thirds, the delivered part becomes the window
        // even without a queue, unless the smaller window loses the same part. The paper does not consider policers;
        // its authors' later code reacts to a loss of one tenth.
        let size = Size { cwnd: self.cwnd, slow_start: self.slow_start };
        match self.drops.end_round_trip(now, size, trip.outcomes, trip.is_full) {
            Answer::Stay => {}
            Answer::Cut(cwnd) => (self.cwnd, self.slow_start) = (cwnd.max(LEAST), false),
            Answer::Restore(before) => {
                (self.cwnd, self.slow_start) = (self.cwnd.max(before.cwnd), before.slow_start);
            }
        }
    }

    /// Moves cwnd towards the target (§2.1, step 3).
    fn steer(&mut self, newly: u32, window_limited: bool, delays: Delays) {
        let (packets, waiting) = (self.mode.packets(), delays.waiting(self.cwnd));
        // lambda <= lambda_t, with cwnd / RTTstanding for lambda and 1 / (delta d_q) for lambda_t.
        let below = waiting <= packets;
        if self.slow_start {
            if below && self.cwnd < self.ssthresh {
                // §2.1: cwnd doubles once per RTT until lambda exceeds lambda_t.
                self.cwnd += if window_limited { f64::from(newly) } else { 0.0 };
                return;
            }
            self.end_slow_start(below);
        }
        self.velocity.turn(if below { Direction::Up } else { Direction::Down });
        // Deviation(Copa §2.1): a round trip adds at most half of cwnd, and removes at most half of the packets beyond
        // the target. The effect is visible a round trip later, so the paper's unbounded velocity would oscillate ever
        // more widely.
        let most = 0.5 * if below { self.cwnd } else { waiting - packets } / packets;
        let step = self.velocity.get().min(most.max(1.0)) * packets * f64::from(newly) / self.cwnd;
        if !below {
            self.cwnd = (self.cwnd - step).max(LEAST);
        } else if window_limited && !self.drops.asks() {
            self.cwnd += step;
        }
    }

    fn end_slow_start(&mut self, below: bool) {
        if !below {
            // Deviation(Copa §2.1): back to the cwnd of a round trip ago, at which the packets that met the queue were
            // sent.
            self.cwnd = (self.cwnd / 2.0).max(LEAST);
        }
        self.slow_start = false;
        (self.velocity, self.mode, self.trip) = (Velocity::new(), Mode::new(), None);
    }
}

impl CongestionWindow for Copa {
    fn on_ack(&mut self, acked: &Acked) {
        self.on_repair_ack(acked, 0);
    }

    fn on_repair_ack(&mut self, acked: &Acked, lost: u32) {
        self.silent = false;
        if let Some(trip) = &mut self.trip {
            trip.outcomes.delivered += acked.newly;
            trip.outcomes.lost += lost;
            trip.is_full &= acked.window_limited;
        }
        if lost > 0 {
            self.mode.lose();
        }
        if let (Some(rtt), Some(srtt)) = (acked.rtt, acked.srtt) {
            self.sample(acked.now, rtt, srtt);
        }
        if let Some(delays) = self.delays {
            self.steer(acked.newly, acked.window_limited, delays);
        }
    }

    fn on_loss(&mut self, _now: Time, _flight: u32) {
        self.mode.lose();
    }

    fn on_recovered(&mut self, _now: Time) {}

    fn on_timeout(&mut self, now: Time, _flight: u32, _again: bool) {
        self.mode.lose();
        if self.silent {
            // Deviation(Copa §2.1): two timeouts without an acknowledgement between them are persistent congestion, as
            // in RFC 9002 §7.6, which then uses the minimum window. The paper does not mention timeouts. A path known
            // for heavy loss of its own loses all of a small window now and then: there the window is halved.
            let left = if self.drops.is_own(now) { self.cwnd / 2.0 } else { LEAST };
            (self.cwnd, self.slow_start) = (left.max(LEAST), true);
            self.drops.interrupt();
        }
        self.silent = true;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        if self.slow_start { self.ssthresh } else { self.cwnd }
    }

    fn gap(&self) -> Option<Span> {
        // §2.1: 2 cwnd / RTTstanding packets per second.
        // Deviation(Copa §2.1): half of that during the trial of a cut window. Of packets that arrive within half a
        // round trip a policer drops half, though it would pass all of them over a whole one.
        let pace = if self.drops.asks() { 1.0 } else { 2.0 };
        self.delays.map(|delays| Span::from_secs_f64(delays.rtt_standing.as_secs_f64() / (pace * self.cwnd)))
    }

    fn burst(&self) -> u32 {
        // Deviation(Copa §2.1): after idle an initial window may leave at once (RFC 6928), as on an unknown path, while
        // less than a packet waits. The paper paces everything; a burst of ten packets then takes a good part of a
        // round trip.
        let is_free = self.delays.is_some_and(|delays| delays.waiting(self.cwnd) < 1.0)
            && !self.mode.competes()
            && !self.drops.asks();
        if is_free { start::IW } else { 1 }
    }
}

impl Entry<Config> for Copa {
    const NAME: &'static str = "copa";
    const ABOUT: &'static str = "keeps the queue short; random loss does not slow it down";
    type Parameters = ();

    fn start(_parameters: &(), config: &Config) -> Result<Copa, ParameterError> {
        Ok(Copa::new(config.start))
    }
}

impl Probe for Copa {
    /// Shows `cwnd` in segments, `delta`, `v`, `competes` as 0 or 1; `rtt_min`, `rtt_standing` and `d_q` in seconds.
    fn probe(&self, visit: &mut Visitor<'_>) {
        let delay = |of: fn(Delays) -> Span| self.delays.map_or(f64::NAN, |delays| of(delays).as_secs_f64());
        visit("cwnd", self.cwnd);
        visit("ssthresh", self.ssthresh());
        visit("delta", 1.0 / self.mode.packets());
        visit("v", self.velocity.get());
        visit("competes", f64::from(u8::from(self.mode.competes())));
        visit("rtt_min", delay(|delays| delays.rtt_min));
        visit("rtt_standing", delay(|delays| delays.rtt_standing));
        visit("d_q", delay(Delays::queueing));
    }
}
