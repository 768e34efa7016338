//! The coding coefficients of RFC 8681 §3.6 for GF(2^8).

use super::Error;
use super::tiny_mt32::TinyMt32;

/// The density threshold DT: (DT + 1) / 16 of the coefficients are not zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Density(u8);

impl Density {
    /// No coefficient is zero: a repair symbol depends on every original that it covers.
    pub const FULL: Density = Density(15);

    /// The threshold `dt`. The lower it is, the cheaper are symbols over many originals. Where u of them are unknown to
    /// the receiver, none of the u is in the symbol with probability (1 - (DT + 1) / 16)^u, and the symbol is then
    /// redundant.
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

/// The infinite sequence of coefficients of one repair symbol, one for each original.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coefficients {
    generator: TinyMt32,
    density: Density,
}

impl Coefficients {
    /// The coefficients of a repair key.
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

    /// RFC 8681, Appendix A, Figure 9: the first ten numbers below 256, none of which is zero.
    #[test]
    fn full_density_coefficients_are_the_generators_numbers() {
        let coefficients: Vec<u8> = Coefficients::new(1, Density::FULL).take(10).collect();
        assert_eq!(coefficients, [37, 225, 177, 176, 21, 246, 54, 139, 168, 237]);
    }

    /// Of the numbers in RFC 8682's Figure 2, one decides by its lower four bits, and the next is taken if it says
    /// nonzero.
    #[test]
    fn each_threshold_decision_consumes_one_random_number() {
        let coefficients: Vec<u8> = Coefficients::new(1, Density::new(5).unwrap()).take(6).collect();
        // 5 -> 225; 1 -> 176; 5 -> 246; 6, 11, 8: zero.
        assert_eq!(coefficients, [225, 176, 246, 0, 0, 0]);
    }

    #[test]
    fn share_of_nonzero_coefficients_follows_the_threshold() {
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
