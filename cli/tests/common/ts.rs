//! A transport stream made for tests (ISO/IEC 13818-1 §2.4.3).

/// Packets between two clock references.
const PCR_EVERY: u64 = 10;
/// Ticks of 27 MHz that a packet lasts: 188 bytes at 3.76 Mb/s take 0.4 ms.
const TICKS: u64 = 10_800;

/// `count` packets of one PID at 3.76 Mb/s, no two alike, each tenth with the clock.
pub(crate) fn stream(count: u64) -> Vec<u8> {
    (0..count).flat_map(packet).collect()
}

fn packet(nth: u64) -> [u8; 188] {
    let mut bytes = [0; 188];
    let has_pcr = nth.is_multiple_of(PCR_EVERY);
    let control = if has_pcr { 0x30 } else { 0x10 };
    bytes[..4].copy_from_slice(&[0x47, 0x01, 0x00, control | (nth % 16) as u8]);
    let mut payload = 4;
    if has_pcr {
        let (base, extension) = (nth * TICKS / 300, nth * TICKS % 300);
        let pcr = base << 15 | 0x3f << 9 | extension;
        bytes[4..6].copy_from_slice(&[7, 0x10]);
        bytes[6..12].copy_from_slice(&pcr.to_be_bytes()[2..]);
        payload = 12;
    }
    bytes[payload..payload + 8].copy_from_slice(&nth.to_be_bytes());
    bytes
}
