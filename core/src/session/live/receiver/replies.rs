//! Replies to hellos, which wait to be sent.

use core::net::SocketAddr;
use std::collections::VecDeque;

use crate::session::Transmit;
use crate::session::live::End;
use crate::session::live::secret::Secret;
use crate::session::rtp::cname;
use crate::wire::hello::{self, Answer, Refusal};
use crate::wire::rtcp::{App, Full, Report, Source, Writer};

/// Most replies in the queue; hellos beyond get none. Ours: as many as candidates; a sender repeats a dropped hello.
const MOST: usize = 16;

/// A reply to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reply {
    /// To an address that has proved nothing, or to any address while the receiver is busy.
    Bare(Answer),
    /// Under a secret.
    Proved(Answer, Secret),
    Refusal(Refusal),
}

/// Replies to send, one for each datagram with a hello.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Replies {
    /// The receiver's SSRC.
    ssrc: u32,
    queue: VecDeque<(SocketAddr, Reply)>,
}

impl Replies {
    pub(super) fn new(ssrc: u32) -> Replies {
        Replies { ssrc, queue: VecDeque::new() }
    }

    pub(super) fn push(&mut self, to: SocketAddr, reply: Reply) {
        if self.queue.len() < MOST {
            self.queue.push_back((to, reply));
        }
    }

    /// Writes the next reply.
    pub(super) fn poll_transmit(&mut self, buf: &mut [u8]) -> Option<Transmit> {
        let (to, reply) = self.queue.pop_front()?;
        let len = self.emit(&reply, buf).ok()?;
        Some(Transmit { to, len })
    }

    fn emit(&self, reply: &Reply, buf: &mut [u8]) -> Result<usize, Full> {
        let name = hello::NAME;
        let mut writer = Writer::new(buf);
        match reply {
            Reply::Bare(answer) => {
                writer.push(&App { subtype: Answer::SUBTYPE, ssrc: 0, name, data: &answer.emit() })?;
            }
            Reply::Refusal(refusal) => {
                writer.push(&App { subtype: Refusal::SUBTYPE, ssrc: 0, name, data: &refusal.emit() })?;
            }
            Reply::Proved(answer, secret) => {
                let ssrc = self.ssrc;
                writer.push(&Report { ssrc, sender: None, raw_blocks: &[] })?;
                writer.push(&Source { ssrc, cname: cname(ssrc).as_bytes() })?;
                writer.push(&App { subtype: Answer::SUBTYPE, ssrc, name, data: &answer.emit() })?;
                let len = writer.len();
                return secret.prove(End::Receiver, ssrc, buf, len);
            }
        }
        Ok(writer.len())
    }
}
