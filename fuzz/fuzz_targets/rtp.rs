//! RTP packets: a parsed packet can be written and parsed again, with the same contents.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::wire::rtp::{Header, Packet, is_rtcp};

fuzz_target!(|data: &[u8]| {
    is_rtcp(data);
    let Ok(packet) = Packet::parse(data) else { return };
    packet.csrc().count();
    let elements: Vec<_> = packet.extension.iter().flat_map(|all| all.elements()).collect();
    let mut written = vec![0; Header::len(&elements)];
    packet.header.emit(&elements, &mut written);
    written.extend_from_slice(packet.payload);
    let again = Packet::parse(&written).expect("own packets can be read");
    assert_eq!((again.header, again.payload), (packet.header, packet.payload));
    assert!(elements.into_iter().eq(again.extension.iter().flat_map(|all| all.elements())));
});
