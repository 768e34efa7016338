//! The coding coefficients of RFC 8681 §3.6 for GF(2^8).

use super::Error;
use super::tiny_mt32::TinyMt32;

/// How many coefficients are not zero: the density threshold DT, of which (DT + 1) / 16 are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Density(u8);

impl Density {
    /// No coefficient is zero. A repair symbol says something about every original that it covers.
    pub const FULL: Density = Density(15);

    /// The threshold `dt`. Symbols over many originals cost less the lower it is; where u of them are unknown to the
    /// receiver, none of the u is in the symbol with probability (1 - (DT + 1) / 16)^u, and then it tells nothing.
    ///
    /// # Errors
    /// [`Error::Range`] above 15.
    pub fn new(dt: u8) -> Result<Density, Error> {
        if dt <= Density::FULL.0 { Ok(Density(dt)) } else { Err(Error::Range) }
    }

    /// The threshold, 0 to 15.
    pub fn threshold(self) -> u8 {
        self.0
    }
}

/// The coefficients of one repair symbol, original by original, without end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coefficients {
    generator: TinyMt32,
    density: Density,
}

impl Coefficients {
    /// Those of a repair key.
    pub fn new(key: u16, density: Density) -> Coefficients {
        Coefficients { generator: TinyMt32::new(key.into()), density }
    }

    fn is_zero(&mut self) -> bool {
        self.density < Density::FULL && self.generator.below_16() > self.density.0
    }
}

impl Iterator for Coefficients {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if self.is_zero() {
            return Some(0);
        }
        loop {
            let coefficient = self.generator.below_256();
            if coefficient != 0 {
                return Some(coefficient);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8681, Appendix A, Figure 9: none of the first ten numbers below 256 is zero.
    #[test]
    fn a_full_symbol_has_the_generators_numbers() {
        let coefficients: Vec<u8> = Coefficients::new(1, Density::FULL).take(10).collect();
        assert_eq!(coefficients, [37, 225, 177, 176, 21, 246, 54, 139, 168, 237]);
    }

    /// Of the numbers of RFC 8682's Figure 2 one in turn decides, by its lower four bits, and the next one is taken.
    #[test]
    fn a_threshold_takes_a_number_for_each_decision() {
        let coefficients: Vec<u8> = Coefficients::new(1, Density::new(5).unwrap()).take(6).collect();
        // 5 -> 225; 1 -> 176; 5 -> 246; 6, 11, 8: zero.
        assert_eq!(coefficients, [225, 176, 246, 0, 0, 0]);
    }

    #[test]
    fn as_many_are_not_zero_as_the_threshold_says() {
        for dt in 0..=15 {
            let density = Density::new(dt).unwrap();
            let of = 100_000;
            let nonzero = Coefficients::new(u16::from(dt), density).take(of).filter(|&c| c != 0).count() as f64;
            let share = f64::from(dt + 1) / 16.0;
            let deviation = (of as f64 * share * (1.0 - share)).sqrt();
            assert!((nonzero - of as f64 * share).abs() <= 5.0 * deviation, "DT = {dt}: {nonzero} of {of}");
        }
        assert_eq!(Density::new(16), Err(Error::Range));
    }
}
