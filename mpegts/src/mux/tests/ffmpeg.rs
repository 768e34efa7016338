//! Videos muxed again, and decoded by ffmpeg.

use super::*;
use crate::files::{decode_kind, read};

/// A stream of a file: its PID, its codec, and its kind in ffmpeg's words.
type Source = (u16, Stream, &'static str);

/// An access unit of a file.
struct Stored {
    /// The index of its stream.
    stream: usize,
    data: Vec<u8>,
    pts: Span,
    dts: Span,
    is_random_access: bool,
}

/// The access units of `file`, each picture of which is one PES packet, by their decoding times. Audio is ADTS.
fn units(file: &[u8], streams: &[Source]) -> Vec<Stored> {
    let packets: Vec<_> = file.chunks(PACKET).map(|bytes| Packet::parse(bytes).unwrap()).collect();
    let mut units = Vec::new();
    for (stream, (pid, ..)) in streams.iter().enumerate() {
        let starts = packets.iter().filter(|packet| packet.pid() == *pid && packet.starts_unit());
        for ((header, data), start) in synthetic::pes_of(&packets, *pid).into_iter().zip(starts) {
            let is_random_access = start.is_random_access();
            let [pts, dts] = [header.pts, header.decoding_time()].map(|time| Ticks::from_90k(time.value()).span());
            if header.stream_id >= pes::VIDEO {
                units.push(Stored { stream, data, pts, dts, is_random_access });
                continue;
            }
            for (nth, data) in (0..).zip(raw_frames(&data)) {
                let at = pts + Span::from_micros(1024 * 1_000_000 / 48_000) * nth;
                units.push(Stored { stream, data, pts: at, dts: at, is_random_access });
            }
        }
    }
    units.sort_by_key(|unit| unit.dts);
    units
}

/// The frames of ADTS without their headers.
fn raw_frames(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while let [0xff, second, _, fourth, fifth, sixth, ..] = *bytes {
        let header = if second & 1 == 1 { 7 } else { 9 };
        let len = usize::from(fourth & 3) << 11 | usize::from(fifth) << 3 | usize::from(sixth >> 5);
        frames.push(bytes[header..len].to_vec());
        bytes = &bytes[len..];
    }
    frames
}

fn mux(streams: &[Source], units: &[Stored], turns: usize) -> Vec<u8> {
    let mut muxer = Muxer::new(&streams.iter().map(|(_, stream, _)| *stream).collect::<Vec<_>>());
    let mut sent = Vec::new();
    for _ in 0..turns {
        for Stored { stream, data, pts, dts, is_random_access } in units {
            let unit = Unit { data, pts: *pts, dts: *dts, is_random_access: *is_random_access };
            muxer.push(*stream, &unit).unwrap();
            sent.extend(drain(&mut muxer));
        }
        muxer.discontinuity();
    }
    muxer.flush();
    sent.extend(drain(&mut muxer));
    assert_eq!(Judge::of(&sent).faults, [""; 0]);
    synthetic::bytes(&sent)
}

#[test]
fn ffmpeg_decodes_muxed_videos_to_the_same_pictures_and_sound() {
    let files: [(&str, &[Source]); 3] = [
        ("assets/clip.ts", &[(0x100, Stream::H264, "v")]),
        (
            "../shared/data/video/sintel_trailer_720p24_13s_copy.ts",
            &[(0x100, Stream::H264, "v"), (0x101, lc_48_khz_stereo(), "a")],
        ),
        ("../shared/data/video/sintel_trailer_mpeg1_ibbp12_480x272_52s.ts", &[(0x100, Stream::MpegVideo, "v")]),
    ];
    for (path, streams) in files {
        let Some(file) = read(path) else { continue };
        let units = units(&file, streams);
        let [once, twice] = [1, 2].map(|turns| mux(streams, &units, turns));
        for (_, _, kind) in streams {
            let name = format!("mux-{}", path.rsplit('/').next().unwrap());
            let Some(original) = decode_kind(&name, &file, kind) else { return };
            assert_eq!(decode_kind(&name, &once, kind).as_ref(), Some(&original), "{name}, {kind}");
            let both = decode_kind(&name, &twice, kind).unwrap();
            assert_eq!(both.len(), 2 * original.len(), "{name}, {kind}");
        }
    }
}
