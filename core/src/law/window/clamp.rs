//! A plain clamp: M. Ghobadi, Y. Cheng, A. Jain, M. Mathis, "Trickle: Rate Limiting YouTube Video Streaming", USENIX ATC
//! 2012.
//!
//! NewReno's window, never above what one smoothed round trip needs at the playback rate. It neither fills a buffer ahead
//! of need nor catches up after a loss.
//!
//! | Trickle §3 | here |
//! |---|---|
//! | upper bound of cwnd, R RTT | `film.cap(srtt)` |
//! | target rate R | `film.rate`, the playback rate itself: Trickle's R has a quarter more |

use super::newreno::NewReno;
use super::playback::Playback;
use super::{Acked, CongestionWindow, Start};
use crate::probe::{Probe, Visitor};
use crate::time::Time;
use crate::units::Seconds;

/// NewReno below a ceiling.
#[derive(Clone, PartialEq, Debug)]
pub struct Clamp {
    inner: NewReno,
    film: Playback,
    /// None until a round trip is known.
    cap: Option<u32>,
}

impl Clamp {
    /// A window that has seen nothing yet.
    pub fn new(start: Start, film: Playback) -> Clamp {
        Clamp { inner: NewReno::new(start), film, cap: None }
    }
}

impl CongestionWindow for Clamp {
    fn on_ack(&mut self, acked: &Acked) {
        if let Some(srtt) = acked.srtt {
            self.cap = Some(self.film.cap(Seconds(srtt.as_secs_f64())));
        }
        // A window at its ceiling is not on its way up.
        let is_below = self.cap.is_none_or(|cap| self.inner.cwnd() < f64::from(cap));
        self.inner.on_ack(&Acked { window_limited: acked.window_limited && is_below, ..*acked });
    }

    fn on_loss(&mut self, now: Time, flight: u32) {
        self.inner.on_loss(now, flight);
    }

    fn on_recovered(&mut self, now: Time) {
        self.inner.on_recovered(now);
    }

    fn on_timeout(&mut self, now: Time, flight: u32, again: bool) {
        self.inner.on_timeout(now, flight, again);
    }

    fn cwnd(&self) -> f64 {
        let cwnd = self.inner.cwnd();
        self.cap.map_or(cwnd, |cap| cwnd.min(f64::from(cap)))
    }

    fn ssthresh(&self) -> f64 {
        self.inner.ssthresh()
    }
}

impl Probe for Clamp {
    /// Shows `cwnd`, `ssthresh` and `cap`, in segments.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("cwnd", self.cwnd());
        visit("ssthresh", self.ssthresh());
        visit("cap", self.cap.map_or(f64::NAN, f64::from));
    }
}

#[cfg(test)]
mod tests {
    use super::super::toy::Path;
    use super::*;

    #[test]
    fn the_window_ends_at_the_playback_rate_and_is_newrenos_below() {
        let mut path = Path::new(Clamp::new(Start { iw: 2, ..Start::default() }, Playback::default()));
        for window in [2.0, 4.0, 8.0, 16.0, 30.0, 30.0] {
            assert_eq!(path.law.cwnd(), window);
            path.round();
        }
        // 30 packets in 0.1 s are 3.6 Mb/s.
        path.lose();
        assert_eq!((path.law.cwnd(), path.law.ssthresh()), (15.0, 15.0));
        (0..40).for_each(|_| path.round());
        assert_eq!(path.law.cwnd(), 30.0);
    }
}
