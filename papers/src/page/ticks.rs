//! The marks of an axis, and the format of the numbers beside them.

/// The marks of an axis: multiples of 1, 2 or 5 times a power of ten.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Ticks {
    pub(super) at: Vec<f64>,
    /// Digits after the decimal point that distinguish two marks.
    pub(super) decimals: usize,
}

impl Ticks {
    /// Some `about` marks that lie between `low` and `high`. A range that is empty or not finite has none.
    pub(super) fn between(low: f64, high: f64, about: usize) -> Ticks {
        let range = high - low;
        if !range.is_finite() || range <= 0.0 {
            return Ticks { at: Vec::new(), decimals: 0 };
        }
        let rough = range / about as f64;
        let power = rough.log10().floor();
        let decade = 10f64.powf(power);
        let (factor, carry) = match rough / decade {
            f if f <= 1.0 => (1.0, 0.0),
            f if f <= 2.0 => (2.0, 0.0),
            f if f <= 5.0 => (5.0, 0.0),
            _ => (1.0, 1.0),
        };
        let step = factor * 10f64.powf(power + carry);
        // A mark that rounding pushed just outside still counts.
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        Ticks { at: (first..=last).map(|i| i as f64 * step).collect(), decimals: (-(power + carry)).max(0.0) as usize }
    }

    /// 1, 2 and 5 times the powers of ten from `low`, above zero, to `high`; only the powers if `high / low` exceeds
    /// 10^4.
    pub(super) fn by_decades(low: f64, high: f64) -> Ticks {
        let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
        let factors = if high / low > 1e4 { &[1.0][..] } else { &[1.0, 2.0, 5.0] };
        let all = decades.flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
        let within = |at: &f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(at);
        Ticks { at: all.filter(within).collect(), decimals: (-low.log10().floor()).max(0.0) as usize }
    }

    /// The first mark at or above `high`, at which an axis from zero should end.
    pub(super) fn ceiling(high: f64, about: usize) -> f64 {
        let ticks = Ticks::between(0.0, high, about);
        match ticks.at.last() {
            Some(&last) if last < high * (1.0 - 1e-9) => last + ticks.at.get(1).copied().unwrap_or(last),
            Some(&last) if last > 0.0 => last,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(Ticks::between(0.0, 20.0, 5).at, [0.0, 5.0, 10.0, 15.0, 20.0]);
        assert_eq!(Ticks::between(3.0, 11.0, 4).at, [4.0, 6.0, 8.0, 10.0]);
        let small = Ticks::between(0.0, 0.031, 4);
        assert_eq!((small.at.len(), small.decimals), (4, 2));
        assert_eq!(Ticks::between(0.0, 250.0, 5).decimals, 0);
    }

    #[test]
    fn axis_ends_at_a_tick() {
        assert_eq!(Ticks::ceiling(41.3, 4), 60.0);
        assert_eq!(Ticks::ceiling(40.0, 4), 40.0);
        assert_eq!(Ticks::ceiling(0.0, 4), 1.0);
    }

    #[test]
    fn decades_have_ticks_at_1_2_and_5() {
        let ticks = Ticks::by_decades(1.0, 200.0);
        assert_eq!((ticks.at, ticks.decimals), (vec![1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0], 0));
        assert_eq!(Ticks::by_decades(70.0, 1700.0).at, [100.0, 200.0, 500.0, 1000.0]);
    }

    #[test]
    fn empty_range_has_no_ticks() {
        for (low, high) in [(1.0, 1.0), (2.0, 1.0), (0.0, f64::NAN), (0.0, f64::INFINITY)] {
            assert!(Ticks::between(low, high, 5).at.is_empty());
        }
    }
}
