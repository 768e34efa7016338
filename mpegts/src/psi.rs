//! Sections: the form of the tables that describe a program (ISO/IEC 13818-1 §2.4.4).

use thalweg_core::wire::Error;

use crate::packet::Packet;

/// The longest section: its length has 12 bits, of which two are zero (§2.4.4.4), after three bytes.
const LONGEST: usize = 1024;

/// Bytes between the length of a section and its body: identifier, version, and its number among several.
const HEADER: usize = 5;
const CHECKSUM: usize = 4;

/// A section while its packets arrive.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Section(Vec<u8>);

impl Section {
    /// Adds a packet; the section of the table `table` after its common header and without its checksum, once it is
    /// complete and correct.
    pub fn push(&mut self, packet: &Packet, table: u8) -> Option<&[u8]> {
        let payload = packet.payload();
        if packet.starts_unit() {
            let (pointer, rest) = payload.split_first()?;
            self.0.clear();
            self.0.extend_from_slice(rest.get(usize::from(*pointer)..)?);
        } else if !self.0.is_empty() && self.0.len() < LONGEST {
            self.0.extend_from_slice(payload);
        }
        let [id, high, low, ..] = *self.0.as_slice() else { return None };
        let len = 3 + length(high, low);
        let section = self.0.get(..len)?;
        let is_current = *section.get(5)? & 1 == 1;
        if id != table || !is_current || len < 12 || crc(section) != 0 { None } else { section.get(8..len - CHECKSUM) }
    }
}

/// The PIDs of the program map tables that a program association table names (§2.4.4.3). Program 0, the network
/// information table, is none.
pub fn maps(association: &[u8]) -> impl Iterator<Item = u16> {
    let programs = association.chunks_exact(4).filter(|entry| entry[..2] != [0, 0]);
    programs.map(|entry| u16::from_be_bytes([entry[2] & 0x1f, entry[3]]))
}

/// A stream of a program map table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry<'a> {
    /// The stream type (Table 2-34).
    pub kind: u8,
    /// The PID.
    pub pid: u16,
    /// The descriptors.
    pub descriptors: &'a [u8],
}

/// The streams of a program map table (§2.4.4.8).
///
/// # Errors
/// [`Error::Truncated`] if a length exceeds the section.
pub fn entries(map: &[u8]) -> Result<Vec<Entry<'_>>, Error> {
    let [_, _, high, low, rest @ ..] = map else { return Err(Error::Truncated) };
    let mut rest = rest.get(length(*high, *low)..).ok_or(Error::Truncated)?;
    let mut entries = Vec::new();
    while let [kind, pid_high, pid_low, high, low, after @ ..] = rest {
        let pid = u16::from_be_bytes([pid_high & 0x1f, *pid_low]);
        let (descriptors, after) = after.split_at_checked(length(*high, *low)).ok_or(Error::Truncated)?;
        entries.push(Entry { kind: *kind, pid, descriptors });
        rest = after;
    }
    Ok(entries)
}

/// A length of 12 bits.
fn length(high: u8, low: u8) -> usize {
    usize::from(u16::from_be_bytes([high & 0x0f, low]))
}

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
