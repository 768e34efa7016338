//! The part of a session that plays, as its connection drives it: a [plain stream](super::sender), or a stream whose
//! receiver controls the rate ([R3CP+](super::r3cp)).

use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::Arc;

use thalweg_core::law::breaker::Cause;
use thalweg_core::time::Time;
use thalweg_core::wire::npt::NptRange;
use thalweg_core::wire::rtcp::ReportBlock;
use thalweg_rtsp::message::{Fields, Response};

use super::reading::{Batch, Wanted};
use super::sender::FrameTag;
use super::stored::Stored;
use super::transport::Delivery;

/// The sender of one video to one client, without I/O.
pub(crate) trait Playback: Debug + Send + Sync {
    /// The video.
    fn stored(&self) -> &Arc<Stored>;

    /// Adds a track, which must exist, or changes its delivery; `server_ports` are those of RTP and RTCP.
    ///
    /// # Errors
    /// The refusal, if the delivery does not suit this sender or clashes with that of another track.
    fn set_up(&mut self, track: usize, delivery: Delivery, server_ports: (u16, u16)) -> Result<Fields, Response>;

    /// The number of tracks that are set up.
    fn tracks(&self) -> usize;

    /// True if packets leave within the connection.
    fn is_interleaved(&self) -> bool;

    /// Plays a range, which begins before the end of the video; `base` is the URL of the video.
    fn play(&mut self, now: Time, range: Option<NptRange>, base: &str) -> Fields;

    /// Stops until the next play.
    fn pause(&mut self, now: Time);

    /// True from the start of a play to its pause or end.
    fn is_playing(&self) -> bool;

    /// The marks of datagrams that belong to this sender.
    fn claims(&self) -> Vec<Claim>;

    /// Takes an arrival; true if it is the client's.
    fn handle(&mut self, now: Time, arrival: &Arrival) -> bool;

    /// Notifies the sender that the time of [`Playback::poll_timeout`] has come.
    fn handle_timeout(&mut self, _now: Time) {}

    /// The frames to be read next, at most once until they are supplied.
    fn wanted(&mut self) -> Option<Wanted>;

    /// Takes the frames that were read; none of them if they cannot be read.
    fn supply(&mut self, batch: Option<Batch>);

    /// Writes the next packet that is due into `buf`, which has space for a datagram.
    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit>;

    /// The time of the next packet; none while nothing plays or the next frame is being read.
    fn poll_timeout(&self) -> Option<Time>;

    /// The end of the play, once.
    fn poll_end(&mut self) -> Option<End>;
}

/// The mark of datagrams that belong to a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Claim {
    /// Reports about the stream with this SSRC.
    Stream(u32),
    /// Probes with this key of R3CP+, and what follows from their addresses.
    Key(u64),
}

/// The information that arrives for a sender.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// A report about a stream, from the port of RTCP.
    Report(ReportBlock),
    /// An RTCP packet within the connection.
    Interleaved(Vec<u8>),
    /// A datagram from the port of RTP.
    Datagram { from: SocketAddr, bytes: Vec<u8> },
}

/// A packet that is to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmit {
    pub(crate) route: Route,
    pub(crate) len: usize,
    /// The frame of an RTP packet; none of an RTCP packet.
    pub(crate) frame: Option<FrameTag>,
}

/// The way of a packet to the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Route {
    /// From the port of RTP.
    Rtp(SocketAddr),
    /// From the port of RTCP.
    Rtcp(SocketAddr),
    /// A channel of the connection.
    Channel(u8),
}

/// The reason that a play has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The video is over.
    Complete,
    /// A breaker of RFC 8083 has opened.
    Breaker(Cause),
    /// The file is not what it was.
    Changed,
}
