//! The decoding order over both tracks of a video.

use super::Track;

/// The bit that is set in the entries of sound.
const SOUND: u32 = 1 << 31;

/// The frames of both tracks by their decode times, pictures before sound of the same time. Four bytes a frame.
#[derive(Debug)]
pub(crate) struct Order(Box<[u32]>);

impl Order {
    pub(super) fn of(video: &Track, audio: &Track) -> Order {
        let mut entries = Vec::with_capacity(video.frames.len() + audio.frames.len());
        let mut sound = 0..audio.frames.len();
        for (place, picture) in video.frames.iter().enumerate() {
            let time = video.nanos(picture.decode);
            while sound.start < sound.end && audio.nanos(audio.frames[sound.start].decode) < time {
                entries.extend(sound.next().map(|place| place as u32 | SOUND));
            }
            entries.push(place as u32);
        }
        entries.extend(sound.map(|place| place as u32 | SOUND));
        Order(entries.into())
    }

    /// The track of the frame with this index, 0 for pictures, and its place there; none after the last.
    pub(crate) fn frame(&self, index: u32) -> Option<(usize, usize)> {
        let entry = *self.0.get(index as usize)?;
        Some((usize::from(entry & SOUND != 0), (entry & !SOUND) as usize))
    }

    /// The index of the picture at `place`, which must exist.
    pub(crate) fn picture(place: usize, video: &Track, audio: &Track) -> u32 {
        let time = video.nanos(video.frames[place].decode);
        let before = audio.frames.partition_point(|frame| audio.nanos(frame.decode) < time);
        (place + before) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::frames::{Codec, Framing, Index};
    use crate::mp4::synthetic::Tables;

    #[test]
    fn frames_of_both_tracks_follow_in_the_order_of_their_decode_times() {
        // Five pictures 40 ms apart, and sound each 32 ms from -32 ms on.
        let index = Index::read(&mut std::io::Cursor::new(Tables::new().video())).expect("a video");
        let video = index.video;
        let frames = (-1..6).map(|nth| {
            let mut frame = video.frames[0];
            frame.decode = 32 * nth;
            frame
        });
        let codec = Codec::Aac { config: vec![0x11, 0x90], channels: 2 };
        let (timescale, clock, framing) = (1000, 48_000, Framing::Plain);
        let audio = Track { codec, timescale, clock, framing, frames: frames.collect(), last: 32 };
        let order = Order::of(&video, &audio);
        let of = |index| order.frame(index).map(|(track, place)| if track == 0 { place as i32 } else { -1 });
        // -32 s, 0 p, 0 s, 32 s, 40 p, 64 s, 80 p, 96 s, 120 p, 128 s, 160 p, 160 s.
        let expected = [-1, 0, -1, -1, 1, -1, 2, -1, 3, -1, 4, -1].map(Some);
        assert_eq!((0..12).map(of).collect::<Vec<_>>(), expected);
        assert_eq!((order.frame(2), order.frame(12)), (Some((1, 1)), None));
        assert_eq!([0, 3, 4].map(|place| Order::picture(place, &video, &audio)), [1, 8, 10]);
    }
}
