//! Notices about keys that do not match, for the user.

use core::net::SocketAddr;
use std::collections::VecDeque;

use crate::session::secure;
use crate::wire::rtp;
use crate::wire::secure::Datagram;

/// A notice about keys; each kind at most once. All but the last are caused by datagrams that anyone can send, and have
/// no other effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Notice {
    /// A peer sends in the clear, although this end has a key.
    InTheClear {
        /// The peer.
        from: SocketAddr,
    },
    /// A peer encrypts, although this end has no key.
    Encrypted {
        /// The peer.
        from: SocketAddr,
    },
    /// A peer has another key.
    OtherKey {
        /// The peer.
        from: SocketAddr,
    },
    /// A peer uses another version of the association's protocol.
    OtherVersion {
        /// The peer.
        from: SocketAddr,
        /// Its version.
        version: u8,
    },
    /// The peer that this end calls accepts no association, and is not called any more.
    Refused(secure::Ending),
}

/// Notices, and which kinds of them there were.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Notices {
    waiting: VecDeque<Notice>,
    kinds: Vec<core::mem::Discriminant<Notice>>,
}

impl Notices {
    pub(super) fn push(&mut self, notice: Notice) {
        let kind = core::mem::discriminant(&notice);
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
            self.waiting.push_back(notice);
        }
    }

    pub(super) fn poll(&mut self) -> Option<Notice> {
        self.waiting.pop_front()
    }

    /// Takes note of a datagram that was rejected by an end with or without a key.
    pub(super) fn on_rejected(&mut self, from: SocketAddr, bytes: &[u8], has_key: bool) {
        // RFC 3550 §5.1: version 2.
        let is_rtcp = rtp::is_rtcp(bytes) && bytes[0] >> 6 == 2;
        match Datagram::parse(bytes) {
            Ok(Datagram::Hello(_) | Datagram::Foreign { .. }) if !has_key => self.push(Notice::Encrypted { from }),
            Err(_) if has_key && is_rtcp => self.push(Notice::InTheClear { from }),
            _ => {}
        }
    }
}
