//! Events of a client, and its failures.

use std::fmt;

use thalweg_core::wire::npt::NptRange;

use super::RtpInfo;
use crate::message::{Method, Status};
use crate::r3cp;

/// An event of a client.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The description has arrived: [`super::Client::presentation`].
    Described,
    /// [`super::Client::play`] may follow: all tracks are set up, or, under R3CP+, the first one is and the requests for
    /// the others have left.
    Ready,
    /// The session plays.
    Playing(Playing),
    /// The session is paused.
    Paused,
    /// A packet within the connection.
    Packet {
        /// The channel.
        channel: u8,
        /// The RTP or RTCP packet.
        bytes: Vec<u8>,
    },
    /// The server has refused a request; the connection remains.
    Refused {
        /// The method.
        method: Method,
        /// The status.
        status: Status,
        /// The reason that the server gives, if it gives one.
        why: Option<String>,
    },
    /// The connection cannot be used any more.
    Failed(Failure),
    /// The session has ended, as asked.
    Ended,
}

/// The response to a PLAY.
#[derive(Clone, PartialEq, Debug)]
pub struct Playing {
    /// The range that is played, where the server names it.
    pub range: NptRange,
    /// The parameters of R3CP+, which a plain session does not have.
    pub r3cp: Option<r3cp::Play>,
    /// The first packet of each track, in the order of their SETUP.
    pub info: Vec<RtpInfo>,
}

/// The reason that a connection cannot be used any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// A response is malformed.
    Malformed(String),
    /// The peer, `HOST:PORT`, speaks another protocol.
    OtherProtocol {
        /// The peer.
        peer: String,
        /// The protocol, where the first bytes show it.
        protocol: Option<&'static str>,
    },
    /// The description of the video is empty.
    NoDescription,
    /// No response to this method arrived within 10 s.
    Silent(Method),
    /// The video is elsewhere. Redirections are not followed: a server could direct clients to any host.
    Redirected(Option<String>),
    /// The server asks for a user and a password.
    Unauthorized,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Malformed(why) => write!(f, "malformed response: {why}"),
            Failure::OtherProtocol { peer, protocol: Some(protocol) } => {
                write!(f, "{peer} speaks {protocol}, not RTSP; use the port of serve --rtsp")
            }
            Failure::OtherProtocol { peer, protocol: None } => {
                write!(f, "{peer} does not speak RTSP; use the port of serve --rtsp")
            }
            Failure::NoDescription => f.write_str("the server sent an empty description"),
            Failure::Silent(method) => {
                write!(f, "no response to {method} within 10 s; check the port, which may be that of another service")
            }
            Failure::Redirected(Some(to)) => write!(f, "the server redirects to {to}; use that URL"),
            Failure::Redirected(None) => f.write_str("the server redirects to another URL, which it does not name"),
            Failure::Unauthorized => f.write_str("the server asks for a user and a password, which is not implemented"),
        }
    }
}
