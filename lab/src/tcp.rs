//! TCP as competing traffic: a sender and a receiver of segments, each a node.
//!
//! | RFC | what | where |
//! |---|---|---|
//! | 5681 | congestion control, fast retransmit | [`sender`] and the laws of `thalweg_core::law::window` |
//! | 6298 | retransmission timeout | [`rtt`], `sender/timer.rs` |
//! | 6675 | recovery with SACK | `scoreboard.rs`, `sender/recovery.rs` |
//! | 6582 | recovery without SACK (NewReno) | `sender/recovery.rs` |
//! | 3042 | limited transmit | `sender.rs` |
//! | 9937 | proportional rate reduction | `prr.rs` |
//! | 2018 | SACK blocks | [`receiver`] |
//!
//! Connections are open from the start: no handshake and no FIN is modeled. There is no ECN, no F-RTO (RFC 5682), no
//! RACK-TLP (RFC 8985), no timestamps (RFC 7323) and no D-SACK (RFC 2883).

pub mod ack;
mod law;
pub mod player;
mod prr;
pub mod receiver;
pub mod rtt;
mod scoreboard;
pub mod segment;
pub mod sender;

pub use self::ack::Ack;
pub use self::law::Law;
pub use self::player::{Player, Playing, Video};
pub use self::receiver::{DELAYED_ACK, Receiver, ReceiverConfig};
pub use self::rtt::Timeouts;
pub use self::sender::{Dialect, Recovery, Sender, SenderConfig};
