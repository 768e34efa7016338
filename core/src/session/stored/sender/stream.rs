//! The RTP stream of one track: sequence numbers, and the packets behind them.

use std::collections::VecDeque;

use crate::law::breaker;
use crate::rng::Rng;
use crate::session::rtp::Outbound;
use crate::session::stored::Track;
use crate::time::Span;
use crate::wire::rtp::Header;
use crate::wire::sequence;

/// The packets that can be retransmitted at most: at 1500 packets per second those of the last five seconds.
const HISTORY: usize = 8_192;

/// A packet by its frame and its index there.
pub(super) type Place = (u32, u16);

/// The stream of one track.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Stream {
    track: Track,
    pub(super) ssrc: u32,
    rtx_ssrc: u32,
    timestamp: u32,
    /// The number of the next packet, extended to 64 bits.
    next: u64,
    rtx_next: u16,
    /// The last packets sent, except those of frames that are over.
    history: VecDeque<Place>,
    /// Its sender reports.
    pub(super) outbound: Outbound,
}

impl Stream {
    pub(super) fn new(track: Track, mut rng: Rng) -> Stream {
        // Initial numbers are random (RFC 3550 §5.1), and high enough that packets before the first have one.
        let next = (1 << 16) + rng.below(1 << 16);
        let (ssrc, rtx_ssrc, timestamp, rtx_next) = (rng.u32(), rng.u32(), rng.u32(), rng.u32() as u16);
        let outbound = Outbound::new(ssrc, Some(breaker::Config::default()));
        Stream { track, ssrc, rtx_ssrc, timestamp, next, rtx_next, history: VecDeque::new(), outbound }
    }

    /// The sequence number of the next packet.
    pub(super) fn next(&self) -> u16 {
        self.next as u16
    }

    /// The header of the next packet, whose frame is displayed at `display`.
    pub(super) fn header(&self, display: Span, marker: bool) -> Header {
        let Track { payload_type, .. } = self.track;
        let (sequence, timestamp) = (self.next(), self.timestamp_of(display));
        Header { marker, payload_type, sequence, timestamp, ssrc: self.ssrc }
    }

    /// The header of the next retransmission (RFC 4588 §4).
    pub(super) fn rtx_header(&mut self, display: Span, marker: bool) -> Header {
        let sequence = self.rtx_next;
        self.rtx_next = sequence.wrapping_add(1);
        let (payload_type, timestamp) = (self.track.rtx_payload_type, self.timestamp_of(display));
        Header { marker, payload_type, sequence, timestamp, ssrc: self.rtx_ssrc }
    }

    /// The RTP timestamp of a media time.
    pub(super) fn timestamp_of(&self, display: Span) -> u32 {
        let ticks = u128::from(display.as_nanos()) * u128::from(self.track.clock_rate) / 1_000_000_000;
        self.timestamp.wrapping_add(ticks as u32)
    }

    /// Records that the packet of [`Stream::header`] was sent.
    pub(super) fn record(&mut self, place: Place) {
        self.next += 1;
        self.history.push_back(place);
        if self.history.len() > HISTORY {
            self.history.pop_front();
        }
    }

    /// Forgets the oldest packets while their frame `is_over`, which needs no retransmission any more.
    pub(super) fn forget(&mut self, is_over: impl Fn(u32) -> bool) {
        let mut over = None;
        while let Some(&(frame, _)) = self.history.front()
            && (over == Some(frame) || is_over(frame))
        {
            over = Some(frame);
            self.history.pop_front();
        }
    }

    /// The packet that had a sequence number, if it was sent lately.
    pub(super) fn place_of(&self, sequence: u16) -> Option<Place> {
        let number = sequence::nearest::<16>(self.next, sequence.into());
        let behind = self.next.checked_sub(number).filter(|behind| *behind > 0)?;
        let at = self.history.len().checked_sub(behind as usize)?;
        self.history.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_remembered_until_their_frame_is_over_and_few_of_them_at_most() {
        let track = Track { payload_type: 96, rtx_payload_type: 97, clock_rate: 90_000 };
        let mut stream = Stream::new(track, Rng::new(1));
        let first = stream.next();
        let number = |nth: u16| first.wrapping_add(nth);
        // Of three packets a frame.
        let place = |nth: u16| (u32::from(nth / 3), nth % 3);
        (0..30).for_each(|nth| stream.record(place(nth)));
        stream.forget(|frame| frame < 4);
        let known = |stream: &Stream, nth| stream.place_of(number(nth));
        assert_eq!([0, 11, 12, 29].map(|nth| known(&stream, nth)), [None, None, Some((4, 0)), Some((9, 2))]);
        // Frame 6 is displayed before frame 5, which is not over.
        stream.forget(|frame| frame == 4 || frame == 6);
        assert_eq!([14, 15, 18].map(|nth| known(&stream, nth)), [None, Some((5, 0)), Some((6, 0))]);
        (30..20_000).for_each(|nth| stream.record(place(nth)));
        assert_eq!((stream.history.len(), known(&stream, 20_000 - 8_193)), (8_192, None));
        assert_eq!(known(&stream, 20_000 - 8_192), Some(place(20_000 - 8_192)));
        stream.forget(|_| true);
        assert_eq!((stream.history.len(), known(&stream, 19_999)), (0, None));
    }
}
