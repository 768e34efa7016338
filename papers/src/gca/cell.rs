//! The wireless cell, of which the paper gives the standard alone.

use core::fmt;

/// The slot time of the 802.11g cell at 54 Mb/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cell {
    /// 20 us, as beside stations of 802.11b: about 16 Mb/s, as the totals of the paper's tables.
    LongSlots,
    /// 9 us: about 25 Mb/s.
    ShortSlots,
}

impl Cell {
    /// Both cells.
    pub const ALL: [Cell; 2] = [Cell::LongSlots, Cell::ShortSlots];

    /// The parameter of the scenario.
    pub(super) const fn slot(self) -> &'static str {
        match self {
            Cell::LongSlots => "20us",
            Cell::ShortSlots => "9us",
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cell::LongSlots => "slots of 20 us",
            Cell::ShortSlots => "slots of 9 us",
        })
    }
}
