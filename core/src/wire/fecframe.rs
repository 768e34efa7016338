//! FECFRAME packets (RFC 6363) of the Simple Reed-Solomon scheme (RFC 6865) over GF(2^8).
//!
//! A source packet is an application data unit (ADU: here a whole RTP packet) followed by the Explicit Source FEC
//! Payload ID (RFC 6865 §5.1.2); a repair packet is the Repair FEC Payload ID and one repair symbol (§5.1.3). With m =
//! 8 both IDs have one layout:
//!
//! | offset | field |
//! |---|---|
//! | 0 | source block number SBN (32 - m = 24 bits) |
//! | 3 | encoding symbol ID ESI (m = 8 bits): below k in source packets, k to n - 1 in repair packets |
//! | 4 | source block length k (16 bits) |
//!
//! The code works on ADUIs (§4.3), all of a block padded with zeros to the length E of the longest one:
//!
//! | offset | field |
//! |---|---|
//! | 0 | flow ID F (8 bits) |
//! | 1 | length L of the ADU (16 bits) |
//! | 3 | the ADU (L bytes) |
//! | 3 + L | zeros up to E |

use core::fmt;

use super::Error;
use super::sequence::Unwrapper;

/// FEC Encoding ID of the scheme (RFC 6865 §8).
pub const ENCODING_ID: u8 = 8;
/// The most encoding symbols of a block, source and repair: 2^m - 1 (RFC 6865 §4.2).
pub const MAX_SYMBOLS: usize = 255;

/// Extends source block numbers to 64 bits.
pub type BlockUnwrapper = Unwrapper<24>;

/// The Explicit Source or Repair FEC Payload ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PayloadId {
    /// The source block number; 24 bits on the wire.
    pub sbn: u32,
    /// The encoding symbol ID: source symbols from 0, then repair symbols.
    pub esi: u8,
    /// Source symbols of the block, 1 to 255.
    pub k: u8,
}

impl PayloadId {
    /// The length of either ID in bytes.
    pub const LEN: usize = 6;

    /// Splits a source packet into the ADU and the ID at its end.
    ///
    /// # Errors
    /// There is no ID, or it is not a source symbol's.
    pub fn split_source(bytes: &[u8]) -> Result<(&[u8], PayloadId), Error> {
        let (adu, id) = bytes.split_last_chunk().ok_or(Error::Truncated)?;
        let id = PayloadId::parse(*id)?;
        if id.esi < id.k { Ok((adu, id)) } else { Err(Error::Malformed) }
    }

    /// Splits a repair packet into the ID and the repair symbol, which is never empty.
    ///
    /// # Errors
    /// There is no ID or no symbol, or the ID is not a repair symbol's.
    pub fn split_repair(bytes: &[u8]) -> Result<(PayloadId, &[u8]), Error> {
        let (id, symbol) = bytes.split_first_chunk().ok_or(Error::Truncated)?;
        let id = PayloadId::parse(*id)?;
        match (symbol.len(), usize::from(id.esi)) {
            (0..=Adui::OVERHEAD, _) => Err(Error::Truncated),
            (_, esi) if (id.k.into()..MAX_SYMBOLS).contains(&esi) => Ok((id, symbol)),
            _ => Err(Error::Malformed),
        }
    }

    /// The bytes of the ID.
    pub fn emit(self) -> [u8; PayloadId::LEN] {
        let [_, b0, b1, b2] = self.sbn.to_be_bytes();
        [b0, b1, b2, self.esi, 0, self.k]
    }

    fn parse([b0, b1, b2, esi, k0, k1]: [u8; PayloadId::LEN]) -> Result<PayloadId, Error> {
        match u8::try_from(u16::from_be_bytes([k0, k1])) {
            Ok(k @ 1..) => Ok(PayloadId { sbn: u32::from_be_bytes([0, b0, b1, b2]), esi, k }),
            _ => Err(Error::Malformed),
        }
    }
}

/// ADU information: an ADU in the form in which it is encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Adui<'a> {
    /// The protected flow.
    pub flow: u8,
    /// The ADU, at most 65 535 bytes.
    pub adu: &'a [u8],
}

impl<'a> Adui<'a> {
    /// The number of bytes before the ADU.
    pub const OVERHEAD: usize = 3;

    /// Parses a decoded source symbol.
    ///
    /// # Errors
    /// The ADU is longer than the symbol: the block was decoded from packets that do not belong together.
    pub fn parse(symbol: &'a [u8]) -> Result<Adui<'a>, Error> {
        let ([flow, l0, l1], rest) = symbol.split_first_chunk().ok_or(Error::Truncated)?;
        let adu = rest.get(..u16::from_be_bytes([*l0, *l1]).into()).ok_or(Error::Length)?;
        Ok(Adui { flow: *flow, adu })
    }

    /// Fills `symbol`, padding included.
    ///
    /// # Panics
    /// `symbol` is shorter than the ADU and [`Adui::OVERHEAD`], or the ADU is longer than a UDP datagram.
    pub fn emit(&self, symbol: &mut [u8]) {
        let len = u16::try_from(self.adu.len()).expect("an ADU fits a datagram");
        symbol[0] = self.flow;
        symbol[1..3].copy_from_slice(&len.to_be_bytes());
        let (adu, padding) = symbol[Adui::OVERHEAD..].split_at_mut(self.adu.len());
        adu.copy_from_slice(self.adu);
        padding.fill(0);
    }
}

/// The FEC-scheme-specific information (RFC 6865 §5.1.1.2), with m = 8. Its `Display` is the `fssi` of RFC 6364.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchemeInfo {
    /// E: the length of every symbol if `strict`, else of the longest one.
    pub symbol_len: u16,
    /// S: true if all symbols have this length.
    pub strict: bool,
}

impl SchemeInfo {
    /// The binary form: E (16 bits), S (1 bit), m (7 bits).
    pub fn emit(self) -> [u8; 3] {
        let [e0, e1] = self.symbol_len.to_be_bytes();
        [e0, e1, u8::from(self.strict) << 7 | 8]
    }

    /// Parses the binary form.
    ///
    /// # Errors
    /// The input is not three bytes long, or names another field than GF(2^8).
    pub fn parse(bytes: &[u8]) -> Result<SchemeInfo, Error> {
        let &[e0, e1, last] = bytes else { return Err(Error::Length) };
        match last & 0x7f {
            8 => Ok(SchemeInfo { symbol_len: u16::from_be_bytes([e0, e1]), strict: last & 0x80 != 0 }),
            _ => Err(Error::Unknown),
        }
    }
}

impl fmt::Display for SchemeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E:{},S:{},m:8", self.symbol_len, u8::from(self.strict))
    }
}

/// The mapping of a block's source symbols to unmodified RTP source packets: source symbol i is the RTP packet with
/// sequence number base + i stride. It is sent as a one-byte header extension element of the repair packets.
///
/// | offset | field |
/// |---|---|
/// | 0 | base (16 bits) |
/// | 2 | stride (8 bits), not zero |
// Deviation(RFC 6865 §5.1.2): such source packets carry no Explicit Source FEC Payload ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockBounds {
    /// The RTP sequence number of source symbol 0.
    pub base: u16,
    /// The distance from one source symbol to the next.
    pub stride: u8,
}

impl BlockBounds {
    /// The extension's URI in `a=extmap`.
    pub const URI: &'static str = "urn:x-thalweg:rtp-hdrext:block-bounds";

    /// Parses the element's data.
    ///
    /// # Errors
    /// The data is not three bytes long, or the stride is zero.
    pub fn parse(data: &[u8]) -> Result<BlockBounds, Error> {
        match *data {
            [_, _, 0] => Err(Error::Malformed),
            [b0, b1, stride] => Ok(BlockBounds { base: u16::from_be_bytes([b0, b1]), stride }),
            _ => Err(Error::Length),
        }
    }

    /// The element's data.
    pub fn emit(self) -> [u8; 3] {
        let [b0, b1] = self.base.to_be_bytes();
        [b0, b1, self.stride]
    }

    /// The sequence number of the source symbol `esi`.
    pub fn sequence(self, esi: u8) -> u16 {
        self.base.wrapping_add(u16::from(self.stride) * u16::from(esi))
    }

    /// The index among `k` source symbols of the one with this sequence number, if there is one.
    pub fn esi(self, sequence: u16, k: u8) -> Option<u8> {
        let distance = sequence.wrapping_sub(self.base);
        let esi = distance.checked_div(self.stride.into())?;
        (distance.is_multiple_of(self.stride.into()) && esi < k.into()).then_some(esi as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn payload_ids_have_the_layout_of_rfc_6865_figure_5() {
        let id = PayloadId { sbn: 0x01_0203, esi: 4, k: 21 };
        assert_eq!(id.emit(), [1, 2, 3, 4, 0, 21]);
        assert_eq!(PayloadId::split_source(&[0x80, 1, 2, 3, 4, 0, 21]), Ok((&[0x80][..], id)));
    }

    #[test]
    fn an_adui_is_flow_length_adu_and_zeros() {
        let mut symbol = [0xff; 8];
        Adui { flow: 0, adu: &[0x80, 33] }.emit(&mut symbol);
        assert_eq!(symbol, [0, 0, 2, 0x80, 33, 0, 0, 0]);
        assert_eq!(Adui::parse(&[0, 0, 3, 1, 2]), Err(Error::Length));
    }

    #[test]
    fn ids_out_of_their_block_are_refused() {
        let packet = |esi, k: u16| [&[0, 0, 0, esi][..], &k.to_be_bytes()].concat();
        for (esi, k) in [(0, 0), (0, 256), (21, 21), (255, 21)] {
            assert_eq!(PayloadId::split_source(&packet(esi, k)), Err(Error::Malformed), "{esi} of {k}");
        }
        for (esi, k) in [(20, 21), (255, 21), (0, 0), (254, 255)] {
            let repair = [packet(esi, k), vec![0; 9]].concat();
            assert_eq!(PayloadId::split_repair(&repair), Err(Error::Malformed), "{esi} of {k}");
        }
        assert_eq!(PayloadId::split_repair(&packet(21, 21)), Err(Error::Truncated));
    }

    #[test]
    fn scheme_information_has_the_two_forms_of_rfc_6865_section_5_1_1_2() {
        let info = SchemeInfo { symbol_len: 1400, strict: false };
        assert_eq!(info.to_string(), "E:1400,S:0,m:8");
        assert_eq!(info.emit(), [0x05, 0x78, 0x08]);
        assert_eq!(SchemeInfo::parse(&[0x05, 0x78, 0x10]), Err(Error::Unknown));
    }

    proptest! {
        #[test]
        fn source_packets_round_trip(adu: Vec<u8>, sbn in 0u32..1 << 24, esi in 0u8..254, more in 1u8..) {
            let id = PayloadId { sbn, esi, k: esi.saturating_add(more) };
            let packet = [&adu[..], &id.emit()].concat();
            prop_assert_eq!(PayloadId::split_source(&packet), Ok((&adu[..], id)));
        }

        #[test]
        fn repair_packets_round_trip(
            symbol in prop::collection::vec(any::<u8>(), 4..99), sbn in 0u32..1 << 24, k in 1u8..255, esi in 1u8..255,
        ) {
            let id = PayloadId { sbn, esi: esi.max(k), k };
            let packet = [&id.emit()[..], &symbol].concat();
            prop_assert_eq!(PayloadId::split_repair(&packet), Ok((id, &symbol[..])));
        }

        #[test]
        fn adus_round_trip(flow: u8, adu: Vec<u8>, padding in 0usize..50) {
            let mut symbol = vec![0xff; Adui::OVERHEAD + adu.len() + padding];
            Adui { flow, adu: &adu }.emit(&mut symbol);
            prop_assert_eq!(Adui::parse(&symbol), Ok(Adui { flow, adu: &adu }));
        }

        #[test]
        fn block_bounds_map_sequence_numbers_to_symbols(base: u16, stride in 1u8.., k in 1u8.., esi: u8) {
            let bounds = BlockBounds { base, stride };
            prop_assert_eq!(BlockBounds::parse(&bounds.emit()), Ok(bounds));
            prop_assert_eq!(bounds.esi(bounds.sequence(esi), k), (esi < k).then_some(esi));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes: Vec<u8>) {
            let _ = PayloadId::split_source(&bytes);
            let _ = PayloadId::split_repair(&bytes);
            let _ = Adui::parse(&bytes);
            let _ = SchemeInfo::parse(&bytes);
            let _ = BlockBounds::parse(&bytes);
        }
    }
}
