//! An outsider: an unauthenticated peer off the path, with an address of its own.

use core::net::SocketAddr;

use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::Sender;
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::Time;
use thalweg_core::wire::rtp;

use crate::live::props::sender_config;
use crate::live::story::Story;

/// All datagrams that `session` has to send now.
pub(crate) fn said(session: &mut impl Session, now: Time) -> Vec<Vec<u8>> {
    let mut buf = [0; MAX_DATAGRAM];
    core::iter::from_fn(|| session.poll_transmit(now, &mut buf).map(|sent| buf[..sent.len].to_vec())).collect()
}

/// `bytes` with every SSRC of `from` changed to `to`.
pub(crate) fn renamed(mut bytes: Vec<u8>, from: [u8; 4], to: [u8; 4]) -> Vec<u8> {
    for at in (0..bytes.len() - 3).step_by(4) {
        if bytes[at..at + 4] == from {
            bytes[at..at + 4].copy_from_slice(&to);
        }
    }
    bytes
}

/// The SSRC of the author of an RTCP datagram (RFC 3550 §6.4).
pub(crate) fn ssrc(bytes: &[u8]) -> [u8; 4] {
    *bytes[4..].first_chunk().expect("a datagram of RTCP")
}

/// Datagrams that the story's endpoints have sent to `address`.
pub(crate) fn heard_at(story: &mut Story, address: SocketAddr) -> Vec<Vec<u8>> {
    let (here, elsewhere) = core::mem::take(&mut story.elsewhere).into_iter().partition(|(to, _)| *to == address);
    story.elsewhere = elsewhere;
    here.into_iter().map(|(_, bytes): (_, Vec<u8>)| bytes).collect()
}

/// A sender at another address, which exchanges datagrams with the story's receiver without delay.
pub(crate) struct Outsider {
    pub(crate) at: SocketAddr,
    pub(crate) session: Sender,
}

impl Outsider {
    pub(crate) fn new(story: &Story, seed: u64) -> Outsider {
        let at = SocketAddr::from(([10, 6, 6, 6], 600 + seed as u16));
        Outsider { at, session: Sender::new(sender_config(), story.now, &Rng::new(seed)) }
    }

    /// Runs the outsider until `millis`, every 10 ms; with `media` it also sends media.
    pub(crate) fn talk(&mut self, story: &mut Story, until: u64, media: bool) {
        for millis in (story.now.as_nanos() / 1_000_000..until).step_by(10) {
            story.until(millis);
            if self.session.poll_timeout().is_some_and(|due| due <= story.now) {
                self.session.handle_timeout(story.now);
            }
            if media {
                self.session.handle_media(story.now, b"an outsider's media");
            }
            for datagram in said(&mut self.session, story.now) {
                let _ = story.receiver.handle_datagram(story.now, self.at, &datagram);
            }
            story.until(millis + 1);
            for datagram in heard_at(story, self.at) {
                let _ = self.session.handle_datagram(story.now, story.receiver_at, &datagram);
            }
        }
    }
}

/// The hello of `sender` in a datagram.
pub(crate) fn hello(sender: &mut Sender, now: Time) -> Vec<u8> {
    said(sender, now).into_iter().find(|datagram| rtp::is_rtcp(datagram)).expect("a hello is due")
}

/// The receiver's replies to `datagram` from `from`.
pub(crate) fn replies(story: &mut Story, from: SocketAddr, datagram: &[u8]) -> Vec<Vec<u8>> {
    let _ = story.receiver.handle_datagram(story.now, from, datagram);
    let now = story.now.as_nanos() / 1_000_000;
    story.until(now + 1);
    heard_at(story, from)
}
