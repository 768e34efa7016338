//! A capture that tshark opens.

/// Datagrams as a capture of UDP over IPv4 without a link layer (link type 101), to and from port 6000.
pub(crate) fn pcap<'a>(datagrams: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 65_535, 101]);
    for datagram in datagrams {
        let len = (20 + 8 + datagram.len()) as u16;
        file.extend(words(&[0, 0, len.into(), len.into()]));
        let [l0, l1] = len.to_be_bytes();
        file.extend([0x45, 0, l0, l1, 0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]);
        for field in [6000, 6000, len - 20, 0] {
            file.extend(u16::to_be_bytes(field));
        }
        file.extend(datagram);
    }
    file
}
