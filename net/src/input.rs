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
use realign::{Realign, first_packet};
use rtp::Unwrap;
use stream::Stream;

/// An open `--input`.
#[derive(Debug)]
pub struct Input {
    name: String,
    source: Source,
    refused: u64,
    /// Warnings that were not reported yet.
    notices: Vec<Report>,
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
        let mut input = Input { name, source, refused: 0, notices: Vec::new(), told_skipped: false };
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
    /// while it is not `wanted`.
    ///
    /// # Errors
    /// The file cannot be read, or is no transport stream.
    pub fn read(
        &mut self,
        now: Time,
        ready: &mut Ready,
        wanted: bool,
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
                    let notice = contents.unpack(now, datagram, &mut take).unwrap_or_else(|reason| {
                        self.refused += 1;
                        // The first refusal is reported, the count is a metric.
                        (self.refused == 1).then_some(reason)
                    });
                    let report = |text| Report::warning(format!("{}: {text}", self.name));
                    self.notices.extend(notice.map(report));
                }
                Ok(more)
            }
            Source::Stream(stream) => {
                stream.read(now, readable, wanted, take).map_err(|reason| Error::new(&self.name, reason))
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

    /// Returns whether it goes on by itself, as all do but files.
    pub fn is_live(&self) -> bool {
        match &self.source {
            Source::Datagrams { .. } => true,
            Source::Stream(stream) => !stream.is_file(),
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
        // The first gap is reported, the count is a metric.
        let is_film = match &self.source {
            Source::Datagrams { .. } => true,
            Source::Stream(stream) => stream.is_film(),
        };
        if is_film && self.skipped() > Bytes(0) && !std::mem::replace(&mut self.told_skipped, true) {
            return Some(not_mpeg_ts(&self.name));
        }
        self.notices.pop()
    }
}

/// What is told of bytes that belong to no packet.
pub(crate) fn not_mpeg_ts(name: &str) -> Report {
    Report::warning(format!("{name}: left out bytes that are not MPEG-TS (packets of 188 bytes that begin with 0x47)"))
}

impl Contents {
    /// Gives what a datagram carries to `take`, and returns a warning if there is one; an error says why it is left out.
    fn unpack(&mut self, now: Time, datagram: &[u8], take: &mut impl FnMut(&[u8])) -> Result<Option<String>, String> {
        let payload = match self {
            Contents::Opaque if datagram.len() > MAX_PAYLOAD => return self.realign(now, datagram, take).map(Some),
            Contents::Opaque => datagram,
            Contents::Ts(realign) => {
                realign.push(now, datagram, take);
                return Ok(None);
            }
            Contents::Rtp(unwrap) => match unwrap.payload(datagram)? {
                Some(payload) => payload,
                None => return Ok(None),
            },
        };
        if payload.len() > MAX_PAYLOAD {
            return Err(format!("left out a datagram of {} bytes; {MAX_PAYLOAD} is the most", payload.len()));
        }
        take(payload);
        Ok(None)
    }

    /// Goes on as `ts+udp://` does from a datagram that is too long, if it is cut from a stream of MPEG-TS.
    fn realign(&mut self, now: Time, datagram: &[u8], take: &mut impl FnMut(&[u8])) -> Result<String, String> {
        let len = datagram.len();
        let Some(start) = first_packet(datagram) else {
            return Err(format!(
                "left out a datagram of {len} bytes; {MAX_PAYLOAD} is the most. For MPEG-TS there is ts+udp://, and \
                 pkt_size=1316 in ffmpeg's URL"
            ));
        };
        if start > 0 {
            // The end of a packet whose beginning has left in a datagram that was short enough.
            take(&datagram[..start]);
        }
        let mut realign = Realign::default();
        realign.push(now, &datagram[start..], take);
        *self = Contents::Ts(realign);
        Ok(format!(
            "datagrams of {len} bytes are longer than {MAX_PAYLOAD}: they are MPEG-TS, and go on as by ts+udp://, \
             seven packets a datagram"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(contents: &mut Contents, datagram: &[u8]) -> (Vec<Vec<u8>>, Result<Option<String>, String>) {
        let mut taken = Vec::new();
        let notice = contents.unpack(Time::ZERO, datagram, &mut |payload| taken.push(payload.to_vec()));
        (taken, notice)
    }

    #[test]
    fn opaque_datagrams_pass_unseen_up_to_the_longest_that_fits() {
        let fits = vec![7; MAX_PAYLOAD];
        assert_eq!(unpack(&mut Contents::Opaque, &fits), (vec![fits], Ok(None)));
        let (taken, notice) = unpack(&mut Contents::Opaque, &[7; MAX_PAYLOAD + 1]);
        let reason = notice.expect_err("too long");
        assert!(taken.is_empty() && reason.contains("ts+udp://") && reason.contains("pkt_size=1316"), "{reason}");
        assert_eq!(unpack(&mut Contents::Opaque, &[]), (vec![vec![]], Ok(None)));
    }

    /// Datagrams of 1472 bytes, ffmpeg's default: the first has seven packets and 156 bytes of the eighth.
    #[test]
    fn datagrams_of_mpeg_ts_that_are_too_long_are_cut_anew_and_lose_nothing() {
        let packets = (0..100u8).flat_map(|mark| [&[0x47, 0x01, 0x00, mark][..], &[mark; 184]].concat());
        let stream: Vec<u8> = packets.collect();
        for short in [0, 216, 1000] {
            let (head, rest) = stream.split_at(short);
            let (mut contents, mut taken, mut notices) = (Contents::Opaque, Vec::new(), Vec::new());
            let mut take = |payload: &[u8]| taken.push(payload.to_vec());
            for datagram in [head].into_iter().chain(rest.chunks(1472)).filter(|datagram| !datagram.is_empty()) {
                notices.extend(contents.unpack(Time::ZERO, datagram, &mut take).expect("MPEG-TS"));
            }
            let Contents::Ts(realign) = &mut contents else { panic!("the cuts are within packets") };
            realign.finish(&mut take);
            assert_eq!((taken.concat() == stream, realign.skipped()), (true, Bytes(0)), "{short}");
            assert_eq!(notices.len(), 1, "{notices:?}");
            let whole = |payload: &&Vec<u8>| payload.len().is_multiple_of(188);
            assert!(taken.iter().filter(whole).count() >= taken.len() - 2, "at most the cut of the short one");
        }
    }
}
