//! A plain clamp: M. Ghobadi, Y. Cheng, A. Jain, M. Mathis, "Trickle: Rate Limiting YouTube Video Streaming", USENIX
//! ATC 2012.
//!
//! NewReno's window, bounded by the needs of one smoothed round trip at the playback rate. It neither fills a buffer
//! ahead of need nor catches up after a loss.
//!
//! | Trickle §3 | here |
//! |---|---|
//! | upper bound of cwnd, R RTT | `playback.cap(srtt)` |
//! | target rate R | `playback.rate`, the playback rate itself: Trickle's R is a quarter higher |

use super::newreno::NewReno;
use super::playback::Playback;
use super::{Acked, Config, CongestionWindow, ParameterError, Start};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};
use crate::time::Time;
use crate::units::Seconds;

/// NewReno below an upper bound.
#[derive(Clone, PartialEq, Debug)]
pub struct Clamp {
    inner: NewReno,
    playback: Playback,
    /// The upper bound; none until a round trip is known.
    cap: Option<u32>,
}

impl Clamp {
    /// The initial window.
    pub fn new(start: Start, playback: Playback) -> Clamp {
        Clamp { inner: NewReno::new(start), playback, cap: None }
    }
}

impl CongestionWindow for Clamp {
    fn on_ack(&mut self, acked: &Acked) {
        if let Some(srtt) = acked.srtt {
            self.cap = Some(self.playback.cap(Seconds(srtt.as_secs_f64())));
        }
        // A window at its upper bound does not grow.
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

impl Entry<Config> for Clamp {
    const NAME: &'static str = "clamp";
    const ABOUT: &'static str = "NewReno below the playback rate of a video";
    const NEEDS_PLAYBACK: bool = true;
    type Parameters = ();

    fn start(_parameters: &(), config: &Config) -> Result<Clamp, ParameterError> {
        Ok(Clamp::new(config.start, config.video()?))
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
    use super::super::path::Path;
    use super::*;

    #[test]
    fn window_is_newrenos_up_to_the_playback_rate() {
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
