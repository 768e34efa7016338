//! Times of IEEE Std 802.11-2016: clause 18 (ERP) for OFDM in the 2.4 GHz band, clauses 15 and 16 for DSSS and CCK.
//!
//! | | value | clause |
//! |---|---|---|
//! | aSlotTime | 20 us (long), 9 us (short) | 18.4.5, Table 18-5 |
//! | aSIFSTime | 10 us | 18.4.5, Table 18-5 |
//! | DIFS | SIFS + 2 slots | 10.3.2.3.5 |
//! | EIFS | SIFS + acknowledgement at the lowest rate + DIFS | 10.3.2.3.7 |
//! | OFDM frame | 20 us + 4 us a symbol of 16 + 8 L + 6 bits + 6 us of signal extension | 17.4.3, 18.5.3 |
//! | DSSS and CCK frame, long preamble | 192 us + 8 L / rate | 15.2.2, 16.3.4 |

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

/// The short interframe space.
pub(super) const SIFS: Span = Span::from_micros(10);
/// Bytes of a data frame besides the IP packet: MAC header 24, LLC and SNAP 8, frame check sequence 4 (9.2, 9.3.2.1).
pub const OVERHEAD: Bytes = Bytes(36);
/// Bytes of an acknowledgement (9.3.1.4).
const ACKNOWLEDGEMENT: Bytes = Bytes(14);

/// Preamble and SIGNAL field of an OFDM frame, and the signal extension behind it.
const OFDM_HEADER: Span = Span::from_micros(20);
const SIGNAL_EXTENSION: Span = Span::from_micros(6);
const SYMBOL: Span = Span::from_micros(4);
/// SERVICE field and tail of an OFDM frame, in bits.
const SERVICE_AND_TAIL: u64 = 16 + 6;
/// Long preamble and header of a DSSS or CCK frame.
const DSSS_HEADER: Span = Span::from_micros(192);

/// The slot time of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// 20 us: the cell may have stations without OFDM.
    Long,
    /// 9 us: all stations have OFDM.
    Short,
}

/// The times of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Timing {
    pub(super) slot: Span,
    pub(super) difs: Span,
    pub(super) eifs: Span,
}

impl Timing {
    pub(super) fn of(slot: Slot) -> Timing {
        // The lowest rate is that of DSSS where the cell may have it.
        let (slot, lowest) = match slot {
            Slot::Long => (Span::from_micros(20), PhyRate::DSSS_1),
            Slot::Short => (Span::from_micros(9), PhyRate::OFDM_6),
        };
        let difs = SIFS + slot * 2;
        Timing { slot, difs, eifs: SIFS + lowest.airtime(ACKNOWLEDGEMENT) + difs }
    }
}

/// One of the twelve rates of 802.11g.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PhyRate(u64);

impl PhyRate {
    /// 1 Mb/s, the lowest.
    pub const DSSS_1: PhyRate = PhyRate(1_000_000);
    /// 6 Mb/s, the lowest of OFDM.
    pub const OFDM_6: PhyRate = PhyRate(6_000_000);
    /// 54 Mb/s, the highest.
    pub const OFDM_54: PhyRate = PhyRate(54_000_000);

    const DSSS: [u64; 4] = [1_000_000, 2_000_000, 5_500_000, 11_000_000];
    const OFDM: [u64; 8] =
        [6_000_000, 9_000_000, 12_000_000, 18_000_000, 24_000_000, 36_000_000, 48_000_000, 54_000_000];
    /// The mandatory rates of OFDM; those of DSSS and CCK all are (18.1.2).
    const OFDM_MANDATORY: [PhyRate; 3] = [PhyRate(24_000_000), PhyRate(12_000_000), PhyRate::OFDM_6];

    /// The rate of 802.11g that is `rate`, if it is one.
    pub fn of(rate: Rate) -> Option<PhyRate> {
        let bps = rate.as_bps();
        (Self::DSSS.contains(&bps) || Self::OFDM.contains(&bps)).then_some(PhyRate(bps))
    }

    /// The rate in bits per second.
    pub fn rate(self) -> Rate {
        Rate::from_bps(self.0)
    }

    /// True for the rates of DSSS and CCK, which need the long slot.
    pub fn is_dsss(self) -> bool {
        Self::DSSS.contains(&self.0)
    }

    /// The duration of a frame of `length` bytes, frame check sequence included.
    pub fn airtime(self, length: Bytes) -> Span {
        if self.is_dsss() {
            // Whole microseconds, rounded up.
            return DSSS_HEADER + Span::from_micros((8_000_000 * length.0).div_ceil(self.0));
        }
        let bits_a_symbol = self.0 / 250_000;
        OFDM_HEADER + SYMBOL * (SERVICE_AND_TAIL + 8 * length.0).div_ceil(bits_a_symbol) + SIGNAL_EXTENSION
    }

    /// The rate of the response to a frame of this rate: the highest basic rate of its modulation that is not above it.
    pub fn of_response(self) -> PhyRate {
        // Reading(802.11 10.6.6.5): the basic rates of the cell are the mandatory ones, as in access points by default.
        let mut mandatory = Self::OFDM_MANDATORY.into_iter();
        if self.is_dsss() { self } else { mandatory.find(|rate| *rate <= self).unwrap_or(Self::OFDM_6) }
    }

    /// The duration of the acknowledgement of a frame of this rate.
    pub(super) fn acknowledgement(self) -> Span {
        self.of_response().airtime(ACKNOWLEDGEMENT)
    }
}
