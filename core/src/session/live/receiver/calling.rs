//! A receiver that calls its sender, which listens: no port of the receiver need be open.

use core::net::SocketAddr;

use super::{Event, Receiver};
use crate::session::Transmit;
use crate::session::live::knock;
use crate::time::Time;
use crate::wire::hello::{self, Busy, Hello, Refusal, Request};
use crate::wire::rtcp::{App, Writer};

/// The calls to a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Calling {
    to: SocketAddr,
    /// The time of the first request since the sender was last heard.
    since: Option<Time>,
    /// The time at which the next request is due.
    next: Time,
    /// True if it was reported that the sender is busy.
    is_busy_reported: bool,
}

impl Calling {
    /// Calls the sender at `to` at once.
    pub(super) fn new(to: SocketAddr) -> Calling {
        Calling { to, since: None, next: Time::ZERO, is_busy_reported: false }
    }

    /// Makes the next request due as soon as there is no stream.
    pub(super) fn restart(&mut self) {
        *self = Calling::new(self.to);
    }

    /// Returns whether a request is due now, and leaves.
    fn poll(&mut self, now: Time) -> bool {
        let is_due = self.next <= now;
        if is_due {
            let since = *self.since.get_or_insert(now);
            self.next = now + knock::interval(now.since(since));
        }
        is_due
    }
}

/// A sender's refusal of a request.
#[derive(Clone, Copy)]
pub(super) enum Declined {
    Busy(Busy),
    Version(Refusal),
}

impl Receiver {
    /// Returns whether a hello may begin a stream: any, unless the receiver calls. Then it is of the sender that is
    /// called: from its address, or from another one of the same host, which has received a request or an answer of ours.
    pub(super) fn expects(&self, from: SocketAddr, hello: &Hello) -> bool {
        let is_ours = |address| hello.echo == self.tokens.of(address, &[]);
        self.is_called(from) || self.calling.is_some_and(|calling| is_ours(calling.to) || is_ours(from))
    }

    /// Returns whether an address is the one that the receiver calls; any is if the receiver does not call.
    pub(super) fn is_called(&self, from: SocketAddr) -> bool {
        self.calling.is_none_or(|calling| calling.to == from)
    }

    /// Takes a sender's refusal of a request; calls continue. False if it does not answer a request of ours.
    pub(super) fn on_declined(&mut self, from: SocketAddr, declined: Declined) -> bool {
        let Some(calling) = self.calling.as_mut().filter(|calling| calling.to == from) else { return false };
        let (echo, is_reported, event) = match declined {
            Declined::Busy(Busy { echo }) => (echo, &mut calling.is_busy_reported, Event::Busy),
            Declined::Version(Refusal { version, echo }) => {
                (echo, &mut self.is_version_reported, Event::OtherVersion { from, version })
            }
        };
        let is_ours = echo == self.tokens.of(from, &[]);
        if is_ours && !core::mem::replace(is_reported, true) {
            self.events.push_back(event);
        }
        is_ours
    }

    /// The time at which the next request is due: the sender is not called while it is heard, nor after `finish`.
    pub(super) fn call_due(&self) -> Option<Time> {
        let quiet_at = self.stream.as_ref().map_or(Time::ZERO, |stream| stream.presence.quiet_at());
        self.calling.filter(|_| self.goodbyes.is_none()).map(|calling| calling.next.max(quiet_at))
    }

    /// Writes the request that is due.
    pub(super) fn poll_call(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let is_quiet = self.stream.as_ref().is_none_or(|stream| stream.presence.quiet_at() <= now);
        let calling = self.calling.as_mut()?;
        if !is_quiet {
            calling.restart();
            return None;
        }
        if !calling.poll(now) {
            return None;
        }
        let request = Request { token: self.tokens.of(calling.to, &[]) };
        let mut writer = Writer::new(buf);
        let app = App { subtype: Request::SUBTYPE, ssrc: 0, name: hello::NAME, data: &request.emit() };
        writer.push(&app).ok()?;
        Some(Transmit { to: calling.to, len: writer.len() })
    }
}
