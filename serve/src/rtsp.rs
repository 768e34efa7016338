//! Stored videos over RTSP 1.0 (RFC 2326) and RTP, for any RTSP player.
//!
//! [`machine`] is a connection without I/O: requests in, responses out, and a [`playback`] that a sender implements.
//! [`connection`] drives both with sockets.
//!
//! | layer | file |
//! |---|---|
//! | messages | crate `thalweg_rtsp` |
//! | the choice of a transport | `transport.rs` |
//! | methods and states | `machine.rs` |
//! | a video, its session description | `stored.rs`, `describe.rs` |
//! | a sender as its connection drives it | `playback.rs` |
//! | frames to RTP packets at their pace, with RTCP | `sender.rs` |
//! | the same at the rate that the receiver asks for | `r3cp.rs` |
//! | frames from the disk | `reading.rs` |
//! | packets within the connection | `outgoing.rs` |
//! | sockets | `listen.rs`, `connection.rs`, `datagrams.rs` |

mod connection;
mod datagrams;
mod describe;
mod listen;
mod machine;
mod outgoing;
mod playback;
mod r3cp;
mod reading;
mod sender;
mod stored;
#[cfg(test)]
mod synthetic;
mod transport;

pub(crate) use self::listen::{bind, listen};
