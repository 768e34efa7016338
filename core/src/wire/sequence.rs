//! Extension of wrapped counters.

/// Extends a counter of `BITS` bits to 64 bits.
///
/// A value is mapped to the nearest number to the highest so far: RFC 3550 A.1 without its probation, which the
/// sessions do not need because they know the SSRC they wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unwrapper<const BITS: u32> {
    highest: Option<u64>,
}

impl<const BITS: u32> Unwrapper<BITS> {
    /// Extends `value` and remembers it if it is the highest.
    ///
    /// The first value gets one whole cycle added, so that packets sent before it have numbers, too.
    pub fn unwrap(&mut self, value: u32) -> u64 {
        let extended = self.peek(value);
        self.highest = self.highest.max(Some(extended));
        extended
    }

    /// Extends `value` without remembering it.
    pub fn peek(&self, value: u32) -> u64 {
        match self.highest {
            Some(highest) => nearest::<BITS>(highest, value),
            None => (1 << BITS) + (u64::from(value) & mask::<BITS>()),
        }
    }

    /// The highest value so far.
    pub fn highest(&self) -> Option<u64> {
        self.highest
    }
}

/// The number nearest to `reference` whose lowest `BITS` bits are those of `value`; the lower one of two equally near.
/// `BITS` is 1 to 32.
pub fn nearest<const BITS: u32>(reference: u64, value: u32) -> u64 {
    let turn = 1u64 << BITS;
    let ahead = u64::from(value).wrapping_sub(reference) & mask::<BITS>();
    let above = reference.wrapping_add(ahead);
    if ahead < turn / 2 || above < turn { above } else { above - turn }
}

const fn mask<const BITS: u32>() -> u64 {
    (1 << BITS) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unwrapper_counts_across_wraps_and_reordering() {
        let mut unwrapper = Unwrapper::<16>::default();
        let wire = [65_533, 65_532, 65_535, 1, 65_534, 0, 2];
        let extended: Vec<u64> = wire.into_iter().map(|value| unwrapper.unwrap(value) - (1 << 16)).collect();
        assert_eq!(extended, [65_533, 65_532, 65_535, 65_537, 65_534, 65_536, 65_538]);
        assert_eq!(unwrapper.highest(), Some((1 << 16) + 65_538));
    }

    #[test]
    fn nearest_value_is_never_below_zero() {
        assert_eq!(nearest::<16>(3, 65_535), 65_535);
        assert_eq!(nearest::<24>(1 << 24, 0x00ff_ffff), 0x00ff_ffff);
    }

    proptest! {
        #[test]
        fn value_within_half_the_range_is_found(reference in 1u64 << 25..1 << 40, step in -0x7f_ffffi64..0x80_0000) {
            let sent = reference.wrapping_add_signed(step);
            prop_assert_eq!(nearest::<24>(reference, sent as u32 & 0xff_ffff), sent);
        }

        #[test]
        fn arbitrary_values_are_accepted(reference: u64, value: u32) {
            prop_assert_eq!(nearest::<16>(reference, value) as u16, value as u16);
        }
    }
}
