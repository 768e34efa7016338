//! Source descriptions (RFC 3550 §6.5), of which only the canonical name is used.
//!
//! Type 202; the body is count times a chunk.
//!
//! | offset | field of a chunk |
//! |---|---|
//! | 0 | SSRC |
//! | 4 | items: type (8 bits), length (8 bits), text |
//! | ... | zeros, at least one, up to a whole word |

use super::frame::Frame;
use super::writer::Emit;
use crate::wire::Error;

pub(super) const KIND: u8 = 202;
const CNAME: u8 = 1;

/// A source and its canonical name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source<'a> {
    /// The SSRC of the source.
    pub ssrc: u32,
    /// The canonical name, the same for all streams of one origin; at most 255 bytes of UTF-8, not checked.
    pub cname: &'a [u8],
}

/// A received source description.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptions<'a> {
    count: u8,
    chunks: &'a [u8],
}

impl<'a> Descriptions<'a> {
    pub(super) fn parse(frame: Frame<'a>) -> Result<Descriptions<'a>, Error> {
        let mut rest = frame.body;
        for _ in 0..frame.count {
            rest = Source::split(rest)?.1;
        }
        Ok(Descriptions { count: frame.count, chunks: frame.body })
    }

    /// The sources described.
    pub fn sources(&self) -> impl Iterator<Item = Source<'a>> {
        let mut rest = self.chunks;
        (0..self.count).map_while(move |_| {
            let (source, after) = Source::split(rest).ok()?;
            rest = after;
            Some(source)
        })
    }
}

impl<'a> Source<'a> {
    fn split(chunk: &'a [u8]) -> Result<(Source<'a>, &'a [u8]), Error> {
        let (ssrc, mut rest) = chunk.split_first_chunk().ok_or(Error::Truncated)?;
        let mut cname = None;
        while let [kind @ 1..=255, len, after @ ..] = rest {
            let (text, after) = after.split_at_checked(usize::from(*len)).ok_or(Error::Length)?;
            cname = cname.or((*kind == CNAME).then_some(text));
            rest = after;
        }
        let items = chunk.len() - rest.len();
        let after = match rest.first() {
            Some(0) => chunk.get((items + 1).next_multiple_of(4)..),
            _ => None,
        };
        let after = after.ok_or(Error::Truncated)?;
        // RFC 3550 §6.5: the canonical name is mandatory.
        let cname = cname.ok_or(Error::Malformed)?;
        Ok((Source { ssrc: u32::from_be_bytes(*ssrc), cname }, after))
    }

    fn text(&self) -> &'a [u8] {
        &self.cname[..self.cname.len().min(255)]
    }
}

impl Emit for Source<'_> {
    fn kind(&self) -> u8 {
        KIND
    }

    fn count(&self) -> u8 {
        1
    }

    fn body_len(&self) -> usize {
        (4 + 2 + self.text().len() + 1).next_multiple_of(4)
    }

    fn emit_body(&self, body: &mut [u8]) {
        let text = self.text();
        body[..4].copy_from_slice(&self.ssrc.to_be_bytes());
        body[4] = CNAME;
        body[5] = text.len() as u8;
        body[6..][..text.len()].copy_from_slice(text);
        body[6 + text.len()..].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::super::tests::there_and_back;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn items_end_with_a_zero_and_chunks_with_a_word() {
        let body = [[0, 0, 0, 1], [6, 1, b'x', 1], [2, b'a', b'b', 0], [0, 0, 0, 2], [1, 1, b'c', 0]];
        let all = Descriptions::parse(Frame { count: 2, kind: KIND, body: body.as_flattened() }).unwrap();
        let sources: Vec<_> = all.sources().collect();
        assert_eq!(sources, [Source { ssrc: 1, cname: b"ab" }, Source { ssrc: 2, cname: b"c" }]);
    }

    #[test]
    fn chunk_without_a_cname_or_an_end_is_refused() {
        for (body, error) in [
            (&[0, 0, 0, 1, 0, 0, 0, 0][..], Error::Malformed),
            (&[0, 0, 0, 1, 1, 2, b'a', b'b'], Error::Truncated),
            (&[0, 0, 0, 1, 1, 1, b'a', b'b'], Error::Truncated),
            (&[0, 0, 0, 1, 1, 3, b'a', b'b'], Error::Length),
            (&[0, 0, 0], Error::Truncated),
        ] {
            assert_eq!(Descriptions::parse(Frame { count: 1, kind: KIND, body }), Err(error), "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn descriptions_round_trip(ssrc: u32, cname in prop::collection::vec(any::<u8>(), 0..256)) {
            let source = Source { ssrc, cname: &cname };
            there_and_back(&source, |read| match read {
                Ok(Packet::Descriptions(all)) => assert!(all.sources().eq([source])),
                other => panic!("{other:?}"),
            });
        }
    }
}
