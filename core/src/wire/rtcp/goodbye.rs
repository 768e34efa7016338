//! Goodbyes (RFC 3550 §6.6).
//!
//! Type 203; offsets are relative to the body.
//!
//! | offset | field |
//! |---|---|
//! | 0 | count times an SSRC |
//! | 4 count | optional: length (8 bits), reason, zeros up to a whole word |

use super::frame::Frame;
use super::writer::Emit;
use crate::wire::Error;

pub(super) const KIND: u8 = 203;

/// Sources that have stopped sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Goodbye<'a> {
    /// The sources' SSRCs, at most 31, in network byte order.
    pub sources: &'a [[u8; 4]],
    /// The reason as text: at most 255 bytes, possibly none.
    pub reason: &'a [u8],
}

impl<'a> Goodbye<'a> {
    pub(super) fn parse(frame: Frame<'a>) -> Result<Goodbye<'a>, Error> {
        let (sources, rest) = frame.body.split_at_checked(4 * usize::from(frame.count)).ok_or(Error::Length)?;
        let reason = match rest.split_first() {
            None => &[],
            Some((&len, text)) => text.get(..len.into()).ok_or(Error::Length)?,
        };
        Ok(Goodbye { sources: sources.as_chunks().0, reason })
    }

    /// True if `ssrc` is among the sources.
    pub fn names(&self, ssrc: u32) -> bool {
        self.sources.contains(&ssrc.to_be_bytes())
    }

    fn text(&self) -> &'a [u8] {
        &self.reason[..self.reason.len().min(255)]
    }
}

impl Emit for Goodbye<'_> {
    fn kind(&self) -> u8 {
        KIND
    }

    fn count(&self) -> u8 {
        self.sources.len().min(31) as u8
    }

    fn body_len(&self) -> usize {
        let reason = match self.text().len() {
            0 => 0,
            len => (1 + len).next_multiple_of(4),
        };
        4 * usize::from(self.count()) + reason
    }

    fn emit_body(&self, body: &mut [u8]) {
        let (sources, rest) = body.split_at_mut(4 * usize::from(self.count()));
        sources.copy_from_slice(self.sources[..self.count().into()].as_flattened());
        if let Some((len, text)) = rest.split_first_mut() {
            *len = self.text().len() as u8;
            text.fill(0);
            text[..self.text().len()].copy_from_slice(self.text());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::super::tests::there_and_back;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn inconsistent_lengths_are_refused() {
        assert_eq!(Goodbye::parse(Frame { count: 2, kind: KIND, body: &[0; 4] }), Err(Error::Length));
        assert_eq!(Goodbye::parse(Frame { count: 0, kind: KIND, body: &[4, 0, 0, 0] }), Err(Error::Length));
    }

    proptest! {
        #[test]
        fn goodbyes_round_trip(
            sources in prop::collection::vec(any::<[u8; 4]>(), 0..32),
            reason in prop::collection::vec(any::<u8>(), 0..256),
        ) {
            let goodbye = Goodbye { sources: &sources, reason: &reason };
            there_and_back(&goodbye, |read| assert_eq!(read, Ok(Packet::Goodbye(goodbye))));
            prop_assert!(sources.iter().all(|ssrc| goodbye.names(u32::from_be_bytes(*ssrc))));
        }
    }
}
