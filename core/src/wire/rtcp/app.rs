//! Application-defined packets (RFC 3550 §6.7).
//!
//! Type 204, with the subtype in place of the count; offsets are relative to the body.
//!
//! | offset | field |
//! |---|---|
//! | 0 | SSRC |
//! | 4 | name: four ASCII characters |
//! | 8 | data in whole words |

use super::frame::Frame;
use super::writer::Emit;
use crate::wire::Error;

pub(super) const KIND: u8 = 204;

/// A packet with application-defined content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct App<'a> {
    /// The subtype, 0 to 31.
    pub subtype: u8,
    /// The SSRC of the sender.
    pub ssrc: u32,
    /// The name of the application.
    pub name: [u8; 4],
    /// The data in whole words; a last word that is not whole is padded with zeros on the wire.
    pub data: &'a [u8],
}

impl<'a> App<'a> {
    /// The number of bytes before the data.
    pub const HEADER_LEN: usize = 12;

    pub(super) fn parse(frame: Frame<'a>) -> Result<App<'a>, Error> {
        let (ssrc, rest) = frame.body.split_first_chunk().ok_or(Error::Truncated)?;
        let (name, data) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        Ok(App { subtype: frame.count, ssrc: u32::from_be_bytes(*ssrc), name: *name, data })
    }
}

impl Emit for App<'_> {
    fn kind(&self) -> u8 {
        KIND
    }

    fn count(&self) -> u8 {
        self.subtype
    }

    fn body_len(&self) -> usize {
        8 + self.data.len().next_multiple_of(4)
    }

    fn emit_body(&self, body: &mut [u8]) {
        body[..4].copy_from_slice(&self.ssrc.to_be_bytes());
        body[4..8].copy_from_slice(&self.name);
        let (data, rest) = body[8..].split_at_mut(self.data.len());
        data.copy_from_slice(self.data);
        rest.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::super::tests::there_and_back;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn data_is_padded_to_a_word() {
        let app = App { subtype: 0, ssrc: 1, name: *b"name", data: &[1, 2, 3, 4, 5] };
        there_and_back(&app, |read| match read {
            Ok(Packet::App(app)) => assert_eq!(app.data, [1, 2, 3, 4, 5, 0, 0, 0]),
            other => panic!("{other:?}"),
        });
    }

    proptest! {
        #[test]
        fn app_packets_round_trip(
            subtype in 0u8..32, ssrc: u32, name: [u8; 4], words in prop::collection::vec(any::<[u8; 4]>(), 0..40),
        ) {
            let app = App { subtype, ssrc, name, data: words.as_flattened() };
            there_and_back(&app, |read| assert_eq!(read, Ok(Packet::App(app))));
        }
    }
}
