//! A player behind a receiver: it plays a video at its playback rate, and stalls when its buffer is empty.
//!
//! | TCP Stream §5.1 | here |
//! |---|---|
//! | playback rate, playback time | `rate`, `size` / `rate` |
//! | playout delay of video streaming at the receiver | `playout_delay` |
//!
//! Received data is always taken: the buffer is unlimited, and the receive window never closes because of it.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

/// A video and its playback parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Video {
    /// Its size.
    pub size: Bytes,
    /// Its playback rate.
    pub rate: Rate,
    /// The time from the start of the transfer to that of the playback.
    pub playout_delay: Span,
    /// The amount of video that must be buffered before a stalled player resumes, and before playback could begin at
    /// all.
    pub rebuffer: Span,
}

/// The results of a playback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Playing {
    /// The time from the start until `rebuffer` of the video was there: the wait of an eager player. None so far.
    pub start_up: Option<Span>,
    /// The number of times the buffer ran empty.
    pub stalls: u32,
    /// The total time of these stalls, from the end of the playout delay on.
    pub stalled: Span,
    /// The minimum playout delay without any stall, as far as the video was received.
    pub needed_delay: Span,
    /// The time of video played.
    pub played: Span,
}

/// The state of a player.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Player {
    video: Video,
    start: Time,
    segment: Bytes,
    /// The video received in order, in playing time.
    received: Span,
    /// The time up to which the playback is computed.
    at: Time,
    state: State,
    seen: Playing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Waiting,
    Playing,
    Stalled,
    Ended,
}

impl Player {
    /// A player of a video whose transfer begins at `start`, in segments of `segment` bytes.
    pub fn new(video: Video, segment: Bytes, start: Time) -> Player {
        let seen =
            Playing { start_up: None, stalls: 0, stalled: Span::ZERO, needed_delay: Span::ZERO, played: Span::ZERO };
        Player { video, start, segment, received: Span::ZERO, at: start, state: State::Waiting, seen }
    }

    /// Records that the first `segments` segments have arrived.
    pub fn receive(&mut self, now: Time, segments: u64) {
        self.advance(now);
        // The next byte of the video arrives only now: the playback must not have reached it before.
        let late = now.since(self.start).saturating_sub(self.received);
        self.seen.needed_delay = self.seen.needed_delay.max(late);
        self.received = self.video.rate.time_for((self.segment * segments).min(self.video.size));
        if self.has_enough() {
            self.seen.start_up.get_or_insert(now.since(self.start));
            if self.state == State::Stalled {
                self.state = State::Playing;
            }
        }
    }

    /// The results up to `now`.
    pub fn seen(&self, now: Time) -> Playing {
        let mut player = self.clone();
        player.advance(now);
        player.seen
    }

    fn length(&self) -> Span {
        self.video.rate.time_for(self.video.size)
    }

    fn has_enough(&self) -> bool {
        let ahead = self.received.saturating_sub(self.seen.played);
        ahead >= self.video.rebuffer || self.received >= self.length()
    }

    fn advance(&mut self, now: Time) {
        if self.state == State::Waiting {
            let begin = self.start + self.video.playout_delay;
            if now < begin {
                return;
            }
            (self.state, self.at) = (State::Playing, begin);
        }
        let passed = now.since(self.at);
        self.at = now;
        match self.state {
            State::Playing => self.play(passed),
            State::Stalled => self.seen.stalled += passed,
            State::Waiting | State::Ended => {}
        }
    }

    fn play(&mut self, passed: Span) {
        let left = self.received.saturating_sub(self.seen.played);
        if passed <= left {
            self.seen.played += passed;
            return;
        }
        self.seen.played = self.received;
        if self.received >= self.length() {
            self.state = State::Ended;
        } else {
            self.state = State::Stalled;
            self.seen.stalls += 1;
            self.seen.stalled += passed.saturating_sub(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 s of 8 Mb/s in segments of 1000 bytes: 1000 segments a second.
    const VIDEO: Video = Video {
        size: Bytes(10_000_000),
        rate: Rate::from_mbps(8),
        playout_delay: Span::from_secs(2),
        rebuffer: Span::from_secs(1),
    };

    fn player() -> Player {
        Player::new(VIDEO, Bytes(1000), at(5.0))
    }

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(seconds)
    }

    #[test]
    fn a_video_that_comes_at_its_rate_plays_through() {
        let mut player = player();
        (1..=10_000_u64).for_each(|n| player.receive(at(5.0 + n as f64 / 1e3), n));
        let seen = player.seen(at(60.0));
        assert_eq!((seen.stalls, seen.stalled, seen.played), (0, Span::ZERO, Span::from_secs(10)));
        assert_eq!((seen.start_up, seen.needed_delay), (Some(Span::from_secs(1)), Span::from_millis(1)));
    }

    #[test]
    fn a_gap_stalls_it_until_enough_is_there_again() {
        let mut player = player();
        // 3 s of video at 6 s; playback begins at 7 s and would end at 10 s. Half a second arrives at 12 s, the rest at
        // 13 s.
        player.receive(at(6.0), 3_000);
        player.receive(at(12.0), 3_500);
        assert_eq!(player.seen(at(12.0)).stalls, 1);
        player.receive(at(13.0), 10_000);
        let seen = player.seen(at(13.0));
        assert_eq!((seen.stalls, seen.stalled, seen.played), (1, Span::from_secs(3), Span::from_secs(3)));
        // Segment 3000 was due 3 s into the video and arrived 7 s after the start; segment 3500 arrived at 8 s.
        assert_eq!(seen.needed_delay, Span::from_millis(4_500));
        // Seven more seconds of video.
        assert_eq!(player.seen(at(19.0)).played, Span::from_secs(9));
        assert_eq!((player.seen(at(30.0)).played, player.seen(at(30.0)).stalls), (Span::from_secs(10), 1));
    }

    #[test]
    fn a_video_of_which_nothing_comes_stalls_where_playing_should_begin() {
        let seen = player().seen(at(9.0));
        assert_eq!((seen.stalls, seen.stalled, seen.start_up), (1, Span::from_secs(2), None));
        assert_eq!(player().seen(at(6.9)).stalls, 0);
    }
}
