//! The queue of a connection: responses, and interleaved packets of at most a second of media.

use std::collections::VecDeque;

use thalweg_core::time::Span;
use thalweg_rtsp::decoder::interleave;

use super::sender::FrameTag;
use crate::catalog::frames::Kind;

/// The most media that waits.
const LONGEST: Span = Span::from_secs(1);

/// The queue of a connection.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    units: VecDeque<Unit>,
    /// Bytes of the first unit that were written.
    written: usize,
}

/// Bytes that are written together or dropped together.
#[derive(Debug)]
struct Unit {
    bytes: Vec<u8>,
    /// The frame; none for responses and RTCP.
    frame: Option<FrameTag>,
}

impl Outgoing {
    /// Adds a response.
    pub(crate) fn respond(&mut self, bytes: Vec<u8>) {
        self.units.push_back(Unit { bytes, frame: None });
    }

    /// Adds an RTCP packet on a channel.
    pub(crate) fn report(&mut self, channel: u8, packet: &[u8]) {
        let mut bytes = Vec::new();
        interleave(channel, packet, &mut bytes);
        self.units.push_back(Unit { bytes, frame: None });
    }

    /// Adds an RTP packet of a frame. If more than a second of pictures or sound waits, whole frames are dropped: first B,
    /// then P, then I, and sound last. Returns their number.
    pub(crate) fn media(&mut self, channel: u8, frame: FrameTag, packet: &[u8]) -> u64 {
        // Packets of the other track may have been added since the first one of the frame.
        let is_same = |unit: &&mut Unit| unit.frame.is_some_and(|other| other.is_same(frame));
        if let Some(unit) = self.units.iter_mut().rev().find(is_same) {
            interleave(channel, packet, &mut unit.bytes);
            return 0;
        }
        let mut dropped = 0;
        while self.waits(frame) > LONGEST && self.drop_one(frame.is_audio) {
            dropped += 1;
        }
        let mut bytes = Vec::new();
        interleave(channel, packet, &mut bytes);
        self.units.push_back(Unit { bytes, frame: Some(frame) });
        dropped
    }

    /// Drops the media that waits: another position is played.
    pub(crate) fn clear_media(&mut self) {
        let mut nth = 0;
        let begun = self.written > 0;
        self.units.retain(|unit| {
            nth += 1;
            unit.frame.is_none() || begun && nth == 1
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The bytes to be written next.
    pub(crate) fn front(&self) -> &[u8] {
        self.units.front().map_or(&[], |unit| &unit.bytes[self.written..])
    }

    /// Takes note that bytes of [`Outgoing::front`] were written.
    pub(crate) fn advance(&mut self, written: usize) {
        self.written += written;
        if self.units.front().is_some_and(|unit| unit.bytes.len() <= self.written) {
            self.units.pop_front();
            self.written = 0;
        }
    }

    /// The media that would wait with one more frame: pictures or sound, of which there is more.
    fn waits(&self, more: FrameTag) -> Span {
        let of = |is_audio: bool| {
            let frames = self.units.iter().filter_map(|unit| unit.frame).chain([more]);
            frames.filter(|frame| frame.is_audio == is_audio).fold(Span::ZERO, |all, frame| all + frame.length)
        };
        of(true).max(of(false))
    }

    /// The frames of which nothing was written, oldest first, without the newest one of the track to which none is added:
    /// its last packets may be missing.
    fn droppable(&self, adds_audio: bool) -> impl DoubleEndedIterator<Item = (usize, &Unit)> {
        let begun = usize::from(self.written > 0);
        let of_other = |unit: &Unit| unit.frame.is_some_and(|frame| frame.is_audio != adds_audio);
        let unfinished = self.units.iter().rposition(of_other);
        let units = self.units.iter().enumerate().skip(begun);
        units.filter(move |(nth, unit)| unit.frame.is_some() && Some(*nth) != unfinished)
    }

    fn drop_one(&mut self, adds_audio: bool) -> bool {
        let of = |wanted: Kind| {
            let is_wanted = move |frame: FrameTag| !frame.is_audio && frame.kind == wanted;
            self.droppable(adds_audio).filter(move |(_, unit)| unit.frame.is_some_and(is_wanted))
        };
        // The last P of its group is needed by the fewest, so the newest P goes first.
        let found = of(Kind::B)
            .next()
            .or_else(|| of(Kind::P).next_back())
            .or_else(|| of(Kind::I).next())
            .or_else(|| self.droppable(adds_audio).next());
        let Some(nth) = found.map(|(nth, _)| nth) else { return false };
        self.units.remove(nth);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds of the frames that wait, a for audio.
    fn kinds(outgoing: &Outgoing) -> String {
        let kind = |unit: &Unit| match unit.frame {
            None => 'r',
            Some(FrameTag { is_audio: true, .. }) => 'a',
            Some(FrameTag { kind: Kind::I, .. }) => 'I',
            Some(FrameTag { kind: Kind::P, .. }) => 'P',
            Some(FrameTag { kind: Kind::B, .. }) => 'B',
        };
        outgoing.units.iter().map(kind).collect()
    }

    fn tag(place: usize, letter: char) -> FrameTag {
        let kind = Kind::of(&letter.to_string()).unwrap_or(Kind::I);
        FrameTag { place, kind, is_audio: letter == 'a', length: Span::from_millis(100) }
    }

    /// Adds frames, and returns the number of those that were dropped.
    fn push(outgoing: &mut Outgoing, kinds: &str, start: usize) -> u64 {
        (start..).zip(kinds.chars()).map(|(place, letter)| outgoing.media(0, tag(place, letter), &[0; 10])).sum()
    }

    #[test]
    fn a_second_of_media_waits_and_b_is_dropped_before_p_before_i() {
        let mut outgoing = Outgoing::default();
        assert_eq!(push(&mut outgoing, "aIBBPBBPIPPa", 0), 0);
        assert_eq!(kinds(&outgoing), "aIBBPBBPIPPa");
        assert_eq!(push(&mut outgoing, "PP", 12), 2);
        assert_eq!(kinds(&outgoing), "aIPBBPIPPaPP");
        push(&mut outgoing, "IPP", 14);
        assert_eq!(kinds(&outgoing), "aIPPIPPaPPIP", "two B, and the newest P");
        push(&mut outgoing, "IIIIIIII", 17);
        assert_eq!(kinds(&outgoing), "aIaIIIIIIIII", "every P, and the oldest I");
        push(&mut outgoing, "I", 25);
        assert_eq!(kinds(&outgoing), "aaIIIIIIIIII");
        push(&mut outgoing, "aaaaaaaaa", 26);
        assert_eq!(kinds(&outgoing), "aIaaaaaaaaa", "sound is dropped last, and the newest picture may grow");
    }

    #[test]
    fn frame_that_grows_is_not_dropped() {
        let mut outgoing = Outgoing::default();
        push(&mut outgoing, "IPPPPPPPPP", 0);
        // Sound that is due meanwhile finds more than a second of pictures.
        outgoing.units[1].frame.as_mut().expect("a frame").length = Span::from_millis(150);
        assert_eq!(outgoing.media(2, tag(0, 'a'), &[1]), 1);
        outgoing.media(0, tag(9, 'P'), &[0; 10]);
        assert_eq!((kinds(&outgoing).as_str(), outgoing.units[8].bytes.len()), ("IPPPPPPPPa", 28));
    }

    #[test]
    fn frame_that_was_begun_is_finished() {
        let mut outgoing = Outgoing::default();
        push(&mut outgoing, "BI", 0);
        outgoing.advance(3);
        push(&mut outgoing, "PPPPPPPPP", 2);
        assert_eq!(kinds(&outgoing), "BIPPPPPPPP", "begun, so a P is dropped");
        outgoing.clear_media();
        assert_eq!((kinds(&outgoing).as_str(), outgoing.front().len()), ("B", 11));
        outgoing.advance(11);
        assert!(outgoing.is_empty() && outgoing.front().is_empty());
    }

    #[test]
    fn packets_of_a_frame_and_responses_have_their_framing() {
        let mut outgoing = Outgoing::default();
        outgoing.media(2, tag(7, 'I'), &[1, 2]);
        outgoing.report(3, &[4]);
        outgoing.media(0, tag(7, 'a'), &[5]);
        outgoing.media(2, tag(7, 'I'), &[3]);
        outgoing.respond(b"OK".to_vec());
        assert_eq!(outgoing.front(), [b'$', 2, 0, 2, 1, 2, b'$', 2, 0, 1, 3]);
        assert_eq!(kinds(&outgoing), "Irar");
    }
}
