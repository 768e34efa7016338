//! The contents of packets, by the endpoints that make them. Paths and the engine do not look at them.

use thalweg_core::law::rate::tfrc;

use crate::stream::{Report, Symbol};
use crate::tcp::ack::Ack;
use crate::tfrc::Report as TfrcReport;

/// The contents of a packet.
///
/// The tag is a whole word, so that a packet is moved in whole words. With a tag of one byte the fields behind it are
/// copied by bytes at odd addresses, and each of these loads waits until all stores before it have reached the cache.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Body {
    /// The bytes of a UDP payload, or of an IP packet.
    Datagram(Vec<u8>),
    /// A source or repair packet of a stream, whose length is the packet's size.
    Media(Symbol),
    /// The report of a stream's receiver.
    Report(Report),
    /// The data packet header of a TFRC sender.
    Tfrc(tfrc::Data),
    /// The feedback of a TFRC receiver.
    TfrcReport(TfrcReport),
    /// No contents: cross traffic, and payloads of which only the length counts.
    Length,
    /// A full segment of the lab's TCP.
    Segment {
        /// Its number in the stream.
        number: u64,
        /// True if it was sent before.
        again: bool,
    },
    /// An acknowledgement of the lab's TCP, without data.
    Ack(Ack),
}
