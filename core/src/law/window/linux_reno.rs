//! Reno as implemented by Linux since 2.6: RFC 5681 in whole segments.
//!
//! | Linux | here | |
//! |---|---|---|
//! | snd_cwnd | `snd_cwnd` | whole segments |
//! | snd_cwnd_cnt | `snd_cwnd_cnt` | segments acknowledged towards the next whole one |
//! | snd_ssthresh | `snd_ssthresh` | half of the window, not of FlightSize, rounded down; `u32::MAX` is infinite |
//! | tcp_slow_start | `slow_start` | every acknowledged segment counts, up to the threshold; then avoidance |
//! | tcp_cong_avoid_ai | `avoid` | one segment for each window acknowledged |
//!
//! Both Renos fill a path alike; with windows of a few segments the rounding matters, and loss differs.

use super::{Acked, Config, CongestionWindow, ParameterError, Start};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};
use crate::time::Time;

/// Linux's tcp_reno.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinuxReno {
    snd_cwnd: u32,
    snd_cwnd_cnt: u32,
    snd_ssthresh: u32,
    recovering: bool,
    is_count_kept: bool,
}

impl LinuxReno {
    /// The initial window; the fraction of a threshold is dropped.
    pub fn new(start: Start) -> LinuxReno {
        // `as` saturates: infinite becomes u32::MAX.
        LinuxReno {
            snd_cwnd: start.iw,
            snd_cwnd_cnt: 0,
            snd_ssthresh: start.ssthresh as u32,
            recovering: false,
            is_count_kept: false,
        }
    }

    /// The law as in ns-3.37's TcpLinuxReno: the count towards the next segment survives a loss, which adds half a
    /// segment to each window.
    pub fn keeping_count(self) -> LinuxReno {
        LinuxReno { is_count_kept: true, ..self }
    }

    fn in_slow_start(&self) -> bool {
        self.snd_cwnd < self.snd_ssthresh
    }

    /// Grows by as many of `acked` segments as are left up to the threshold, and returns the rest.
    fn slow_start(&mut self, acked: u32) -> u32 {
        let taken = acked.min(self.snd_ssthresh - self.snd_cwnd);
        self.snd_cwnd += taken;
        acked - taken
    }

    /// Adds one segment for each `snd_cwnd` segments acknowledged.
    fn avoid(&mut self, acked: u32) {
        // A count reached under a larger window is worth one segment of a smaller one, not several.
        if self.snd_cwnd_cnt >= self.snd_cwnd {
            self.snd_cwnd_cnt = 0;
            self.snd_cwnd += 1;
        }
        let gathered = self.snd_cwnd_cnt + acked;
        self.snd_cwnd_cnt = gathered % self.snd_cwnd;
        self.snd_cwnd += gathered / self.snd_cwnd;
    }

    fn forget_count(&mut self) {
        if !self.is_count_kept {
            self.snd_cwnd_cnt = 0;
        }
    }

    fn halve(&mut self) {
        self.snd_ssthresh = (self.snd_cwnd / 2).max(2);
    }
}

impl CongestionWindow for LinuxReno {
    fn on_ack(&mut self, acked: &Acked) {
        // Deviation(Linux tcp_is_cwnd_limited): in slow start the kernel lets a window grow to twice the part that was
        // used.
        if !acked.window_limited {
            return;
        }
        let left = if self.in_slow_start() { self.slow_start(acked.newly) } else { acked.newly };
        if left > 0 {
            self.avoid(left);
        }
    }

    fn on_loss(&mut self, _now: Time, _flight: u32) {
        self.halve();
        self.snd_cwnd = self.snd_ssthresh;
        self.forget_count();
        self.recovering = true;
    }

    fn on_recovered(&mut self, _now: Time) {
        self.recovering = false;
    }

    fn on_timeout(&mut self, _now: Time, _flight: u32, again: bool) {
        // A recovery that times out has already reduced the window for its losses.
        if !(again || self.recovering) {
            self.halve();
        }
        self.snd_cwnd = 1;
        self.forget_count();
        self.recovering = false;
    }

    fn cwnd(&self) -> f64 {
        f64::from(self.snd_cwnd)
    }

    fn ssthresh(&self) -> f64 {
        if self.snd_ssthresh == u32::MAX { f64::INFINITY } else { f64::from(self.snd_ssthresh) }
    }
}

impl Entry<Config> for LinuxReno {
    const NAME: &'static str = "linux-reno";
    const ABOUT: &'static str = "Reno as in Linux";
    type Parameters = ();

    fn start(_parameters: &(), config: &Config) -> Result<LinuxReno, ParameterError> {
        Ok(LinuxReno::new(config.start))
    }
}

impl Probe for LinuxReno {
    /// Shows `cwnd`, `ssthresh` and `snd_cwnd_cnt`, in segments.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("cwnd", self.cwnd());
        visit("ssthresh", self.ssthresh());
        visit("snd_cwnd_cnt", f64::from(self.snd_cwnd_cnt));
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::Path;
    use super::*;

    fn acked(newly: u32) -> Acked {
        Acked { now: Time::ZERO, newly, flight: 0, rtt: None, srtt: None, round_end: false, window_limited: true }
    }

    #[test]
    fn avoidance_waits_for_a_whole_window_and_then_adds_a_whole_segment() {
        let mut law = LinuxReno::new(Start { iw: 10, ssthresh: 2.0 });
        for _ in 0..9 {
            law.on_ack(&acked(1));
            assert_eq!(law.cwnd(), 10.0);
        }
        law.on_ack(&acked(1));
        assert_eq!(law.cwnd(), 11.0);
        // 11 and 12 segments more, in acknowledgements of any size.
        law.on_ack(&acked(22));
        assert_eq!(law.cwnd(), 13.0);
    }

    #[test]
    fn slow_start_counts_every_segment_and_passes_the_rest_to_avoidance() {
        let mut law = LinuxReno::new(Start { iw: 10, ssthresh: 16.0 });
        law.on_ack(&acked(4));
        assert_eq!(law.cwnd(), 14.0);
        // Two up to the threshold, sixteen for one segment more.
        law.on_ack(&acked(18));
        assert_eq!(law.cwnd(), 17.0);
    }

    #[test]
    fn threshold_is_half_the_window_regardless_of_flight_size() {
        for (window, flight, left) in [(64, 10, 32.0), (65, 65, 32.0), (3, 3, 2.0)] {
            let mut law = LinuxReno::new(Start { iw: window, ..Start::default() });
            law.on_loss(Time::ZERO, flight);
            assert_eq!((law.cwnd(), law.ssthresh()), (left, left));
        }
    }

    #[test]
    fn loss_resets_the_count_of_acknowledged_segments() {
        let mut law = LinuxReno::new(Start { iw: 10, ssthresh: 2.0 });
        law.on_ack(&acked(9));
        law.on_loss(Time::ZERO, 10);
        law.on_recovered(Time::ZERO);
        (0..4).for_each(|_| law.on_ack(&acked(1)));
        assert_eq!(law.cwnd(), 5.0);
        law.on_ack(&acked(1));
        assert_eq!(law.cwnd(), 6.0);
    }

    #[test]
    fn a_timeout_within_recovery_keeps_the_threshold() {
        let mut law = LinuxReno::new(Start { iw: 64, ..Start::default() });
        law.on_loss(Time::ZERO, 64);
        law.on_timeout(Time::ZERO, 32, false);
        assert_eq!((law.cwnd(), law.ssthresh()), (1.0, 32.0));
        law.on_timeout(Time::ZERO, 1, false);
        assert_eq!((law.cwnd(), law.ssthresh()), (1.0, 2.0));
    }

    #[test]
    fn the_mean_window_is_that_of_a_sawtooth_of_whole_segments() {
        // From W/2 to W, W segments for each step: 3/8 W^2 + 3/4 W segments per cycle of W/2 + 1 rounds.
        for (segments, mean) in [(1_000_u32, 38.73), (10_000, 122.5)] {
            let mut path = Path::new(LinuxReno::new(Start { iw: 10, ssthresh: 10.0 }));
            let found = path.mean_window(segments, 20);
            assert!((found / mean - 1.0).abs() < 0.04, "p = 1/{segments}: {found}, not {mean}");
        }
    }
}
