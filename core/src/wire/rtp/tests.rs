use super::*;
use proptest::prelude::*;

#[test]
fn the_one_byte_example_of_rfc_8285_is_read() {
    // RFC 8285 §4.2: elements of 1, 2 and 4 bytes with padding between the second and the third.
    let mut bytes = vec![0x90, 33, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3];
    bytes.extend([0xbe, 0xde, 0, 3, 0x10, 0xaa, 0x21, 0xb0, 0xb1, 0, 0, 0x33, 0xc0, 0xc1, 0xc2, 0xc3, 0x47]);
    let packet = Packet::parse(&bytes).unwrap();
    assert_eq!(packet.element(1), Some(&[0xaa][..]));
    assert_eq!(packet.element(2), Some(&[0xb0, 0xb1][..]));
    assert_eq!(packet.element(3), Some(&[0xc0, 0xc1, 0xc2, 0xc3][..]));
    assert_eq!(packet.element(4), None);
    assert_eq!(packet.payload, [0x47]);
}

#[test]
fn element_15_ends_the_extension() {
    let extension = Extension { profile: 0xbede, data: &[0xf0, 0, 0x10, 0xaa] };
    assert_eq!(extension.elements().count(), 0);
}

#[test]
fn sources_and_padding_are_not_payload() {
    let bytes = [0xa2, 0x60, 0, 9, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0x55, 0, 0, 3];
    let packet = Packet::parse(&bytes).unwrap();
    assert_eq!(packet.csrc().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(packet.payload, [0x55]);
}

#[test]
fn inconsistent_headers_are_refused() {
    let with = |flags: u8, tail: &[u8]| [&[flags, 33, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3][..], tail].concat();
    for (bytes, error) in [
        (with(0x80, &[])[..11].to_vec(), Error::Truncated),
        (with(0x40, &[]), Error::Unknown),
        (with(0x81, &[0, 0, 0]), Error::Truncated),
        (with(0x90, &[0xbe, 0xde, 0, 2, 0, 0, 0, 0]), Error::Length),
        (with(0xa0, &[]), Error::Truncated),
        (with(0xa0, &[0]), Error::Malformed),
        (with(0xa0, &[1, 3]), Error::Length),
    ] {
        assert_eq!(Packet::parse(&bytes), Err(error), "{bytes:02x?}");
    }
}

#[test]
fn rtcp_is_distinguished_from_rtp_on_a_shared_port() {
    assert!(is_rtcp(&[0x80, 200]) && is_rtcp(&[0x80, 205]) && is_rtcp(&[0x80, 207]));
    assert!(!is_rtcp(&[0x80, 33]) && !is_rtcp(&[0x80, 0x80 | 33]) && !is_rtcp(&[0x80]));
}

#[test]
fn an_hour_is_324_million_ticks() {
    assert_eq!(timestamp(Time::from_nanos(3_600_000_000_000)), 324_000_000);
}

fn header() -> impl Strategy<Value = Header> {
    (any::<bool>(), 0u8..128, any::<(u16, u32, u32)>()).prop_map(
        |(marker, payload_type, (sequence, timestamp, ssrc))| Header {
            marker,
            payload_type,
            sequence,
            timestamp,
            ssrc,
        },
    )
}

proptest! {
    #[test]
    fn packets_round_trip(
        header in header(),
        elements in prop::collection::vec((1u8..15, prop::collection::vec(any::<u8>(), 1..17)), 0..5),
        payload: Vec<u8>,
    ) {
        let elements: Vec<Element<'_>> = elements.iter().map(|(id, data)| Element { id: *id, data }).collect();
        let mut bytes = vec![0xff; Header::len(&elements)];
        prop_assert_eq!(header.emit(&elements, &mut bytes), bytes.len());
        bytes.extend(&payload);
        let packet = Packet::parse(&bytes).unwrap();
        prop_assert_eq!(packet.header, header);
        prop_assert_eq!(packet.payload, payload);
        prop_assert_eq!(packet.extension.map_or(vec![], |all| all.elements().collect()), elements);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(mut bytes: Vec<u8>, flags in 0x80u8..0xc0) {
        if let Some(first) = bytes.first_mut() {
            *first = flags;
        }
        if let Ok(packet) = Packet::parse(&bytes) {
            prop_assert!(packet.payload.len() <= bytes.len() - HEADER_LEN);
            prop_assert!(packet.extension.is_none_or(|all| all.elements().count() <= all.data.len()));
        }
    }
}
