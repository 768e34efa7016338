//! Plays over virtual time, with a disk that takes none.

use super::*;
use crate::mp4::synthetic::Tables;
use crate::rtsp::playback::Playback;
use crate::rtsp::synthetic::Folder;
use crate::rtsp::transport::Delivery;

/// Half a second at 60 frames a second, each of 20 kB.
fn tables() -> Tables {
    let mut tables = Tables::new();
    let nal = |header: u8, code: u8| [&20_000_u32.to_be_bytes()[..], &[header, code], &[0x55; 19_998]].concat();
    tables.samples = [vec![nal(0x65, 0x88)], vec![nal(0x41, 0x98); 29]].concat();
    (tables.stts[2], tables.stsc[3]) = (30, 30);
    tables.stsz = [vec![0, 0, 30], vec![20_004; 30]].concat();
    tables
}

/// The RTP packets of a play, and the times from its start at which they leave.
fn play(stored: &Arc<Stored>) -> Vec<(Span, FrameTag)> {
    let mut sender = Sender::new(stored.clone(), [127, 0, 0, 1].into(), Rng::new(1));
    for (track, rtp) in [(0, 0), (1, 2)] {
        sender.add(track, Delivery::Interleaved { rtp, rtcp: rtp + 1 }).expect("a track");
    }
    let (start, mut buf, mut packets) = (Time::ZERO + SLACK * 100, [0; 1500], Vec::new());
    sender.start(start, Span::ZERO, None);
    let mut now = start;
    while sender.poll_end().is_none() {
        if let Some(wanted) = sender.wanted() {
            sender.supply(wanted.read());
        }
        match sender.poll_transmit(now, &mut buf) {
            Some(transmit) => packets.extend(transmit.frame.map(|frame| (now.since(start), frame))),
            None => now = now.max(sender.poll_timeout().unwrap_or(now)),
        }
    }
    packets
}

#[test]
fn frames_of_sixty_a_second_and_audio_leave_when_they_are_due() {
    let folder = Folder::new("pace");
    // Frames of 40 ticks.
    let packets = play(&folder.stored(&tables(), 60 * 40, 0..24));
    let of = |is_audio: bool| packets.iter().filter(move |(_, frame)| frame.is_audio == is_audio);
    let interval = Span::from_secs(1) / 60;
    // A frame of 20 kB is 15 packets, which leave in bursts of four.
    assert_eq!((of(false).count(), of(true).count()), (30 * 15, 24));
    for (nth, (at, _)) in of(false).enumerate() {
        let due = interval * (nth / 15 * 15 + nth % 15 / 4 * 4) as u64 / 15;
        assert!(
            *at <= due + Span::from_micros(1) && *at + SLACK >= due.saturating_sub(Span::from_micros(1)),
            "packet {nth} at {at}, due {due}"
        );
    }
    for (nth, (at, _)) in of(true).enumerate() {
        let due = Span::from_secs(1) * (1024 * nth as u64) / 48_000;
        assert!(*at <= due && *at + SLACK >= due, "audio frame {nth} at {at}, due {due}");
    }
    assert!(
        packets.iter().all(|(at, _)| at.as_nanos() % SLACK.as_nanos() == 0),
        "viewers that began apart share turns"
    );
    let together = packets.chunk_by(|one, other| one.0 == other.0).map(<[_]>::len).max();
    assert!(together.is_some_and(|packets| packets <= 10), "{together:?} at once (RFC 9002 §7.7)");
}
