//! The retransmission timeout (V. Paxson, M. Allman, J. Chu, M. Sargent: *Computing TCP's Retransmission Timer*, RFC
//! 6298).
//!
//! | RFC 6298 | here |
//! |---|---|
//! | SRTT, RTTVAR | [`Smoothed`] |
//! | RTO | `rto` |
//! | G, the clock's granularity | nothing: the clock is exact |
//! | K = 4 (§2) | in `sample` |

use thalweg_core::rtt::Smoothed;
use thalweg_core::time::Span;

/// The bounds of a retransmission timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// The timeout before the first round-trip sample (§2.1).
    pub initial: Span,
    /// The minimum (§2.4: one second).
    // Deviation(RFC 6298 §2.4): a parameter, as systems of today use 0.2 s and the papers compare with those.
    pub least: Span,
    /// The maximum, at least a minute (§2.5).
    pub most: Span,
}

impl Default for Timeouts {
    /// 1 s, 0.2 s and 60 s.
    fn default() -> Timeouts {
        Timeouts { initial: Span::from_secs(1), least: Span::from_millis(200), most: Span::from_secs(60) }
    }
}

/// The round-trip estimator, and the timeout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rtt {
    timeouts: Timeouts,
    smoothed: Smoothed,
    rto: Span,
}

impl Rtt {
    pub(crate) fn new(timeouts: Timeouts) -> Rtt {
        Rtt { timeouts, smoothed: Smoothed::default(), rto: timeouts.initial }
    }

    /// Takes a sample of a segment that was sent once (Karn's rule, §3). A sample also ends a back-off (the note after
    /// 5.7).
    pub(crate) fn sample(&mut self, sample: Span) {
        self.smoothed.sample(sample);
        self.end_back_off();
    }

    /// Recomputes the timeout from the estimates.
    pub(crate) fn end_back_off(&mut self) {
        let Some(srtt) = self.smoothed.srtt() else { return };
        let rto = srtt + self.smoothed.rttvar() * 4;
        self.rto = rto.max(self.timeouts.least).min(self.timeouts.most);
    }

    /// Doubles the timeout when the timer has expired (§5.5).
    pub(crate) fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(self.timeouts.most);
    }

    pub(crate) fn srtt(&self) -> Option<Span> {
        self.smoothed.srtt()
    }

    pub(crate) fn rto(&self) -> Span {
        self.rto
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    #[test]
    fn the_estimator_is_that_of_the_rfc() {
        let mut rtt = Rtt::new(Timeouts { least: Span::ZERO, ..Timeouts::default() });
        assert_eq!(rtt.rto(), ms(1_000));
        // §2.2: SRTT = R, RTTVAR = R / 2, RTO = SRTT + 4 RTTVAR.
        rtt.sample(ms(80));
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(ms(80)), ms(240)));
        // §2.3: RTTVAR = 3/4 40 + 1/4 |80 - 160| = 50, SRTT = 7/8 80 + 1/8 160 = 90.
        rtt.sample(ms(160));
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(ms(90)), ms(290)));
    }

    #[test]
    fn a_timeout_doubles_until_a_sample_or_a_minute() {
        let mut rtt = Rtt::new(Timeouts::default());
        rtt.sample(ms(10));
        assert_eq!(rtt.rto(), ms(200), "the least");
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), ms(800));
        rtt.sample(ms(10));
        assert_eq!(rtt.rto(), ms(200));
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Span::from_secs(60));
    }
}
