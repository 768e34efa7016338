//! Shedding of transport packets with any headers, under any budgets: whole packets remain, and all but video survives.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use thalweg_core::session::live::sender::MediaBudget;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_mpegts::mux::{Muxer, Stream, Unit};
use thalweg_mpegts::packet::{NULL_PID, Packet};
use thalweg_mpegts::shed::Shedder;
use thalweg_mpegts::{DATAGRAM, PACKET};

/// The bytes of a packet that are not only payload: header, adaptation field with PCR, PES header, start codes.
const HEAD: usize = 40;
/// The PIDs of video, of H.264 and MPEG-2, as a muxer numbers them.
const VIDEOS: [u16; 2] = [0x100, 0x101];

fuzz_target!(|data: &[u8]| {
    let Some((&[rate, wait, queued, step], heads)) = data.split_first_chunk::<4>() else { return };
    let mut before = tables();
    before.extend(heads.chunks_exact(HEAD).map(packet));
    let mut counters = BTreeMap::new();
    for packet in &mut before {
        let counter = counters.entry(packet.pid()).or_insert(packet.counter().wrapping_sub(1));
        *counter = counter.wrapping_add(packet.has_payload().into());
        packet.set_counter(*counter);
    }
    let stream: Vec<u8> = before.iter().flat_map(|packet| *packet.as_bytes()).collect();
    let budget = MediaBudget {
        rate: Rate::from_bps(u64::from(rate) * 20_000),
        longest_wait: Span::from_millis(u64::from(wait) * 4),
        queued: Bytes(u64::from(queued) * 100),
    };
    let (mut shedder, mut now, mut after) = (Shedder::new(), Time::ZERO, Vec::new());
    for (nth, datagram) in stream.chunks(DATAGRAM).enumerate() {
        now += Span::from_millis(step.into());
        let queued = Bytes(budget.queued.0 * (nth as u64 % 4));
        let kept = shedder.pass(now, datagram, Some(&MediaBudget { queued, ..budget }).filter(|_| nth % 8 < 7));
        assert!(kept.len() <= datagram.len() && kept.len() % PACKET == 0);
        after.extend(kept.chunks(PACKET).map(|bytes| Packet::parse(bytes).expect("a packet")));
    }
    // Tables that the input may have add streams of video, of which the check knows nothing.
    if before.iter().skip(2).any(|packet| packet.pid() == 0 || packet.pid() == 0x1000) {
        return;
    }
    let is_other = |packet: &&Packet| packet.pid() != NULL_PID && !VIDEOS.contains(&packet.pid());
    assert!(before.iter().filter(is_other).eq(after.iter().filter(is_other)));
    let clock = |packet: &&Packet| VIDEOS.contains(&packet.pid()) && packet.pcr().is_some();
    assert!(before.iter().filter(clock).map(Packet::pcr).eq(after.iter().filter(clock).map(Packet::pcr)));
    let mut counters = BTreeMap::new();
    for packet in after.iter().filter(|packet| packet.pid() != NULL_PID) {
        let last = counters.insert(packet.pid(), packet.counter());
        assert!(last.is_none_or(|last| packet.counter() == (last + u8::from(packet.has_payload())) % 16));
    }
});

/// The tables of a program with H.264, MPEG-2 and sound.
fn tables() -> Vec<Packet> {
    let mut muxer = Muxer::new(&[Stream::H264, Stream::MpegVideo, Stream::MpegAudio]);
    let unit = Unit { data: &[0; 10], pts: Span::ZERO, dts: Span::ZERO, is_random_access: true };
    muxer.push(0, &unit).expect("a short unit");
    muxer.flush();
    let mut packets = Vec::new();
    while let Some(datagram) = muxer.poll() {
        packets.extend(datagram.chunks(PACKET).map(|bytes| Packet::parse(bytes).expect("a packet")));
    }
    packets.truncate(2);
    packets
}

fn packet(head: &[u8]) -> Packet {
    let mut packet = [0xaa; PACKET];
    packet[..HEAD].copy_from_slice(head);
    packet[0] = 0x47;
    Packet::parse(&packet).expect("the sync byte")
}
