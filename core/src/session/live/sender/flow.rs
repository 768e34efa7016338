//! The rate of the source.

use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// A rate is that of the last one to two of these; after this long without media it is measured anew. Ours: shorter
/// follows single video frames, longer follows a changed rate later.
const SECOND: Span = Span::from_secs(1);

/// The recent media of a source.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Flow {
    began: Time,
    bytes: u64,
    /// Start and bytes of the second before.
    before: Option<(Time, u64)>,
    last: Option<Time>,
}

impl Flow {
    /// Takes note of a media datagram of so many bytes.
    pub(super) fn push(&mut self, now: Time, bytes: usize) {
        if self.last.is_none_or(|last| now.since(last) >= SECOND) {
            *self = Flow { began: now, ..Flow::default() };
        } else if now.since(self.began) >= SECOND {
            self.before = Some((self.began, core::mem::take(&mut self.bytes)));
            self.began = now;
        }
        self.bytes += bytes as u64;
        self.last = Some(now);
    }

    /// The rate since the media began, over at most the last two seconds; zero without media.
    pub(super) fn rate(&self, now: Time) -> Rate {
        let (began, earlier) = self.before.unwrap_or((self.began, 0));
        Rate::of(Bytes(earlier + self.bytes), now.since(began))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Feeds `bytes` each millisecond; 125 are 1 Mb/s.
    fn play(flow: &mut Flow, millis: core::ops::Range<u64>, bytes: usize) {
        millis.for_each(|millis| flow.push(at(millis), bytes));
    }

    #[test]
    fn idle_time_before_the_media_is_excluded_from_its_rate() {
        let mut flow = Flow::default();
        assert_eq!(flow.rate(at(700)), Rate::from_bps(0));
        for start in [700, 5000] {
            play(&mut flow, start..start + 500, 125);
            assert_eq!(flow.rate(at(start + 500)), Rate::from_mbps(1));
            play(&mut flow, start + 500..start + 2700, 125);
            assert_eq!(flow.rate(at(start + 2700)), Rate::from_mbps(1));
        }
    }

    #[test]
    fn rate_follows_a_change_within_two_seconds() {
        let mut flow = Flow::default();
        play(&mut flow, 0..5000, 125);
        play(&mut flow, 5000..7000, 375);
        assert_eq!(flow.rate(at(7000)), Rate::from_mbps(3));
    }
}
