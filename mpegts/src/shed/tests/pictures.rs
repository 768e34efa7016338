//! Pictures by rule, muxed, shed and found again.

use super::*;
use crate::mux::{Muxer, Stream, Unit};
use crate::packet::{NULL_PID, Packet};
use crate::synthetic::{Judge, pes_of};
use crate::{PACKET, PACKETS_PER_DATAGRAM};

const VIDEO: u16 = 0x100;
/// The duration of a picture.
const PICTURE: Span = Span::from_millis(40);

/// A coded picture: its letter (I, P or B), its bytes, and its place in display order.
type Coded = (char, usize, u64);

/// Groups of `I BB P BB P ...` in decoding order, of `length` pictures each.
fn groups(groups: u64, length: u64, sizes: [usize; 3]) -> Vec<Coded> {
    let [i, p, b] = sizes;
    let mut coded = Vec::new();
    for first in (0..groups).map(|group| group * length) {
        coded.push(('I', i, first));
        for next in (first + 3..first + length).step_by(3) {
            coded.extend([('P', p, next), ('B', b, next - 2), ('B', b, next - 1)]);
        }
    }
    coded
}

/// The first bytes of a picture in H.264, and its number; no byte of them is zero but in the start code.
fn h264(letter: char, nth: usize) -> Vec<u8> {
    let header = match letter {
        'I' => 0x65,
        'P' => 0x41,
        _ => 0x01,
    };
    vec![0, 0, 0, 1, header, 0x80 | (nth >> 7) as u8, 0x80 | (nth & 0x7f) as u8]
}

/// The pictures and a sound of 400 bytes every 24 ms.
fn mux(pictures: &[Coded], marks_access: bool) -> Vec<u8> {
    let mut muxer = Muxer::new(&[Stream::H264, Stream::MpegAudio]);
    let (mut stream, mut heard) = (Vec::new(), Span::ZERO);
    for (nth, (letter, size, place)) in pictures.iter().enumerate() {
        let mut data = h264(*letter, nth);
        data.resize(*size, 0xaa);
        let dts = PICTURE * nth as u64;
        let pts = PICTURE * (place + 2);
        let is_random_access = *letter == 'I' && marks_access;
        muxer.push(0, &Unit { data: &data, pts, dts, is_random_access }).unwrap();
        while heard <= dts {
            muxer.push(1, &Unit { data: &[0xbb; 400], pts: heard, dts: heard, is_random_access: true }).unwrap();
            heard += Span::from_millis(24);
        }
        stream.extend(core::iter::from_fn(|| muxer.poll().map(<[u8]>::to_vec)).flatten());
    }
    muxer.flush();
    stream.extend(core::iter::from_fn(|| muxer.poll().map(<[u8]>::to_vec)).flatten());
    stream
}

fn packets(stream: &[u8]) -> Vec<Packet> {
    stream.chunks(PACKET).map(|bytes| Packet::parse(bytes).unwrap()).collect()
}

/// The pictures in a stream, by their numbers, and true for those that are whole.
fn found(stream: &[u8], pictures: &[Coded]) -> Vec<(usize, bool)> {
    let of = |data: Vec<u8>| {
        let start = data.windows(4).position(|bytes| matches!(bytes, [0, 0, 1, 0x65 | 0x41 | 0x01])).unwrap();
        let nth = usize::from(data[start + 4] & 0x7f) << 7 | usize::from(data[start + 5] & 0x7f);
        (nth, data.len() - start + 1 == pictures[nth].1)
    };
    pes_of(&packets(stream), VIDEO).into_iter().map(|(_, data)| of(data)).collect()
}

/// The letters of the pictures that are whole, in their groups.
fn letters(stream: &[u8], pictures: &[Coded]) -> Vec<String> {
    let whole = found(stream, pictures).into_iter().filter(|(_, is_whole)| *is_whole);
    let letters: String = whole.map(|(nth, _)| pictures[nth].0).collect();
    letters.replace('I', " I").split_whitespace().map(str::to_owned).collect()
}

fn checked(stream: &[u8], left: &[u8]) {
    let (before, after) = (packets(stream), packets(left));
    let others = |packets: &[Packet]| -> Vec<Packet> {
        packets.iter().filter(|packet| ![VIDEO, NULL_PID].contains(&packet.pid())).cloned().collect()
    };
    assert_eq!(others(&before), others(&after), "tables and sound");
    let clock = |packets: &[Packet]| packets.iter().filter_map(Packet::pcr).collect::<Vec<_>>();
    assert_eq!(clock(&before), clock(&after));
    let mut faults = Judge::of(&after).faults;
    faults.retain(|fault| !fault.starts_with("DTS"));
    assert_eq!(faults, [""; 0]);
}

fn wait(millis: u64) -> Span {
    Span::from_millis(millis)
}

#[test]
fn stream_that_fits_is_unchanged() {
    let stream = mux(&groups(4, 12, [8000, 4000, 2000]), true);
    let mut shedder = Shedder::new();
    let left: Vec<u8> =
        stream.chunks(1316).flat_map(|datagram| shedder.pass(Time::ZERO, datagram, None).to_vec()).collect();
    assert_eq!((left == stream, shedder.pictures()), (true, 0));
    assert!(shed(&stream, 1.3, wait(400)).stream == stream);
}

/// B pictures are 8 of 13 parts of the bytes, and a link of .8 lacks about 3 of them.
#[test]
fn only_pictures_that_none_refers_to_are_dropped_while_that_suffices() {
    let pictures = groups(10, 13, [6000, 3000, 3000]);
    let stream = mux(&pictures, true);
    let Outcome { stream: left, pictures: dropped, wait: waited } = shed(&stream, 0.8, wait(400));
    checked(&stream, &left);
    let groups = letters(&left, &pictures);
    assert_eq!(groups.len(), 10);
    assert!(groups.iter().all(|group| group.replace('B', "") == "IPPPP"), "{groups:?}");
    let whole: usize = groups.iter().map(String::len).sum();
    assert_eq!(whole + dropped as usize, pictures.len());
    // A fifth of the bytes is 28 % of the smaller pictures; what is sent fills the link.
    assert!((0.6..0.8).contains(&(whole as f64 / pictures.len() as f64)), "{groups:?}");
    assert!(waited < wait(400));
}

#[test]
fn group_ends_early_where_other_pictures_do_not_suffice() {
    let pictures = groups(20, 13, [12_000, 6000, 1000]);
    let stream = mux(&pictures, true);
    let Outcome { stream: left, .. } = shed(&stream, 0.6, wait(600));
    checked(&stream, &left);
    let found = found(&left, &pictures);
    assert!(found.iter().all(|(_, is_whole)| *is_whole), "none is cut");
    // A picture is sent only if the last two that it may refer to were sent.
    let sent: Vec<usize> = found.iter().map(|(nth, _)| *nth).collect();
    let references: Vec<usize> = (0..pictures.len()).filter(|nth| pictures[*nth].0 != 'B').collect();
    for nth in sent.iter().filter(|nth| pictures[**nth].0 != 'I') {
        let group = references.iter().rfind(|at| **at <= *nth && pictures[**at].0 == 'I').unwrap();
        let needed = references.iter().filter(|at| (group..nth).contains(at));
        assert!(needed.into_iter().all(|at| sent.contains(at)), "picture {nth} of {sent:?}");
    }
    assert!(letters(&left, &pictures).len() >= 15, "most groups begin");
}

/// An I picture takes 600 ms, and may wait for 200 ms.
#[test]
fn random_access_point_larger_than_the_queue_does_not_starve() {
    let pictures = groups(20, 13, [60_000, 1000, 500]);
    let stream = mux(&pictures, true);
    let Outcome { stream: left, .. } = shed(&stream, 1.0, wait(200));
    checked(&stream, &left);
    let whole = found(&left, &pictures).into_iter().filter(|(nth, is_whole)| *is_whole && pictures[*nth].0 == 'I');
    assert!(whole.count() >= 10);
}

#[test]
fn stream_without_random_access_points_is_not_broken() {
    let mut pictures = groups(1, 151, [3000, 3000, 3000]);
    pictures[0].0 = 'P';
    let stream = mux(&pictures, false);
    let Outcome { stream: left, .. } = shed(&stream, 0.3, wait(400));
    checked(&stream, &left);
    let kept = letters(&left, &pictures).concat();
    assert_eq!(kept.replace('B', "").len(), 51, "every P picture");
}

#[test]
fn null_packets_are_dropped_before_pictures() {
    let pictures = groups(8, 13, [6000, 3000, 3000]);
    let plain = mux(&pictures, true);
    let null = crate::synthetic::plain(NULL_PID, false, 0);
    // One of seven packets more.
    let mut stream = Vec::new();
    for datagram in plain.chunks((PACKETS_PER_DATAGRAM - 1) * PACKET) {
        stream.extend_from_slice(datagram);
        stream.extend_from_slice(null.as_bytes());
    }
    let Outcome { stream: left, pictures: dropped, .. } = shed(&stream, 0.92, wait(600));
    checked(&stream, &left);
    assert!(dropped <= 2, "{dropped} pictures, though null packets are 14 %");
}

/// Two pictures in one PES packet, the second of which others refer to.
#[test]
fn packets_of_several_pictures_are_judged_by_random_access_points() {
    let pictures = groups(20, 13, [6000, 3000, 3000]);
    let mut muxer = Muxer::new(&[Stream::H264]);
    let mut stream = Vec::new();
    for (nth, pair) in pictures.chunks(2).enumerate() {
        let mut data = Vec::new();
        for (letter, size, _) in pair.iter().rev() {
            let at = data.len();
            data.extend(h264(*letter, nth));
            data.resize(at + size, 0xaa);
        }
        let is_random_access = pair.iter().any(|picture| picture.0 == 'I');
        let at = PICTURE * 2 * nth as u64;
        muxer.push(0, &Unit { data: &data, pts: at, dts: at, is_random_access }).unwrap();
        stream.extend(core::iter::from_fn(|| muxer.poll().map(<[u8]>::to_vec)).flatten());
    }
    let Outcome { stream: left, pictures: dropped, .. } = shed(&stream, 0.7, wait(600));
    checked(&stream, &left);
    // Each gap ends at a random access point.
    let starts = |stream: &[u8]| -> Vec<Packet> {
        packets(stream).into_iter().filter(|packet| packet.pid() == VIDEO && packet.starts_unit()).collect()
    };
    let header = |packet: &Packet| crate::pes::Header::parse(packet).unwrap().pts.value();
    let (all, left) = (starts(&stream), starts(&left));
    assert!(dropped > 0 && left.len() < all.len());
    let ends = left.windows(2).filter(|pair| header(&pair[1]) - header(&pair[0]) > 7200);
    // The first gap may be that of a picture that seemed to be one to which no other refers.
    assert!(ends.skip(1).all(|pair| pair[1].is_random_access()));
}
