//! RTCP: control packets, several to a datagram (RFC 3550 §6.1), or a few without the reports (RFC 5506).
//!
//! Reading proceeds from the datagram ([`Compound`]) through its [`Frame`]s to a [`Packet`]; writing appends values
//! that implement [`Emit`] to a [`Writer`].

mod app;
mod description;
mod extended;
pub mod feedback;
mod frame;
mod goodbye;
mod nack;
mod report;
mod writer;

pub use app::App;
pub use description::{Descriptions, Source};
pub use extended::{Extended, PostRepairLoss};
pub use frame::{Compound, Frame};
pub use goodbye::Goodbye;
pub use nack::Nack;
pub use report::{Report, ReportBlock, SenderInfo};
pub use writer::{Emit, Full, Writer};

use self::feedback::Feedback;
use super::Error;

/// A received packet, borrowed from the datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packet<'a> {
    /// Sender or receiver report.
    Report(Report<'a>),
    /// Source description.
    Descriptions(Descriptions<'a>),
    /// Sources that have ended.
    Goodbye(Goodbye<'a>),
    /// Application-defined.
    App(App<'a>),
    /// Congestion control feedback.
    Feedback(Feedback<'a>),
    /// Request for retransmissions.
    Nack(Nack<'a>),
    /// Extended report.
    Extended(Extended<'a>),
    /// Any other packet, to be ignored (RFC 3550 §6.1).
    Other(Frame<'a>),
}

impl<'a> Packet<'a> {
    /// Parses `frame`.
    ///
    /// # Errors
    /// It is of a known type, but malformed.
    pub fn parse(frame: Frame<'a>) -> Result<Packet<'a>, Error> {
        Ok(match (frame.kind, frame.count) {
            (report::SENDER | report::RECEIVER, _) => Packet::Report(Report::parse(frame)?),
            (description::KIND, _) => Packet::Descriptions(Descriptions::parse(frame)?),
            (goodbye::KIND, _) => Packet::Goodbye(Goodbye::parse(frame)?),
            (app::KIND, _) => Packet::App(App::parse(frame)?),
            (feedback::KIND, feedback::FORMAT) => Packet::Feedback(Feedback::parse(frame)?),
            (feedback::KIND, nack::FORMAT) => Packet::Nack(Nack::parse(frame)?),
            (extended::KIND, _) => Packet::Extended(Extended::parse(frame)?),
            _ => Packet::Other(frame),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes one packet and reads it back.
    pub(super) fn there_and_back<T>(packet: &impl Emit, look: impl FnOnce(Result<Packet<'_>, Error>) -> T) -> T {
        let mut buf = [0xff; 2048];
        let mut writer = Writer::new(&mut buf);
        writer.push(packet).unwrap();
        let len = writer.len();
        let compound = Compound::parse(&buf[..len]).unwrap();
        look(Packet::parse(compound.frames().next().unwrap()))
    }

    #[test]
    fn unknown_packet_types_are_passed_over() {
        let frame = Frame { count: 15, kind: 205, body: &[0; 8] };
        assert_eq!(Packet::parse(frame), Ok(Packet::Other(frame)));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(
            kind in 200u8..208, count in 0u8..32, words in prop::collection::vec(any::<[u8; 4]>(), 0..40),
        ) {
            let body = words.as_flattened();
            match Packet::parse(Frame { count, kind, body }) {
                Ok(Packet::Report(report)) => prop_assert!(report.blocks().count() == usize::from(count)),
                Ok(Packet::Descriptions(all)) => prop_assert!(all.sources().count() == usize::from(count)),
                Ok(Packet::Extended(extended)) => prop_assert!(extended.post_repair_losses().count() <= words.len()),
                Ok(Packet::Goodbye(goodbye)) => prop_assert!(goodbye.sources.len() == usize::from(count)),
                Ok(Packet::Nack(nack)) => prop_assert!(nack.sequences().count() <= 17 * words.len()),
                Ok(Packet::App(_) | Packet::Feedback(_) | Packet::Other(_)) | Err(_) => {}
            }
        }
    }
}
