//! TinyMT32 (RFC 8682), a Mersenne Twister of 127 bits with the one set of parameters that the RFC allows.

/// The parameters (RFC 8682 §2.1).
const MAT1: u32 = 0x8f70_11ee;
const MAT2: u32 = 0xfc78_ff1f;
const TMAT: u32 = 0x3793_fdff;

/// The state has 127 bits: the highest bit of the first word is not part of it.
const MASK: u32 = 0x7fff_ffff;

/// Steps that mix the seed into the state, and steps before the first output.
const MIN_LOOP: u32 = 8;
const PRE_LOOP: u32 = 8;

/// The generator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TinyMt32 {
    status: [u32; 4],
}

impl TinyMt32 {
    /// A generator from any seed, zero included.
    pub(super) fn new(seed: u32) -> TinyMt32 {
        let mut status = [seed, MAT1, MAT2, TMAT];
        for i in 1..MIN_LOOP {
            let before = status[(i as usize - 1) % 4];
            status[i as usize % 4] ^= (before ^ before >> 30).wrapping_mul(1_812_433_253).wrapping_add(i);
        }
        let mut generator = TinyMt32 { status };
        (0..PRE_LOOP).for_each(|_| generator.step());
        generator
    }

    /// The next number of 32 bits.
    pub(super) fn u32(&mut self) -> u32 {
        self.step();
        let [s0, _, s2, s3] = self.status;
        let sum = s0.wrapping_add(s2 >> 8);
        s3 ^ sum ^ if sum & 1 == 1 { TMAT } else { 0 }
    }

    /// The next number below 16: the lower 4 bits of the next of 32 (RFC 8681 §3.5).
    pub(super) fn below_16(&mut self) -> u8 {
        (self.u32() & 0xf) as u8
    }

    /// The next number below 256: the lower 8 bits of the next of 32 (RFC 8681 §3.5).
    pub(super) fn below_256(&mut self) -> u8 {
        (self.u32() & 0xff) as u8
    }

    fn step(&mut self) {
        let [s0, s1, s2, s3] = self.status;
        let mut x = (s0 & MASK) ^ s1 ^ s2;
        x ^= x << 1;
        let y = s3 ^ s3 >> 1 ^ x;
        let (mat1, mat2) = if y & 1 == 1 { (MAT1, MAT2) } else { (0, 0) };
        self.status = [s1, s2 ^ mat1, x ^ y << 10 ^ mat2, y];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8682, Figure 2.
    const FIRST_50: [u32; 50] = [
        2545341989, 981918433, 3715302833, 2387538352, 3591001365, 3820442102, 2114400566, 2196103051, 2783359912,
        764534509, 643179475, 1822416315, 881558334, 4207026366, 3690273640, 3240535687, 2921447122, 3984931427,
        4092394160, 44209675, 2188315343, 2908663843, 1834519336, 3774670961, 3019990707, 4065554902, 1239765502,
        4035716197, 3412127188, 552822483, 161364450, 353727785, 140085994, 149132008, 2547770827, 4064042525,
        4078297538, 2057335507, 622384752, 2041665899, 2193913817, 1080849512, 33160901, 662956935, 642999063,
        3384709977, 1723175122, 3866752252, 521822317, 2292524454,
    ];

    #[test]
    fn seed_1_gives_the_numbers_of_the_rfc() {
        let mut generator = TinyMt32::new(1);
        assert_eq!(FIRST_50.map(|_| generator.u32()), FIRST_50);
    }

    /// RFC 8681, Appendix A, Figures 9 and 10: the first ten numbers of each.
    #[test]
    fn small_numbers_are_the_lower_bits() {
        let (mut bytes, mut nibbles) = (TinyMt32::new(1), TinyMt32::new(1));
        assert_eq!([(); 10].map(|()| bytes.below_256()), [37, 225, 177, 176, 21, 246, 54, 139, 168, 237]);
        assert_eq!([(); 10].map(|()| nibbles.below_16()), [5, 1, 1, 0, 5, 6, 6, 11, 8, 13]);
    }
}
