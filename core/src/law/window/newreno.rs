//! NewReno: M. Allman, V. Paxson, E. Blanton, "TCP Congestion Control", RFC 5681, with the recovery of RFC 6582 or RFC
//! 6675 in the endpoint.
//!
//! | RFC 5681 | here |
//! |---|---|
//! | cwnd | `cwnd`, in segments (SMSS), with its fraction |
//! | ssthresh | `ssthresh`, in segments |
//! | FlightSize | `flight` |
//! | Eq. (2), min (N, SMSS) | `slow_start`: at most one segment for an acknowledgement, L = 1 of RFC 3465 |
//! | Eq. (3) | `avoidance`: 1/cwnd for each segment acknowledged, which is its byte-counting form (§3.1) |
//! | Eq. (4) | `reduced` |

use super::{Acked, Config, CongestionWindow, ParameterError, Start, avoidance, reduced, slow_start};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};
use crate::time::Time;

/// Slow start, congestion avoidance, and a window of half of FlightSize after a loss.
#[derive(Clone, PartialEq, Debug)]
pub struct NewReno {
    cwnd: f64,
    ssthresh: f64,
    counts_acks: bool,
}

impl NewReno {
    /// The initial window.
    pub fn new(start: Start) -> NewReno {
        NewReno { cwnd: f64::from(start.iw), ssthresh: start.ssthresh, counts_acks: false }
    }

    /// The law as in ns-2 and ns-3.37's TcpNewReno: Eq. (3) to the letter, 1/cwnd per acknowledgement, regardless of
    /// the number of segments it covers.
    pub fn counting_acks(self) -> NewReno {
        NewReno { counts_acks: true, ..self }
    }

    /// [`CongestionWindow::on_loss`] for a fractional FlightSize, as in a log of windows instead of packets.
    pub fn lose(&mut self, flight: f64) {
        self.ssthresh = reduced(flight, 0.5);
        // RFC 6582 §3.2 step 3, option 2: recovery ends with ssthresh.
        self.cwnd = self.ssthresh;
    }

    /// [`CongestionWindow::on_timeout`] for a fractional FlightSize.
    pub fn expire(&mut self, flight: f64, again: bool) {
        if !again {
            self.ssthresh = reduced(flight, 0.5);
        }
        // LW, the loss window (§3.1).
        self.cwnd = 1.0;
    }
}

impl CongestionWindow for NewReno {
    fn on_ack(&mut self, acked: &Acked) {
        if !acked.window_limited {
            return;
        }
        let newly = if self.counts_acks { acked.newly.min(1) } else { acked.newly };
        self.cwnd += if self.cwnd < self.ssthresh { slow_start(newly) } else { avoidance(newly, self.cwnd) };
    }

    fn on_loss(&mut self, _now: Time, flight: u32) {
        self.lose(f64::from(flight));
    }

    fn on_recovered(&mut self, _now: Time) {}

    fn on_timeout(&mut self, _now: Time, flight: u32, again: bool) {
        self.expire(f64::from(flight), again);
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

impl Entry<Config> for NewReno {
    const NAME: &'static str = "newreno";
    const ABOUT: &'static str = "as in RFC 5681";
    type Parameters = ();

    fn start(_parameters: &(), config: &Config) -> Result<NewReno, ParameterError> {
        Ok(NewReno::new(config.start))
    }
}

impl Probe for NewReno {
    /// Shows `cwnd` and `ssthresh`, in segments.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("cwnd", self.cwnd);
        visit("ssthresh", self.ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::Path;
    use super::*;

    #[test]
    fn avoidance_adds_one_segment_a_round_trip_at_any_ack_grouping() {
        for newly in [1, 2, 5] {
            let mut law = NewReno::new(Start { iw: 100, ssthresh: 2.0 });
            let acked = Acked {
                now: Time::ZERO,
                newly,
                flight: 100,
                rtt: None,
                srtt: None,
                round_end: false,
                window_limited: true,
            };
            (0..100 / newly).for_each(|_| law.on_ack(&acked));
            // sqrt(w^2 + 2 w) is the result of dw = 1/w over w acknowledgements: w + 1 - 1/(2w) + ...
            assert!((law.cwnd() - 101.0).abs() < 0.01, "{newly}: {}", law.cwnd());
        }
    }

    #[test]
    fn ack_counting_halves_growth_with_half_as_many_acknowledgements() {
        let mut law = NewReno::new(Start { iw: 100, ssthresh: 2.0 }).counting_acks();
        let acked = Acked {
            now: Time::ZERO,
            newly: 2,
            flight: 100,
            rtt: None,
            srtt: None,
            round_end: false,
            window_limited: true,
        };
        (0..50).for_each(|_| law.on_ack(&acked));
        assert!((law.cwnd() - 100.5).abs() < 0.01, "{}", law.cwnd());
    }

    #[test]
    fn an_acknowledgement_of_many_segments_adds_one_in_slow_start() {
        let mut path = Path::new(NewReno::new(Start::default()));
        let acked = Acked {
            now: Time::ZERO,
            newly: 8,
            flight: 10,
            rtt: None,
            srtt: None,
            round_end: false,
            window_limited: true,
        };
        path.law.on_ack(&acked);
        assert_eq!(path.law.cwnd(), 11.0);
    }

    #[test]
    fn loss_leaves_half_the_flight_size_and_at_least_two_segments() {
        for (window, flight, left) in [(64, 64, 32.0), (64, 40, 20.0), (5, 5, 2.5), (3, 3, 2.0)] {
            let mut law = NewReno::new(Start { iw: window, ..Start::default() });
            law.on_loss(Time::ZERO, flight);
            law.on_recovered(Time::ZERO);
            assert_eq!((law.cwnd(), law.ssthresh()), (left, left));
        }
    }

    #[test]
    fn the_mean_window_is_the_square_root_of_three_halves_over_p() {
        // Mathis, Semke, Mahdavi, Ott 1997: sqrt(3 / (2 p)); RFC 9438 Table 1 rounds it to 12, 38, 120 and 379.
        for (segments, mean) in [(1_000, 38.73), (10_000, 122.5), (100_000, 387.3)] {
            let mut path = Path::new(NewReno::new(Start { iw: 10, ssthresh: 10.0 }));
            let found = path.mean_window(segments, 20);
            assert!((found / mean - 1.0).abs() < 0.03, "p = 1/{segments}: {found}, not {mean}");
        }
    }
}
