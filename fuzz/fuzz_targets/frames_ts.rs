//! The index of a transport stream: any payloads of the streams of a program give frames inside the file, or an error of
//! one line.
#![no_main]

#[path = "../../serve/src/catalog/frames/ts/synthetic.rs"]
mod synthetic;

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use thalweg_serve::catalog::frames::Index;

use synthetic::{ADTS, AUDIO, H264, MPEG_AUDIO, MPEG2, Muxer, VIDEO};

fuzz_target!(|data: &[u8]| {
    check(data);
    let Some((&kinds, payloads)) = data.split_first() else { return };
    let mut muxer = Muxer::new(if kinds & 1 == 0 { H264 } else { MPEG2 }, if kinds & 2 == 0 { ADTS } else { MPEG_AUDIO });
    // Units of up to 255 bytes, each after its length and a byte: stream, PES packet or not, time stamps.
    let mut rest = payloads;
    while let [len, mark, after @ ..] = rest {
        let (payload, after) = after.split_at(usize::from(*len).min(after.len()));
        let pid = if mark & 1 == 0 { VIDEO } else { AUDIO };
        let time = u64::from(mark >> 3) * 1800;
        match mark >> 1 & 3 {
            0 => payload.chunks(184).for_each(|payload| muxer.packet(pid, false, payload)),
            1 => muxer.pes(pid, None, payload),
            2 => muxer.pes(pid, Some((time, time)), payload),
            // Two thirds of the cycle of 33 bits later.
            _ => muxer.pes(pid, Some((time + (1 << 32) + (1 << 31), time)), payload),
        }
        rest = after;
    }
    check(&muxer.bytes);
});

fn check(video: &[u8]) {
    match Index::read(&mut Cursor::new(video)) {
        Ok(index) => {
            for track in [Some(&index.video), index.audio.as_ref()].into_iter().flatten() {
                assert!(!track.frames.is_empty() && track.frames.len() <= video.len() / 4);
                assert!(track.frames.is_sorted_by_key(|frame| frame.decode));
                assert!(track.frames.iter().all(|frame| frame.offset < video.len() as u64 && frame.skip <= 184));
                let _ = (track.length(), track.rate());
            }
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
}
