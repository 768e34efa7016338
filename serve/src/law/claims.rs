//! The total rate of the videos of a connection.
//!
//! Over HTTP/1.1 there is one at a time. Over HTTP/3 a player may request pictures and sound at once: the connection
//! then plays both. A video that was passed to QUIC to its end may still wait to be sent: its rate is held for the time
//! that it takes at that rate, so that sound requested next does not slow down the end of the picture.

use thalweg_core::time::Time;
use thalweg_core::units::Rate;

/// Limit on held rates of videos that have just ended; a connection does not have more rates than these.
const HELD: usize = 16;

/// The rates of current videos, and of those that have just ended.
#[derive(Clone, Default, Debug)]
pub(crate) struct Claims {
    playing: Vec<Rate>,
    held: Vec<(Rate, Time)>,
}

impl Claims {
    /// Begins a video.
    pub(crate) fn begin(&mut self, rate: Rate) {
        self.playing.push(rate);
    }

    /// Ends a video; its rate counts until `until`, unless another video of that rate follows.
    pub(crate) fn end(&mut self, rate: Rate, until: Time) {
        if let Some(at) = self.playing.iter().position(|playing| *playing == rate) {
            self.playing.swap_remove(at);
        }
        self.held.retain(|(held, _)| *held != rate);
        if self.held.len() == HELD {
            self.held.remove(0);
        }
        self.held.push((rate, until));
    }

    /// The total rate; none if there is no video.
    pub(crate) fn rate(&mut self, now: Time) -> Option<Rate> {
        self.held.retain(|(_, until)| *until > now);
        let held = self.held.iter().map(|(rate, _)| rate).filter(|rate| !self.playing.contains(rate));
        let all = self.playing.iter().chain(held);
        let sum = all.map(|rate| rate.as_bps()).reduce(u64::saturating_add);
        sum.map(Rate::from_bps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_core::time::Span;

    const PICTURE: Rate = Rate::from_mbps(3);
    const SOUND: Rate = Rate::from_mbps(1);

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    fn mbps(claims: &mut Claims, seconds: u64) -> u64 {
        claims.rate(at(seconds)).map_or(0, |rate| rate.as_bps() / 1_000_000)
    }

    #[test]
    fn concurrent_pictures_and_sound_need_the_sum_of_rates() {
        let mut claims = Claims::default();
        assert_eq!(claims.rate(at(0)), None);
        claims.begin(PICTURE);
        claims.begin(SOUND);
        assert_eq!(mbps(&mut claims, 0), 4);
        // The end of the picture takes two more seconds to be sent.
        claims.end(PICTURE, at(2));
        assert_eq!((mbps(&mut claims, 1), mbps(&mut claims, 2)), (4, 1));
        claims.end(SOUND, at(2));
        assert_eq!(claims.rate(at(2)), None);
    }

    #[test]
    fn consecutive_pieces_of_a_video_need_its_rate_once() {
        let mut claims = Claims::default();
        for piece in 0..10 {
            claims.begin(PICTURE);
            assert_eq!(mbps(&mut claims, piece), 3);
            claims.end(PICTURE, at(piece + 5));
        }
        // Two videos of the same rate need it twice.
        claims.begin(PICTURE);
        claims.begin(PICTURE);
        assert_eq!(mbps(&mut claims, 10), 6);
    }

    #[test]
    fn held_rates_of_ended_videos_are_bounded() {
        let mut claims = Claims::default();
        for rate in 1..1000 {
            claims.begin(Rate::from_bps(rate));
            claims.end(Rate::from_bps(rate), at(10));
        }
        assert_eq!(claims.held.len(), HELD);
        assert!(claims.playing.is_empty());
    }
}
