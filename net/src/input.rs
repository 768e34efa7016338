//! Where media comes from.

mod realign;
mod rtp;
mod stream;

use std::net::SocketAddr;

use thalweg_core::session::live::{MAX_PAYLOAD, Media};
use thalweg_core::time::Time;
use thalweg_core::units::Bytes;

use crate::endpoint::{Endpoint, Framing};
use crate::error::Error;
use crate::poll::{Interests, Ready};
use crate::report::Report;
use crate::udp::{Inbox, Socket};
use realign::Realign;
use rtp::Unwrap;
use stream::Stream;

/// An open `--input`.
#[derive(Debug)]
pub struct Input {
    name: String,
    source: Source,
    refused: u64,
    notice: Option<Report>,
    told_skipped: bool,
}

#[derive(Debug)]
enum Source {
    Datagrams { socket: Socket, inbox: Inbox, contents: Contents },
    Stream(Stream),
}

#[derive(Debug)]
enum Contents {
    Opaque,
    Ts(Realign),
    Rtp(Unwrap),
}

impl Input {
    /// Opens it.
    ///
    /// # Errors
    /// What was tried and the kernel's reason; or the file is no transport stream.
    pub fn open(endpoint: &Endpoint) -> Result<Input, Error> {
        let name = format!("input {endpoint}");
        let source = match endpoint {
            Endpoint::Udp(framing, udp) => Source::Datagrams {
                socket: udp.receiving().map_err(Error::io(&name))?,
                inbox: Inbox::new(),
                contents: match framing {
                    Framing::Opaque => Contents::Opaque,
                    Framing::Ts => Contents::Ts(Realign::default()),
                    Framing::Rtp => Contents::Rtp(Unwrap::default()),
                },
            },
            Endpoint::File { path, repeat } => Source::Stream(Stream::file(path, *repeat).map_err(Error::io(&name))?),
            Endpoint::Stdio => Source::Stream(Stream::stdin().map_err(Error::io(&name))?),
        };
        let mut input = Input { name, source, refused: 0, notice: None, told_skipped: false };
        if let Source::Stream(stream) = &mut input.source {
            stream.look().map_err(|reason| Error::new(&input.name, reason))?;
        }
        Ok(input)
    }

    /// What its datagrams are.
    pub fn media(&self) -> Media {
        match self.source {
            Source::Datagrams { contents: Contents::Opaque, .. } => Media::Opaque,
            _ => Media::Mp2t,
        }
    }

    /// Where datagrams are to be sent, if it takes any.
    pub fn local(&self) -> Option<SocketAddr> {
        match &self.source {
            Source::Datagrams { socket, .. } => Some(socket.local()),
            Source::Stream(_) => None,
        }
    }

    /// Hands what is due by `now` to `take`; whether more may be waiting. Nothing is taken from a file or a pipe
    /// before somebody is `connected`.
    ///
    /// # Errors
    /// The file cannot be read, or is no transport stream.
    pub fn read(
        &mut self,
        now: Time,
        ready: &mut Ready,
        connected: bool,
        mut take: impl FnMut(&[u8]),
    ) -> Result<bool, Error> {
        let readable = ready.take();
        match &mut self.source {
            Source::Datagrams { socket, inbox, contents } => {
                if let Contents::Ts(realign) = contents {
                    realign.let_go(now, &mut take);
                }
                if !readable {
                    return Ok(false);
                }
                let more = socket.receive(inbox);
                for (_, datagram) in inbox.datagrams() {
                    if let Some(reason) = contents.unpack(now, datagram, &mut take) {
                        self.refused += 1;
                        self.notice.get_or_insert_with(|| Report::warning(format!("{}: {reason}", self.name)));
                    }
                }
                Ok(more)
            }
            Source::Stream(stream) => {
                stream.read(now, readable, connected, take).map_err(|reason| Error::new(&self.name, reason))
            }
        }
    }

    /// Hands to `take` what waited for more to come: there will be no more.
    pub fn finish(&mut self, mut take: impl FnMut(&[u8])) {
        if let Source::Datagrams { contents: Contents::Ts(realign), .. } = &mut self.source {
            realign.finish(&mut take);
        }
    }

    /// What to wait for.
    pub fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        match &self.source {
            Source::Datagrams { socket, .. } => interests.read(socket),
            Source::Stream(stream) => stream.interests(interests),
        }
    }

    /// When the next datagram is due although nothing comes.
    pub fn next(&self) -> Option<Time> {
        match &self.source {
            Source::Datagrams { contents: Contents::Ts(realign), .. } => realign.due(),
            Source::Datagrams { .. } => None,
            Source::Stream(stream) => stream.next(),
        }
    }

    /// Whether nothing will come any more.
    pub fn is_over(&self) -> bool {
        match &self.source {
            Source::Datagrams { .. } => false,
            Source::Stream(stream) => stream.is_over(),
        }
    }

    /// Datagrams that cannot be carried.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Bytes that are left out because they belong to no packet of MPEG-TS.
    pub fn skipped(&self) -> Bytes {
        match &self.source {
            Source::Datagrams { contents: Contents::Ts(realign), .. } => realign.skipped(),
            Source::Datagrams { .. } => Bytes(0),
            Source::Stream(stream) => stream.skipped(),
        }
    }

    /// Something to tell.
    pub fn poll_notice(&mut self) -> Option<Report> {
        let truncated = match &mut self.source {
            Source::Datagrams { .. } => None,
            Source::Stream(stream) => stream.take_truncated(),
        };
        if let Some(bytes) = truncated {
            let text = format!("{}: its last packet is cut short; left out {} bytes", self.name, bytes.0);
            return Some(Report::warning(text));
        }
        // The first refusal and the first gap are told, the counts are metrics.
        let is_film = match &self.source {
            Source::Datagrams { .. } => true,
            Source::Stream(stream) => stream.is_film(),
        };
        if is_film && self.skipped() > Bytes(0) && !std::mem::replace(&mut self.told_skipped, true) {
            return Some(not_mpeg_ts(&self.name));
        }
        let notice = self.notice.as_mut()?;
        (!notice.text.is_empty()).then(|| std::mem::replace(notice, Report::warning("")))
    }
}

/// What is told of bytes that belong to no packet.
pub(crate) fn not_mpeg_ts(name: &str) -> Report {
    Report::warning(format!("{name}: left out bytes that are not MPEG-TS (packets of 188 bytes that begin with 0x47)"))
}

impl Contents {
    /// Gives what a datagram carries to `take`, or says why it cannot be carried.
    fn unpack(&mut self, now: Time, datagram: &[u8], take: &mut impl FnMut(&[u8])) -> Option<String> {
        let payload = match self {
            Contents::Opaque => datagram,
            Contents::Ts(realign) => {
                realign.push(now, datagram, take);
                return None;
            }
            Contents::Rtp(unwrap) => match unwrap.payload(datagram) {
                Ok(Some(payload)) => payload,
                Ok(None) => return None,
                Err(reason) => return Some(reason),
            },
        };
        if payload.len() > MAX_PAYLOAD {
            return Some(format!("left out a datagram of {} bytes; {MAX_PAYLOAD} is the most", payload.len()));
        }
        take(payload);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(contents: &mut Contents, datagram: &[u8]) -> (Vec<Vec<u8>>, Option<String>) {
        let mut taken = Vec::new();
        let reason = contents.unpack(Time::ZERO, datagram, &mut |payload| taken.push(payload.to_vec()));
        (taken, reason)
    }

    #[test]
    fn opaque_datagrams_pass_unseen_up_to_the_longest_that_fits() {
        let fits = vec![7; MAX_PAYLOAD];
        assert_eq!(unpack(&mut Contents::Opaque, &fits), (vec![fits], None));
        let (taken, reason) = unpack(&mut Contents::Opaque, &[7; MAX_PAYLOAD + 1]);
        assert!(taken.is_empty() && reason.is_some());
        assert_eq!(unpack(&mut Contents::Opaque, &[]), (vec![vec![]], None));
    }
}
