//! The conditions that the paper varies: the source, the channel, the sender's buffer, the bound on the overhead.

use core::fmt;

use thalweg_core::law::schedule::adaptive;

use super::slots::Source;
use super::ticks::{A_SECOND, Ticks};

/// One condition of an experiment. V is 8000 bits and R 400 kb/s throughout.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Case {
    /// S: the rate that the source offers, kb/s.
    pub offered_kbps: u64,
    /// P: packets per burst.
    pub burst: usize,
    /// W: the sender's buffer, in packets.
    pub buffer: usize,
    /// The path.
    pub path: Path,
    /// U_MAX, in thousandths.
    pub u_max: u32,
}

/// A path, before its losses are drawn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Path {
    /// Independent losses.
    Random {
        /// epsilon, per cent.
        percent: u32,
        /// D, ms.
        rtt_ms: u64,
    },
    /// A recording, by its index in the plan.
    Recorded(usize),
    /// A link with independent losses that is shared with CUBIC and a stream under GENEVA, for the session alone.
    Shared {
        /// epsilon, per cent.
        percent: u32,
        /// D, ms.
        rtt_ms: u64,
    },
}

/// U_MAX = 10.
const UNBOUNDED: u32 = 10_000;

impl Case {
    /// A row of Tables II and III.
    pub const fn row(offered_kbps: u64, percent: u32, rtt_ms: u64) -> Case {
        let path = Path::Random { percent, rtt_ms };
        Case { offered_kbps, burst: 10, buffer: 16, path, u_max: UNBOUNDED }
    }

    /// Table II.
    pub const TABLE_2: [Case; 3] = [Case::row(500, 5, 150), Case::row(500, 15, 150), Case::row(500, 15, 400)];
    /// Table III.
    pub const TABLE_3: [Case; 3] = [Case::row(300, 5, 150), Case::row(300, 15, 150), Case::row(300, 15, 400)];

    /// All rows of both tables.
    pub const fn rows() -> [Case; 6] {
        let ([a, b, c], [d, e, f]) = (Case::TABLE_2, Case::TABLE_3);
        [a, b, c, d, e, f]
    }

    /// The conditions of the session itself: the rows of both tables, and the shared link.
    pub const fn sessions() -> [Case; 7] {
        let [a, b, c, d, e, f] = Case::rows();
        [a, b, c, d, e, f, Case::SHARED]
    }

    /// All rows of both tables, with the default bound on the overhead of a tunnel.
    pub fn tunnelled() -> [Case; 6] {
        let u_max = (adaptive::Parameters::default().u_max * 1e3) as u32;
        Case::rows().map(|row| Case { u_max, ..row })
    }

    /// The same case without a bound on the overhead.
    pub(super) const fn boundless(self) -> Case {
        Case { u_max: UNBOUNDED, ..self }
    }

    /// Table IV on a recording.
    pub const fn recorded(nth: usize) -> Case {
        Case { path: Path::Recorded(nth), ..Case::row(300, 5, 200) }
    }

    /// Fig. 9: Table II's last row with the overhead bounded.
    pub const BOUNDS: [Case; 5] = [bounded(50), bounded(100), bounded(200), bounded(300), bounded(UNBOUNDED)];

    /// Fig. 10: Table II's first row with other loss rates.
    pub const LOSSES: [Case; 6] = [
        Case::row(500, 1, 150),
        Case::row(500, 2, 150),
        Case::row(500, 5, 150),
        Case::row(500, 10, 150),
        Case::row(500, 15, 150),
        Case::row(500, 20, 150),
    ];

    /// Fig. 11: Table II's first row with other burst lengths, at the interval that keeps the rate.
    pub const BURSTS: [Case; 6] =
        [bursts_of(2), bursts_of(4), bursts_of(7), bursts_of(10), bursts_of(13), bursts_of(16)];

    /// §IV: Table II's first row with W = 32.
    pub const WIDE: Case = Case { buffer: 32, ..Case::TABLE_2[0] };

    /// The source of Table III on a link that is shared with CUBIC and a stream under GENEVA.
    pub const SHARED: Case = Case { path: Path::Shared { percent: 1, rtt_ms: 150 }, ..Case::row(300, 1, 150) };

    /// The source, for this many bursts.
    pub fn source(&self, bursts: u64) -> Source {
        Source { burst: self.burst, gap: self.gap(), buffer: self.buffer, bursts }
    }

    /// G = P V / S.
    pub fn gap(&self) -> Ticks {
        self.burst as u64 * 8 * A_SECOND / self.offered_kbps
    }

    /// The rate, in kb/s, of a source with this many packets per burst.
    pub fn kbps(&self, packets: f64) -> f64 {
        packets * self.offered_kbps as f64 / self.burst as f64
    }
}

const fn bounded(u_max: u32) -> Case {
    Case { u_max, ..Case::TABLE_2[2] }
}

const fn bursts_of(burst: usize) -> Case {
    Case { burst, ..Case::TABLE_2[0] }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path {
            Path::Random { percent, rtt_ms } => {
                write!(f, "S = {} kb/s, eps = {percent} %, D = {rtt_ms} ms", self.offered_kbps)?;
            }
            Path::Shared { percent, rtt_ms } => {
                write!(f, "S = {} kb/s, eps = {percent} %, D = {rtt_ms} ms, shared", self.offered_kbps)?;
            }
            Path::Recorded(nth) => write!(f, "S = {} kb/s, recording {}", self.offered_kbps, nth + 1)?,
        }
        if self.burst != 10 {
            write!(f, ", P = {}", self.burst)?;
        }
        if self.buffer != 16 {
            write!(f, ", W = {}", self.buffer)?;
        }
        if self.u_max != UNBOUNDED {
            write!(f, ", U_MAX = {}", f64::from(self.u_max) / 1e3)?;
        }
        Ok(())
    }
}
