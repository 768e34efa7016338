//! A player's reception of stored videos over RTSP: under R3CP+ with servers that know it, as plain RTP with others.
//!
//! | module | contents |
//! |---|---|
//! | `endpoint` | the endpoint for the event loop of `thalweg-net`, and its reaction to the server and to keys |
//! | `session` | the session for datagrams: the receiver of R3CP+ that plays now |
//! | `connection`, `link` | the RTSP connection as a descriptor, and its renewal |
//! | `tracks` | the tracks of a description that are played |
//! | `source` | frames of either kind of reception to access units, and the position |
//! | `plain` | RTP within the RTSP connection: frames, their times, reports |
//! | `sink` | access units to an MPEG transport stream, and that to the outputs |
//! | `keys` | keys of a terminal |
#![forbid(unsafe_code)]

mod connection;
mod endpoint;
mod figures;
mod keys;
mod link;
mod plain;
mod session;
mod sink;
mod source;
mod tracks;

pub use self::endpoint::{PREDICTOR, PlayEndpoint, Settings, clock};
pub use self::keys::Keys;
pub use self::link::Link;
pub use self::session::PlaySession;
pub use self::sink::Sink;
