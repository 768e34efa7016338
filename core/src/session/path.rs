//! The parts that sessions of every profile share.
#![cfg_attr(not(feature = "media"), allow(dead_code, reason = "a part of it serves live streams alone"))]

pub(super) mod packet_threshold;
pub(super) mod sent_packets;
#[cfg(any(feature = "media", feature = "secure"))]
pub(super) mod tokens;
