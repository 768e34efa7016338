//! The field: GF(2^8) as polynomials over GF(2) modulo x^8 + x^4 + x^3 + x^2 + 1.

/// The primitive polynomial for m = 8 (RFC 5510 §8.1), one bit per coefficient.
pub const POLYNOMIAL: u16 = 0x11d;

/// The number of elements other than zero, all of them powers of [`exp`]`(1)`.
pub const ORDER: usize = 255;

static EXP: [u8; ORDER] = powers();
static LOG: [u8; 256] = logarithms();
static PRODUCT: [[u8; 256]; 256] = products();

/// Returns alpha = x, the primitive element, to the power `exponent`, which is taken modulo [`ORDER`].
pub const fn exp(exponent: usize) -> u8 {
    EXP[exponent % ORDER]
}

/// The discrete logarithm of `element` to the base alpha: an exponent below [`ORDER`].
///
/// # Panics
/// If `element` is zero, which is no power of alpha.
pub const fn log(element: u8) -> usize {
    assert!(element != 0, "zero has no logarithm");
    LOG[element as usize] as usize
}

/// The product of two elements.
pub fn mul(a: u8, b: u8) -> u8 {
    PRODUCT[usize::from(a)][usize::from(b)]
}

/// The products of `factor` and every element.
pub(crate) fn multiples(factor: u8) -> &'static [u8; 256] {
    &PRODUCT[usize::from(factor)]
}

/// Multiplies by shifting and reducing, bit by bit.
pub(crate) const fn carryless(a: u8, b: u8) -> u8 {
    let (mut sum, mut shifted, mut bit) = (0u16, a as u16, 0);
    while bit < 8 {
        if b >> bit & 1 == 1 {
            sum ^= shifted;
        }
        shifted <<= 1;
        if shifted > 0xff {
            shifted ^= POLYNOMIAL;
        }
        bit += 1;
    }
    sum as u8
}

const fn powers() -> [u8; ORDER] {
    let mut table = [1; ORDER];
    let mut i = 1;
    while i < ORDER {
        table[i] = carryless(table[i - 1], 2);
        i += 1;
    }
    table
}

const fn logarithms() -> [u8; 256] {
    let exp = powers();
    let mut table = [0; 256];
    let mut i = 0;
    while i < ORDER {
        table[exp[i] as usize] = i as u8;
        i += 1;
    }
    table
}

const fn products() -> [[u8; 256]; 256] {
    let (exp, log) = (powers(), logarithms());
    let mut table = [[0; 256]; 256];
    let mut a = 1;
    while a < 256 {
        let mut b = 1;
        while b < 256 {
            table[a][b] = exp[(log[a] as usize + log[b] as usize) % ORDER];
            b += 1;
        }
        a += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_agree_with_multiplication_bit_by_bit() {
        for a in 0..=255 {
            for b in 0..=255 {
                assert_eq!(mul(a, b), carryless(a, b), "{a} * {b}");
            }
        }
    }

    #[test]
    fn alpha_is_primitive() {
        assert_eq!(exp(8), 0b0001_1101, "x^8 = x^4 + x^3 + x^2 + 1");
        assert_eq!(exp(ORDER), 1);
        for exponent in 0..ORDER {
            assert_eq!(log(exp(exponent)), exponent, "no power repeats");
        }
    }
}
