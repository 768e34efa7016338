//! The smoothed round-trip time (V. Paxson, M. Allman, J. Chu, M. Sargent, "Computing TCP's Retransmission Timer", RFC
//! 6298).
//!
//! | RFC 6298 §2 | here |
//! |---|---|
//! | SRTT, RTTVAR | [`Smoothed::srtt`], [`Smoothed::rttvar`] |
//! | alpha = 1/8, beta = 1/4 | in [`Smoothed::sample`] |
//!
//! In whole nanoseconds, rounded down: two runs are equal to the last bit. The caller derives its own timer.

use crate::time::Span;

/// The estimator of RFC 6298.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Smoothed {
    srtt: Option<Span>,
    rttvar: Span,
}

impl Smoothed {
    /// An estimator that starts with a round trip of `srtt` without variation; the default starts without an estimate.
    pub fn believing(srtt: Span) -> Smoothed {
        Smoothed { srtt: Some(srtt), rttvar: Span::ZERO }
    }

    /// Takes an unambiguous round-trip sample (Karn's rule, §3).
    pub fn sample(&mut self, rtt: Span) {
        let (srtt, rttvar) = match self.srtt {
            // §2.2.
            None => (rtt, rtt / 2),
            // §2.3.
            Some(srtt) => {
                let apart = srtt.saturating_sub(rtt) + rtt.saturating_sub(srtt);
                ((srtt * 7 + rtt) / 8, (self.rttvar * 3 + apart) / 4)
            }
        };
        (self.srtt, self.rttvar) = (Some(srtt), rttvar);
    }

    /// SRTT; none before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        self.srtt
    }

    /// RTTVAR: the smoothed deviation of the samples from SRTT.
    pub fn rttvar(&self) -> Span {
        self.rttvar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §2.2: SRTT = R, RTTVAR = R / 2. §2.3: RTTVAR = 3/4 40 + 1/4 |80 - 160| = 50, SRTT = 7/8 80 + 1/8 160 = 90.
    #[test]
    fn first_two_samples_follow_rfc_6298() {
        let mut rtt = Smoothed::default();
        assert_eq!(rtt.srtt(), None);
        rtt.sample(Span::from_millis(80));
        assert_eq!((rtt.srtt(), rtt.rttvar()), (Some(Span::from_millis(80)), Span::from_millis(40)));
        rtt.sample(Span::from_millis(160));
        assert_eq!((rtt.srtt(), rtt.rttvar()), (Some(Span::from_millis(90)), Span::from_millis(50)));
    }
}
