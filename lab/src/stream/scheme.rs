//! Protection schemes of a stream: GENEVA and its baselines (§2.2, §4.1).

use thalweg_core::law::redundancy::{Interval, Law, ParameterError, Redundancy, none};
use thalweg_core::units::{Rate, Seconds};

use crate::own;

/// The protection scheme of a stream.
#[derive(Clone, PartialEq, Debug)]
pub enum Scheme {
    /// Blocks, with repair by a law before its first report. If its window depends on blocks, their shape follows from
    /// the stream.
    Blocks(Law),
    /// Plain UDP: each source packet leaves when it is produced.
    Udp,
    /// Packets at this rate on the wire instead of the media's, each sent when it is produced.
    Cbr(Rate),
    /// Blocks, with repair by a law of one's own.
    Own(own::Repair),
}

impl Scheme {
    /// Blocks with repair by `law`.
    pub fn blocks(law: impl Into<Law>) -> Scheme {
        Scheme::Blocks(law.into())
    }

    /// True if packets leave in blocks, rather than one by one.
    pub fn has_blocks(&self) -> bool {
        matches!(self, Scheme::Blocks(_) | Scheme::Own(_))
    }

    /// The law for blocks of `k` packets every `syn`.
    pub(super) fn law(&self, k: f64, syn: Seconds) -> Result<Law, ParameterError> {
        let mut law = match self {
            Scheme::Blocks(law) => law.clone(),
            Scheme::Udp | Scheme::Cbr(_) => return Ok(none::None.into()),
            Scheme::Own(own) => {
                return Err(ParameterError::Refused(format!("'{}' runs in an experiment alone", own.name())));
            }
        };
        if let Some(interval) = law.interval() {
            law.set_interval(Interval { k, syn, ..interval })?;
        }
        Ok(law)
    }

    /// The largest window that its law may open, if its windows differ at all and the law has such bounds.
    pub(super) fn widest(&self) -> Option<u32> {
        Some(self.most()).filter(|most| *most > self.least())
    }

    /// The minimum number of repair packets in a block; 0 for a law of one's own.
    pub(crate) fn least(&self) -> u32 {
        self.bounds().0 as u32
    }

    /// The maximum number of repair packets in a block; 0 for a law of one's own, which has what the block leaves it.
    pub(crate) fn most(&self) -> u32 {
        self.bounds().1 as u32
    }

    fn bounds(&self) -> (f64, f64) {
        if let Scheme::Blocks(law) = self { law.bounds() } else { (0.0, 0.0) }
    }
}
