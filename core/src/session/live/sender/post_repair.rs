//! The loss that repair has left and the loss that it has recovered, as the receiver counts them (RFC 7509).
//!
//! Each extended report repeats the ranges of those before it, in case reports are lost. A range counts once: only if it
//! begins where the last one ended, or later. So if another receiver takes over, a range that both have is not counted again.

use crate::wire::rtcp::PostRepairLoss;
use crate::wire::sequence::nearest;

/// The ranges that receivers have reported.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct PostRepair {
    /// The source packet after the last range.
    end: Option<u64>,
    /// Packets lost for good in the last range, and packets of that range; none while no receiver is connected.
    last: Option<(u16, u16)>,
}

impl PostRepair {
    /// Takes a range of source packets before packet `next`. Returns whether it is new.
    pub(super) fn on_range(&mut self, next: u64, range: &PostRepairLoss) -> bool {
        let end = nearest::<16>(next, range.end.into());
        let packets = range.end.wrapping_sub(range.begin);
        let begins_after = |known: u64| end.saturating_sub(packets.into()) >= known;
        let is_new = packets > 0 && end <= next && self.end.is_none_or(begins_after);
        if is_new {
            *self = PostRepair { end: Some(end), last: Some((range.lost, packets)) };
        }
        is_new
    }

    /// Notes that the receiver is silent.
    pub(super) fn on_silence(&mut self) {
        self.last = None;
    }

    /// True if a range was reported, so that the sums of their counts are known.
    pub(super) fn is_known(&self) -> bool {
        self.end.is_some()
    }

    /// The share of the source packets of the last range that were lost for good; NaN while it is unknown.
    pub(super) fn loss(&self) -> f64 {
        self.last.map_or(f64::NAN, |(lost, packets)| f64::from(lost) / f64::from(packets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(begin: u16, end: u16, lost: u16) -> PostRepairLoss {
        PostRepairLoss { ssrc: 7, begin, end, lost, repaired: 2 }
    }

    #[test]
    fn each_range_counts_once_and_a_gap_is_passed_over() {
        let (mut known, next) = (PostRepair::default(), 0x1_0500);
        assert!(known.loss().is_nan() && !known.is_known());
        assert!(known.on_range(next, &range(0xff00, 0x0000, 64)));
        assert_eq!(known.loss(), 0.25);
        // The next report repeats it.
        assert!(!known.on_range(next, &range(0xff00, 0x0000, 64)));
        assert!(known.on_range(next, &range(0x0000, 0x0100, 0)));
        // Three reports in a row were lost.
        assert!(known.on_range(next, &range(0x0400, 0x0500, 32)));
        assert_eq!(known.loss(), 0.125);
        for replayed in [range(0x0000, 0x0100, 9), range(0x0300, 0x0400, 9), range(0x0500, 0x0500, 9)] {
            assert!(!known.on_range(next, &replayed), "{replayed:?}");
        }
        assert!(!known.on_range(next, &range(0x0500, 0x0501, 9)), "a packet that has not left");
        known.on_silence();
        assert!(known.loss().is_nan());
        assert!(!known.on_range(next, &range(0x0400, 0x0500, 32)), "a replay after a silence");
    }

    proptest! {
        /// Any ranges, as a damaged or hostile receiver reports them: none counts twice, and the end never goes back.
        #[test]
        fn any_ranges_are_taken_in_order(
            next in 0u64..1 << 20,
            ranges in prop::collection::vec((any::<u16>(), any::<u16>(), any::<u16>()), 1..40),
        ) {
            let mut known = PostRepair::default();
            for (begin, end, lost) in ranges {
                let before = known.end;
                let is_new = known.on_range(next, &range(begin, end, lost));
                prop_assert_eq!(is_new, known.end != before);
                prop_assert!(known.end >= before && known.end.is_none_or(|end| end <= next));
                prop_assert!(!known.on_range(next, &range(begin, end, lost)));
            }
        }
    }
}
