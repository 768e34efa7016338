//! Sections: the form of the tables that describe a program (ISO/IEC 13818-1 §2.4.4).

/// Bytes between the length of a section and its body: identifier, version, and its number among several.
const HEADER: usize = 5;
const CHECKSUM: usize = 4;

/// A whole section of the table `table`, version 0, that applies at once. `id` is the stream's or the program's number
/// (§2.4.4.3, §2.4.4.8). `body` has at most 1012 bytes.
pub(crate) fn section(table: u8, id: u16, body: &[u8]) -> Vec<u8> {
    let length = (HEADER + body.len() + CHECKSUM) as u16;
    let ([high, low], [id_high, id_low]) = (length.to_be_bytes(), id.to_be_bytes());
    let mut section = vec![table, 0xb0 | high, low, id_high, id_low, 0xc1, 0, 0];
    section.extend_from_slice(body);
    section.extend(crc(&section).to_be_bytes());
    section
}

/// The CRC-32 of a section (Annex A), which is zero over a whole section with its checksum.
pub fn crc(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte) << 24, |crc, _| crc << 1 ^ if crc >> 31 == 1 { 0x04c1_1db7 } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_is_crc_32_mpeg_2() {
        // The check value of CRC-32/MPEG-2 in the catalogue of G. Cook, "Catalogue of parametrised CRC algorithms".
        assert_eq!(crc(b"123456789"), 0x0376_e6e7);
    }

    #[test]
    fn section_is_that_of_ffmpeg() {
        // ffmpeg -f lavfi -i testsrc=d=1 -c:v mpeg2video x.ts: program 1, whose map has PID 0x1000.
        let section = section(0, 1, &[0, 1, 0xf0, 0]);
        assert_eq!(section, [0, 0xb0, 0x0d, 0, 1, 0xc1, 0, 0, 0, 1, 0xf0, 0, 0x2a, 0xb1, 0x04, 0xb2]);
        assert_eq!(crc(&section), 0);
    }
}
