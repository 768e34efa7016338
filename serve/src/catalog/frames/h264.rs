//! The kind of an H.264 picture, from the first bytes of its NAL units (ITU-T H.264 §7.3.1, §7.3.3).

use thalweg_core::video::Kind;

/// Types of NAL units (Table 7-1).
const SLICE: u8 = 1;
const PARTITION_A: u8 = 2;
const IDR: u8 = 5;

/// The type of a message of supplemental information (§D.1).
const RECOVERY_POINT: usize = 6;

/// Bytes of a NAL unit that suffice for its header and the type of its slice: two Exp-Golomb codes of at most 31 and 7
/// bits, with emulation prevention.
pub(super) const START: usize = 8;

/// A picture whose NAL units are being added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Picture {
    is_idr: bool,
    is_reference: bool,
    /// True if all slices are intra-coded; none before the first.
    is_intra: Option<bool>,
}

impl Picture {
    pub(super) fn new() -> Picture {
        Picture { is_idr: false, is_reference: false, is_intra: None }
    }

    /// Adds a NAL unit by its first [`START`] bytes, or all of a shorter one.
    pub(super) fn add(&mut self, start: &[u8]) {
        let Some(&header) = start.first() else { return };
        let kind = header & 0x1f;
        if !matches!(kind, SLICE | PARTITION_A | IDR) {
            return;
        }
        self.is_idr |= kind == IDR;
        self.is_reference |= header & 0x60 != 0;
        // I and SI, alone or in all slices of the picture (Table 7-6).
        let is_intra = matches!(slice(&start[1..]), Some((_, 2 | 4 | 7 | 9)));
        self.is_intra = Some(is_intra && self.is_intra != Some(false));
    }

    /// True once a slice was added.
    pub(super) fn has_slices(&self) -> bool {
        self.is_intra.is_some()
    }

    /// The kind; `sync` is true if the container or a recovery point says that a decoder can start here. A picture that
    /// is coded from others is no such point, whatever the container says: with a refresh over many pictures (§D.2.8)
    /// the first ones are damaged.
    pub(super) fn kind(&self, sync: bool) -> Kind {
        match self.is_intra {
            Some(true) if self.is_idr || sync => Kind::I,
            Some(_) if !self.is_reference => Kind::B,
            _ => Kind::P,
        }
    }
}

/// True if a NAL unit other than a slice begins a new picture after the slices of another (§7.4.1.2.3).
pub(super) fn precedes_picture(header: u8) -> bool {
    matches!(header & 0x1f, 6..=9 | 14..=18)
}

/// True if a NAL unit is the first slice of a picture.
pub(super) fn is_first_slice(start: &[u8]) -> bool {
    let is_slice = start.first().is_some_and(|header| matches!(header & 0x1f, SLICE | PARTITION_A | IDR));
    is_slice && matches!(slice(&start[1..]), Some((0, _)))
}

/// True if supplemental information has a recovery point from which all is correct at once (§D.1.8): the start of an
/// open group of pictures.
pub(super) fn is_recovery_point(sei: &[u8]) -> bool {
    let plain = unescaped(&sei[1..]);
    let mut rest = &plain[..];
    // The last byte has trailing bits only.
    while rest.len() > 1 {
        let (Some(kind), Some(len)) = (count(&mut rest), count(&mut rest)) else { return false };
        let Some((message, after)) = rest.split_at_checked(len) else { return false };
        if kind == RECOVERY_POINT {
            return Bits::new(message).exp_golomb() == Some(0);
        }
        rest = after;
    }
    false
}

/// A number in bytes of 255 and a last one below.
fn count(bytes: &mut &[u8]) -> Option<usize> {
    let more = bytes.iter().take_while(|&&byte| byte == 0xff).count();
    let last = *bytes.get(more)?;
    *bytes = &bytes[more + 1..];
    Some(255 * more + usize::from(last))
}

/// The bytes of a NAL unit without emulation prevention bytes (§7.4.1).
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut zeros = 0;
    let is_kept = |&&byte: &&u8| {
        let is_prevention = zeros >= 2 && byte == 3;
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        !is_prevention
    };
    bytes.iter().filter(is_kept).copied().collect()
}

/// The address of the first macroblock of a slice and its type, from the bytes after the header of its NAL unit.
fn slice(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut bits = Bits::new(bytes);
    Some((bits.exp_golomb()?, bits.exp_golomb()?))
}

/// The bits of a NAL unit, without emulation prevention bytes (§7.4.1).
struct Bits<'a> {
    bytes: &'a [u8],
    byte: u8,
    left: u8,
    zeros: u8,
}

impl Bits<'_> {
    fn new(bytes: &[u8]) -> Bits<'_> {
        Bits { bytes, byte: 0, left: 0, zeros: 0 }
    }

    fn bit(&mut self) -> Option<u32> {
        if self.left == 0 {
            let mut byte = self.take()?;
            if self.zeros >= 2 && byte == 3 {
                self.zeros = 0;
                byte = self.take()?;
            }
            self.zeros = if byte == 0 { self.zeros + 1 } else { 0 };
            (self.byte, self.left) = (byte, 8);
        }
        self.left -= 1;
        Some(u32::from(self.byte >> self.left & 1))
    }

    fn take(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    /// An unsigned Exp-Golomb code (§9.1) below 2^31.
    fn exp_golomb(&mut self) -> Option<u32> {
        let mut zeros = 0;
        while self.bit()? == 0 {
            zeros += 1;
            if zeros > 30 {
                return None;
            }
        }
        (0..zeros).try_fold(1, |value, _| Some(value << 1 | self.bit()?)).map(|value: u32| value - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_golomb_codes_are_those_of_table_9_2() {
        // 1, 010, 011, 00100, 00101, 00110, 00111, 0001000: 0 to 7.
        let bytes = [0b1010_0110, 0b0100_0010, 0b1001_1000, 0b1110_0010, 0b0000_0000];
        let mut bits = Bits::new(&bytes);
        assert_eq!([0; 8].map(|_| bits.exp_golomb()), [0, 1, 2, 3, 4, 5, 6, 7].map(Some));
        assert_eq!(bits.exp_golomb(), None);
        // 16 zeros, an emulation prevention byte, then 1 and 16 bits.
        let mut bits = Bits::new(&[0, 0, 3, 0x80, 0, 0x40]);
        assert_eq!((bits.exp_golomb(), bits.exp_golomb()), (Some((1 << 16) - 1), Some(0)));
    }

    #[test]
    fn kind_follows_from_slices_and_references() {
        // Slices: first_mb_in_slice 0 (1), slice_type 7 (0001000), 5 (00110), 6 (00111).
        let (intra, predicted, both) = (0b1000_1000, 0b1001_1000, 0b1001_1100);
        let of = |nals: &[&[u8]], sync| {
            let mut picture = Picture::new();
            nals.iter().for_each(|nal| picture.add(nal));
            picture.kind(sync)
        };
        assert_eq!(of(&[&[0x09, 0x10], &[0x67, 1], &[0x65, intra]], false), Kind::I);
        assert_eq!((of(&[&[0x41, intra]], true), of(&[&[0x41, intra]], false)), (Kind::I, Kind::P));
        assert_eq!((of(&[&[0x41, predicted]], false), of(&[&[0x01, both]], false)), (Kind::P, Kind::B));
        // A temporal layer that no picture needs, a reference in one of two fields, and gradual refresh.
        assert_eq!(of(&[&[0x01, predicted]], false), Kind::B);
        assert_eq!(of(&[&[0x01, both], &[0x21, both]], false), Kind::P);
        assert_eq!((of(&[&[0x41, predicted]], true), of(&[&[0x09, 0x10]], true)), (Kind::P, Kind::P));
    }
}
