//! The place of a picture among others, by the headers of its codec.

use thalweg_core::wire::payload::start_code;

use crate::packet::Packet;

/// The codec of a stream of video, as far as its headers are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Codec {
    H264,
    /// MPEG-1 or MPEG-2.
    Mpeg,
    /// Another one, or one whose PES packets have several pictures.
    Other,
}

/// The place of a picture among others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// No other picture refers to it.
    Disposable,
    /// Others refer to it.
    Reference,
    /// A decoder can start here.
    RandomAccess,
}

/// Bytes of the longest header that is looked for: a start code, and three bytes of a picture header.
const HEADER: usize = 6;

/// The finding in a header.
enum Header {
    Picture(Kind),
    /// Parameters, as precede a random access point.
    Parameters,
}

/// The kind of the picture that begins in `packet`.
pub(super) fn kind(codec: Codec, packet: &Packet) -> Kind {
    let payload = elementary(packet);
    let found = || headers(codec, payload);
    // With headers too long for the packet, the picture itself is not seen.
    let first = found().find_map(|header| match header {
        Header::Picture(kind) => Some(kind),
        Header::Parameters => None,
    });
    match first {
        Some(Kind::Disposable) => Kind::Disposable,
        _ if packet.is_random_access() => Kind::RandomAccess,
        Some(kind) => kind,
        None if found().next().is_some() => Kind::RandomAccess,
        None => Kind::Reference,
    }
}

/// Looks for further pictures in the packets of one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Scan(Vec<u8>);

impl Scan {
    /// Begins with the first packet of a picture.
    pub(super) fn restart(&mut self) {
        self.0.clear();
    }

    /// True if a picture that others refer to begins in `packet`, or in the one before and this one.
    pub(super) fn finds_reference(&mut self, codec: Codec, packet: &Packet) -> bool {
        self.0.extend_from_slice(if packet.starts_unit() { elementary(packet) } else { packet.payload() });
        let is_found = headers(codec, &self.0)
            .any(|header| matches!(header, Header::Picture(Kind::Reference | Kind::RandomAccess)));
        self.0.drain(..self.0.len().saturating_sub(HEADER - 1));
        is_found
    }
}

/// The payload of a packet that begins a PES packet, without the PES header (ISO/IEC 13818-1 §2.4.3.6).
fn elementary(packet: &Packet) -> &[u8] {
    let payload = packet.payload();
    match *payload {
        [0, 0, 1, _, _, _, _, _, len, ..] => payload.get(9 + usize::from(len)..).unwrap_or_default(),
        _ => payload,
    }
}

/// The headers of pictures and parameters in `bytes`, as far as they are complete.
fn headers(codec: Codec, bytes: &[u8]) -> impl Iterator<Item = Header> {
    let mut at = 0;
    let codes = core::iter::from_fn(move || {
        let code = start_code::find(bytes, at)?;
        at = code + 3;
        Some(&bytes[at..])
    });
    codes.filter_map(move |unit| match codec {
        Codec::H264 => nal_unit(unit),
        Codec::Mpeg => mpeg(unit),
        Codec::Other => None,
    })
}

/// A NAL unit (ITU-T H.264 §7.3.1, Table 7-1). All slices of a picture are alike in whether others refer to it (§7.4.1).
fn nal_unit(unit: &[u8]) -> Option<Header> {
    let header = *unit.first()?;
    let is_reference = header & 0x60 != 0;
    match header & 0x1f {
        1 | 2 if is_reference => Some(Header::Picture(Kind::Reference)),
        1 | 2 => Some(Header::Picture(Kind::Disposable)),
        5 => Some(Header::Picture(Kind::RandomAccess)),
        7 => Some(Header::Parameters),
        _ => None,
    }
}

/// A header of MPEG video (ISO/IEC 13818-2 §6.2.1, §6.3.9). No picture refers to a B picture, and none after an I picture
/// and displayed after it refers to one before.
fn mpeg(unit: &[u8]) -> Option<Header> {
    match *unit {
        [0x00, _, second, ..] => Some(Header::Picture(match second >> 3 & 7 {
            1 => Kind::RandomAccess,
            3 => Kind::Disposable,
            _ => Kind::Reference,
        })),
        [0xb3, ..] => Some(Header::Parameters),
        _ => None,
    }
}
