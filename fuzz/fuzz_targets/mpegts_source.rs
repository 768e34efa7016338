//! Transport packets with any headers, paced and looped: no packet is lost, and due times never decrease.
#![no_main]

use core::iter::from_fn;

use libfuzzer_sys::fuzz_target;
use thalweg_core::time::Span;
use thalweg_mpegts::PACKET;
use thalweg_mpegts::source::{LoopMode, TsSource};

/// The bytes of a packet that are not only payload: header, adaptation field with PCR, PES header with PTS and DTS.
const HEAD: usize = 31;

fuzz_target!(|data: &[u8]| {
    let Some((&mode, heads)) = data.split_first() else { return };
    let (mode, turns) = if mode % 2 == 0 { (LoopMode::Once, 1) } else { (LoopMode::Forever, 3) };
    let stream: Vec<u8> = heads.chunks_exact(HEAD - 1).flat_map(packet).collect();
    let mut source = TsSource::new(mode);
    let (mut sent, mut last) = (0, Span::ZERO);
    for turn in 1..=turns {
        let fate = source.push(&stream).and_then(|()| source.finish());
        for (due, len) in from_fn(|| source.poll().map(|(due, datagram)| (due, datagram.len()))) {
            assert!(due >= last);
            (sent, last) = (sent + len, due);
        }
        if fate.is_err() {
            return;
        }
        assert!(sent <= turn * stream.len());
    }
    assert!(mode == LoopMode::Forever || sent == stream.len());
});

fn packet(head: &[u8]) -> [u8; PACKET] {
    let mut packet = [0; PACKET];
    packet[0] = 0x47;
    packet[1..HEAD].copy_from_slice(head);
    packet
}
