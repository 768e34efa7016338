//! Stored videos over RTSP 1.0 (RFC 2326) and RTP, for any RTSP player.
//!
//! [`machine`] is a connection without I/O: requests in, responses out, and a [`sender`] that plays. [`connection`] drives it
//! with sockets.
//!
//! | layer | file |
//! |---|---|
//! | messages | crate `thalweg_rtsp` |
//! | the choice of a transport | `transport.rs` |
//! | methods and states | `machine.rs` |
//! | a video, its session description | `stored.rs`, `describe.rs` |
//! | frames to RTP packets at their pace, with RTCP | `sender.rs` |
//! | packets within the connection | `outgoing.rs` |
//! | sockets | `listen.rs`, `connection.rs`, `datagrams.rs` |

mod connection;
mod datagrams;
mod describe;
mod listen;
mod machine;
mod outgoing;
mod sender;
mod stored;
mod transport;

pub(crate) use self::listen::{bind, listen};
