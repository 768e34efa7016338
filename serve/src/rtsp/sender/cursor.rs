//! The next frames of several tracks in the order in which they are due.

use thalweg_core::time::Span;

use crate::catalog::frames::Kind;
use crate::rtsp::stored::Stored;

/// The position of a play: the next frame of each track.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    tracks: Vec<Position>,
    /// The time of the video at which the play starts.
    from: Span,
    /// The time at which it ends; none for that of the video.
    until: Option<Span>,
    /// The decode time of the first picture, in nanoseconds: that of the start.
    first: i128,
}

/// The position in a track.
#[derive(Clone, Copy, Debug)]
struct Position {
    track: usize,
    place: usize,
    /// True until the first picture that others refer to, but for the first: disposable pictures before it are displayed
    /// before the start, and lack what they refer to.
    is_leading: bool,
}

/// A frame, and the time from the start at which it is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Due {
    pub(crate) track: usize,
    pub(crate) place: usize,
    pub(crate) after: Span,
    /// The time from the start at which the frame has been displayed.
    pub(crate) end: Span,
    /// The time to the next frame of the track.
    pub(crate) length: Span,
}

impl Cursor {
    /// The position at `from`, or at the random access point before it, of these tracks.
    pub(crate) fn new(
        stored: &Stored,
        tracks: impl IntoIterator<Item = usize>,
        from: Span,
        until: Option<Span>,
    ) -> Cursor {
        let tracks: Vec<_> = tracks.into_iter().collect();
        let video = stored.track(0).filter(|_| tracks.contains(&0));
        let start = video.map(|video| (video, video.random_access(from)));
        let start = start.and_then(|(video, place)| video.frames.get(place).map(|frame| (video, place, *frame)));
        let from = start.map_or(from, |(video, _, frame)| video.time(frame.display()));
        let first = start.map_or(i128::from(from.as_nanos()), |(video, _, frame)| video.nanos(frame.decode));
        let position = |track: usize| match (track, start) {
            (0, Some((_, place, _))) => Position { track, place, is_leading: true },
            // The whole video has all of its sound: what a decoder needs first precedes the first picture.
            (_, Some((_, 0, _))) => Position { track, place: 0, is_leading: false },
            _ => {
                let place = stored.track(track).map_or(0, |track| track.from(from));
                Position { track, place, is_leading: false }
            }
        };
        Cursor { tracks: tracks.into_iter().map(position).collect(), from, until, first }
    }

    /// The time of the video at which the play starts.
    pub(crate) fn from(&self) -> Span {
        self.from
    }

    /// The next frame; none at the end.
    pub(crate) fn next(&mut self, stored: &Stored) -> Option<Due> {
        loop {
            let candidates = self.tracks.iter().enumerate().filter_map(|(nth, position)| {
                let track = stored.track(position.track)?;
                let frame = track.frames.get(position.place)?;
                Some((track.nanos(frame.decode), nth))
            });
            let (_, nth) = candidates.min()?;
            let position = self.tracks[nth];
            let track = stored.track(position.track)?;
            let frame = *track.frames.get(position.place)?;
            self.tracks[nth].place += 1;
            let is_before = track.time(frame.display()) < self.from;
            if position.is_leading && is_before && frame.kind == Kind::B {
                continue;
            }
            self.tracks[nth].is_leading &= frame.kind == Kind::I;
            if self.until.is_some_and(|until| track.time(frame.display()) >= until) {
                // Pictures are decoded out of order, so that the next ones may still be displayed before the end.
                continue;
            }
            let after = |ticks: i64| (track.nanos(ticks) - self.first).clamp(0, i128::from(u64::MAX)) as u64;
            let duration =
                track.frames.get(position.place + 1).map_or(i64::from(track.last), |next| next.decode - frame.decode);
            let end = frame.display().saturating_add(duration);
            return Some(Due {
                track: position.track,
                place: position.place,
                after: Span::from_nanos(after(frame.decode)),
                end: Span::from_nanos(after(end)),
                length: track.time(duration),
            });
        }
    }
}
