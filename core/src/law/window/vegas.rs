//! Vegas: L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8),
//! 1995, evaluated once per round trip as in Linux.
//!
//! The window keeps a few segments in the queue of the path, measured by their effect on the round trip, and grows or
//! shrinks by one per round trip. It needs no loss; on a loss it behaves like Reno.
//!
//! | paper §III | here | |
//! |---|---|---|
//! | BaseRTT | `base_rtt` | minimum of all round trips |
//! | RTT | `min_rtt` | minimum round trip of the round |
//! | WindowSize | `cwnd` | segments |
//! | Diff = Expected - Actual | `diff` | times BaseRTT: cwnd (1 - BaseRTT / RTT), the segments in the queue |
//! | alpha, beta, gamma | [`ALPHA`], [`BETA`], [`GAMMA`] | segments in the queue |

use super::{Acked, Config, CongestionWindow, ParameterError, Start, avoidance, reduced, slow_start};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};

/// With fewer segments in the queue the window grows.
pub const ALPHA: f64 = 2.0;
/// With more segments in the queue the window shrinks.
pub const BETA: f64 = 4.0;
/// With more segments in the queue slow start ends.
pub const GAMMA: f64 = 1.0;
/// The minimum number of samples: fewer may all be of delayed acknowledgements (Linux).
const SAMPLES: u32 = 3;

/// The window control of Brakmo and Peterson.
#[derive(Clone, PartialEq, Debug)]
pub struct Vegas {
    cwnd: f64,
    ssthresh: f64,
    base_rtt: Option<Span>,
    /// The minimum of the current round; none before its first sample.
    min_rtt: Option<Span>,
    samples: u32,
    diff: Option<f64>,
    /// True if the last round had too few samples, so that this one follows Reno.
    reno: bool,
    /// True if slow start grows in this round; every other round it is constant, to compare rates (§III-C).
    grows: bool,
}

impl Vegas {
    /// The initial window.
    pub fn new(start: Start) -> Vegas {
        Vegas {
            cwnd: f64::from(start.iw),
            ssthresh: start.ssthresh,
            base_rtt: None,
            min_rtt: None,
            samples: 0,
            diff: None,
            reno: true,
            grows: false,
        }
    }

    fn sample(&mut self, rtt: Span) {
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |least| least.min(rtt)));
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
    }

    /// Restarts after a loss: the first round would measure a queue that is gone.
    fn begin_anew(&mut self) {
        self.forget_round();
        self.reno = true;
    }

    fn forget_round(&mut self) {
        (self.min_rtt, self.samples) = (None, 0);
    }

    /// Adjusts the window by the round that ends now, which has enough samples.
    fn decide(&mut self, base: Span, rtt: Span) {
        let ratio = base.as_secs_f64() / rtt.as_secs_f64().max(f64::MIN_POSITIVE);
        let diff = self.cwnd * (1.0 - ratio);
        self.diff = Some(diff);
        if self.cwnd < self.ssthresh {
            if diff > GAMMA {
                // Down to the capacity of the path, and one segment for the queue (Linux).
                self.settle(self.cwnd.min(self.cwnd * ratio + 1.0));
            }
        } else if diff > BETA {
            self.settle(self.cwnd - 1.0);
        } else if diff < ALPHA {
            self.cwnd += 1.0;
        }
    }

    /// Reduces the window to `cwnd`, and prevents slow start from growing it back.
    fn settle(&mut self, cwnd: f64) {
        self.cwnd = cwnd.max(2.0);
        self.ssthresh = self.ssthresh.min(self.cwnd);
    }
}

impl CongestionWindow for Vegas {
    fn on_ack(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.sample(rtt);
        }
        let enough = self.samples >= SAMPLES;
        if acked.round_end {
            if let (true, true, Some(base), Some(rtt)) = (enough, acked.window_limited, self.base_rtt, self.min_rtt) {
                self.decide(base, rtt);
            }
            self.reno = !enough;
            self.grows = !self.grows;
            self.forget_round();
        }
        if !acked.window_limited {
            return;
        }
        if self.cwnd < self.ssthresh {
            if self.reno || self.grows {
                self.cwnd += slow_start(acked.newly);
            }
        } else if self.reno {
            self.cwnd += avoidance(acked.newly, self.cwnd);
        }
    }

    fn on_loss(&mut self, _now: Time, flight: u32) {
        // Deviation(Vegas §III-B): the paper detects losses by its own timers and reduces the window less; here the
        // endpoint detects them, and the window is halved as in RFC 5681 and in Linux.
        self.ssthresh = reduced(f64::from(flight), 0.5);
        self.cwnd = self.ssthresh;
        self.begin_anew();
    }

    fn on_recovered(&mut self, _now: Time) {
        self.begin_anew();
    }

    fn on_timeout(&mut self, _now: Time, flight: u32, again: bool) {
        if !again {
            self.ssthresh = reduced(f64::from(flight), 0.5);
        }
        self.cwnd = 1.0;
        self.begin_anew();
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

impl Entry<Config> for Vegas {
    const NAME: &'static str = "vegas";
    const ABOUT: &'static str = "keeps a few packets in the queue";
    type Parameters = ();

    fn start(_parameters: &(), config: &Config) -> Result<Vegas, ParameterError> {
        Ok(Vegas::new(config.start))
    }
}

impl Probe for Vegas {
    /// Shows `cwnd`, `ssthresh`, `diff` in segments and `base_rtt` in seconds.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("cwnd", self.cwnd);
        visit("ssthresh", self.ssthresh);
        visit("diff", self.diff.unwrap_or(f64::NAN));
        visit("base_rtt", self.base_rtt.map_or(f64::NAN, Span::as_secs_f64));
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::{Path, shown};
    use super::*;

    /// A path of 100 ms that holds `bdp` segments.
    fn path(bdp: f64, start: Start) -> Path<Vegas> {
        let mut path = Path::new(Vegas::new(start));
        path.capacity = bdp / path.rtt.as_secs_f64();
        path
    }

    #[test]
    fn queue_settles_between_alpha_and_beta_segments() {
        // From far below, from within, and from far above.
        for iw in [2, 52, 90] {
            let mut path = path(50.0, Start { iw, ssthresh: 2.0 });
            // The flow has seen the empty path once.
            path.law.base_rtt = Some(path.rtt);
            (0..100).for_each(|_| path.round());
            for _ in 0..50 {
                path.round();
                assert!((ALPHA..=BETA).contains(&path.queue()), "{} in the queue", path.queue());
                assert!((shown(&path.law, "diff") - path.queue()).abs() < 0.5);
            }
        }
    }

    #[test]
    fn slow_start_doubles_every_other_round_and_ends_when_a_queue_builds() {
        let mut path = path(100.0, Start { iw: 4, ..Start::default() });
        let mut windows = Vec::new();
        for _ in 0..6 {
            path.round();
            windows.push(path.law.cwnd());
        }
        // Each round that doubles is followed by a constant one.
        assert!(windows.windows(3).all(|three| three[2] == 2.0 * three[0]), "{windows:?}");
        (0..30).for_each(|_| path.round());
        assert!(path.law.ssthresh() < f64::INFINITY && path.law.cwnd() >= path.law.ssthresh());
        // It ends between the window that filled the path and twice that, and removes the waiting segments.
        assert!((100.0..=105.0).contains(&path.law.cwnd()), "{}", path.law.cwnd());
    }

    #[test]
    fn round_with_two_samples_grows_like_reno() {
        let mut law = Vegas::new(Start { iw: 2, ssthresh: 2.0 });
        let (base, now) = (Span::from_millis(100), Time::ZERO);
        let mut acked =
            Acked { now, newly: 1, flight: 2, rtt: Some(base), srtt: None, round_end: true, window_limited: true };
        law.on_ack(&acked);
        // A queue that would let Vegas shrink if there were enough samples.
        acked.rtt = Some(base * 10);
        for round_end in [false, true, false, true] {
            acked.round_end = round_end;
            let before = law.cwnd();
            law.on_ack(&acked);
            assert_eq!(law.cwnd(), before + 1.0 / before);
        }
    }

    #[test]
    fn the_window_never_shrinks_below_two() {
        let mut path = path(1.0, Start { iw: 8, ssthresh: 2.0 });
        path.law.base_rtt = Some(path.rtt / 100);
        for _ in 0..200 {
            path.round();
            assert!(path.law.cwnd() >= 2.0);
        }
    }

    #[test]
    fn loss_halves_the_window_and_discards_the_samples_of_the_round() {
        let mut path = path(50.0, Start { iw: 64, ssthresh: 2.0 });
        (0..2).for_each(|_| path.round());
        let flight = path.flight();
        path.lose();
        assert_eq!(path.law.cwnd(), f64::from(flight) / 2.0);
        assert!(path.law.min_rtt.is_none() && path.law.reno);
    }
}
