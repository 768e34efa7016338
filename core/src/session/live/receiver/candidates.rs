//! Candidates: ends with a validated address, the first media of one of which makes it the sender.

use core::net::SocketAddr;

use super::timeline::Stamp;
use crate::session::live::End;
use crate::session::live::secret::Secret;
use crate::time::{Span, Time};
use crate::wire::hello::Hello;

/// Most candidates; a new one replaces the one with the oldest hello. Ours: a flood of validated addresses can displace
/// a candidate (docs/security.md); more take memory for addresses that never send media.
const MOST: usize = 16;
/// The time for which a hello is valid. Ours: ten hellos of a running stream; longer lets a candidate that has ended
/// take the receiver.
const LIFE: Span = Span::from_secs(2);

/// A hello, with the sender report before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SenderHello {
    pub(super) ssrc: u32,
    pub(super) hello: Hello,
    pub(super) sent: Stamp,
}

impl SenderHello {
    /// Returns whether packets with `ssrc` belong to its stream.
    fn carries(&self, ssrc: u32) -> bool {
        [self.ssrc, self.hello.repair_ssrc].contains(&ssrc)
    }
}

/// An end with a validated address, whose media would make it the sender.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Candidate {
    pub(super) from: SocketAddr,
    pub(super) offer: SenderHello,
    pub(super) secret: Secret,
    /// The arrival time of its hello.
    pub(super) received_at: Time,
}

/// Candidates in the order of their hellos.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Candidates(Vec<Candidate>);

impl Candidates {
    /// Adds a candidate, in place of an earlier hello of the same stream.
    pub(super) fn add(&mut self, candidate: Candidate) {
        let is_same = |other: &Candidate| other.from == candidate.from && other.offer.ssrc == candidate.offer.ssrc;
        self.0.retain(|other| !is_same(other));
        if self.0.len() == MOST {
            // The first candidate has the oldest hello.
            self.0.remove(0);
        }
        self.0.push(candidate);
    }

    /// Forgets candidates whose hello has expired.
    pub(super) fn expire(&mut self, now: Time) {
        self.0.retain(|candidate| now.since(candidate.received_at) < LIFE);
    }

    /// Takes the candidate that sends media with `ssrc` from `from`.
    pub(super) fn take_sending(&mut self, from: SocketAddr, ssrc: u32) -> Option<Candidate> {
        self.take(|candidate| candidate.from == from && candidate.offer.carries(ssrc))
    }

    /// Takes the candidate at `from` whose secret `datagram` proves.
    pub(super) fn take_proved(&mut self, from: SocketAddr, datagram: &[u8]) -> Option<Candidate> {
        self.take(|candidate| candidate.from == from && candidate.secret.proves(End::Sender, datagram))
    }

    fn take(&mut self, is_match: impl Fn(&Candidate) -> bool) -> Option<Candidate> {
        let nth = self.0.iter().position(is_match)?;
        Some(self.0.remove(nth))
    }
}
