//! A muxer under any units, times and AudioSpecificConfig: whole packets leave, each counter advances by one.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use thalweg_core::time::Span;
use thalweg_mpegts::aac::Config;
use thalweg_mpegts::mux::{Muxer, Stream, Unit};
use thalweg_mpegts::packet::Packet;
use thalweg_mpegts::{DATAGRAM, PACKET};

/// Bytes of a unit: its stream, flags and length, and both times.
const HEAD: usize = 12;

fuzz_target!(|data: &[u8]| {
    let Some((config, mut rest)) = data.split_first_chunk::<5>() else { return };
    let audio = match Config::parse(config).and_then(|config| config.adts()) {
        Ok(adts) => Stream::Aac(adts),
        Err(_) => Stream::MpegAudio,
    };
    let mut muxer = Muxer::new(&[Stream::H264, audio]);
    let mut counters = BTreeMap::new();
    while let Some((&[stream, flags, high, low, pts @ .., a, b, c, d], after)) = rest.split_first_chunk::<HEAD>() {
        let (data, after) = after.split_at(usize::from(u16::from_be_bytes([high, low])).min(after.len()));
        rest = after;
        let span = |bytes| Span::from_millis(u32::from_be_bytes(bytes).into());
        let unit = Unit { data, pts: span(pts), dts: span([a, b, c, d]), is_random_access: flags & 1 == 1 };
        if flags & 2 != 0 {
            muxer.discontinuity();
        }
        let _ = muxer.push(usize::from(stream % 2), &unit);
        while let Some(datagram) = muxer.poll() {
            assert!(datagram.len() <= DATAGRAM && datagram.len() % PACKET == 0);
            for packet in datagram.chunks(PACKET).map(|bytes| Packet::parse(bytes).expect("a packet")) {
                let before = counters.insert(packet.pid(), packet.counter()).unwrap_or(15);
                assert_eq!(packet.counter(), (before + u8::from(packet.has_payload())) % 16);
            }
        }
    }
});
