//! Media inputs.

mod exec;
mod realign;
mod rtp;
mod silence;
mod stream;

use std::net::SocketAddr;

use thalweg_core::session::live::{MAX_PAYLOAD, Media};
use thalweg_core::time::Time;
use thalweg_core::units::{Bytes, Rate};

use crate::error::Error;
use crate::media_url::{Framing, MediaUrl};
use crate::poll::{Interests, Ready};
use crate::report::Report;
use crate::udp::{Inbox, Socket};
use exec::Encoder;
use realign::{Realign, first_packet};
use rtp::Unwrap;
use silence::Silence;
use stream::Stream;

/// An open `--input`.
#[derive(Debug)]
pub struct Input {
    name: String,
    source: Source,
    refused: u64,
    /// The longest datagram that is taken.
    longest: usize,
    /// Warnings not yet reported.
    notices: Vec<Report>,
    reported_skipped: bool,
}

#[derive(Debug)]
enum Source {
    Datagrams { socket: Socket, inbox: Inbox, contents: Contents, silence: Silence },
    Stream(Stream),
    Exec(Box<Encoder>),
}

#[derive(Debug)]
enum Contents {
    Opaque,
    Ts(Realign),
    Rtp(Unwrap),
}

impl Input {
    /// Opens the input.
    ///
    /// # Errors
    /// The operation and the kernel's reason; or the file is not a transport stream.
    pub fn open(media_url: &MediaUrl) -> Result<Input, Error> {
        let name = format!("input {media_url}");
        let source = match media_url {
            MediaUrl::Udp(framing, udp) => Source::Datagrams {
                socket: udp.receiving().map_err(Error::io(&name))?,
                inbox: Inbox::new(),
                contents: match framing {
                    Framing::Opaque => Contents::Opaque,
                    Framing::Ts => Contents::Ts(Realign::default()),
                    Framing::Rtp => Contents::Rtp(Unwrap::default()),
                },
                silence: Silence::new(Time::ZERO),
            },
            MediaUrl::File { path, repeat } => Source::Stream(Stream::file(path, *repeat).map_err(Error::io(&name))?),
            MediaUrl::Stdio => Source::Stream(Stream::stdin().map_err(Error::io(&name))?),
            MediaUrl::Exec { command, start, least } => {
                let encoder = Encoder::open(command, *start, *least).map_err(|why| Error::new(&name, why))?;
                Source::Exec(Box::new(encoder))
            }
        };
        let mut input =
            Input { name, source, refused: 0, longest: MAX_PAYLOAD, notices: Vec::new(), reported_skipped: false };
        if let Source::Stream(stream) = &mut input.source {
            stream.probe().map_err(|reason| Error::new(&input.name, reason))?;
        }
        Ok(input)
    }

    /// Refuses datagrams that are longer than `longest` bytes.
    pub(crate) fn limit(&mut self, longest: usize) {
        self.longest = longest;
    }

    /// The kind of media that its datagrams carry.
    pub fn media(&self) -> Media {
        match self.source {
            Source::Datagrams { contents: Contents::Opaque, .. } => Media::Opaque,
            _ => Media::Mp2t,
        }
    }

    /// The address at which datagrams are received; none for a file or a pipe.
    pub fn local(&self) -> Option<SocketAddr> {
        match &self.source {
            Source::Datagrams { socket, .. } => Some(socket.local()),
            Source::Stream(_) | Source::Exec(_) => None,
        }
    }

    /// Takes the rate that the media should have, for a source that can follow; none is not known yet.
    pub fn want(&mut self, now: Time, rate: Option<Rate>) {
        if let Source::Exec(encoder) = &mut self.source {
            encoder.want(now, rate);
        }
    }

    /// Passes data that is due by `now` to `take`; returns true if more may be waiting. Data of a file or a pipe is
    /// passed only while `wanted`, and a command starts once it is.
    ///
    /// # Errors
    /// The file cannot be read, or is not a transport stream.
    pub fn read(
        &mut self,
        now: Time,
        ready: &mut Ready,
        wanted: bool,
        mut take: impl FnMut(&[u8]),
    ) -> Result<bool, Error> {
        match &mut self.source {
            Source::Datagrams { socket, inbox, contents, silence } => {
                let readable = ready.take();
                if !wanted {
                    silence.postpone(now);
                }
                let report = |text| Report::warning(format!("{}: {text}", self.name));
                if let Contents::Ts(realign) = contents {
                    realign.release(now, &mut take);
                }
                if !readable {
                    self.notices.extend(silence.poll(now).map(report));
                    return Ok(false);
                }
                let more = socket.receive(inbox);
                for (_, datagram) in inbox.datagrams() {
                    silence.end(now);
                    let notice = contents.unpack(now, datagram, self.longest, &mut take).unwrap_or_else(|reason| {
                        self.refused += 1;
                        // The first refusal is reported, the count is a metric.
                        (self.refused == 1).then_some(reason)
                    });
                    self.notices.extend(notice.map(report));
                }
                Ok(more)
            }
            Source::Stream(stream) => {
                stream.read(now, ready.take(), wanted, take).map_err(|reason| Error::new(&self.name, reason))
            }
            Source::Exec(encoder) => {
                encoder.read(now, ready, wanted, take);
                Ok(false)
            }
        }
    }

    /// Passes incomplete datagrams that waited for more data to `take`: the input has ended.
    pub fn finish(&mut self, mut take: impl FnMut(&[u8])) {
        if let Source::Datagrams { contents: Contents::Ts(realign), .. } = &mut self.source {
            realign.finish(&mut take);
        }
    }

    /// Registers the descriptors to wait for.
    pub fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        match &self.source {
            Source::Datagrams { socket, .. } => interests.read(socket),
            Source::Stream(stream) => stream.interests(interests),
            Source::Exec(encoder) => encoder.interests(interests),
        }
    }

    /// The time at which the next datagram is due even if no data arrives.
    pub fn next(&self) -> Option<Time> {
        match &self.source {
            Source::Datagrams { contents: Contents::Ts(realign), silence, .. } => {
                realign.due().into_iter().chain(silence.due()).min()
            }
            Source::Datagrams { silence, .. } => silence.due(),
            Source::Stream(stream) => stream.next(),
            Source::Exec(encoder) => encoder.next(),
        }
    }

    /// True if no more data will come.
    pub fn is_over(&self) -> bool {
        match &self.source {
            Source::Datagrams { .. } | Source::Exec(_) => false,
            Source::Stream(stream) => stream.is_over(),
        }
    }

    /// True if the input runs in real time, as all do but regular files.
    pub fn is_live(&self) -> bool {
        match &self.source {
            Source::Datagrams { .. } | Source::Exec(_) => true,
            Source::Stream(stream) => !stream.is_file(),
        }
    }

    /// The number of datagrams left out because they cannot be carried.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Bytes left out because they belong to no MPEG-TS packet.
    pub fn skipped(&self) -> Bytes {
        match &self.source {
            Source::Datagrams { contents: Contents::Ts(realign), .. } => realign.skipped(),
            Source::Datagrams { .. } => Bytes(0),
            Source::Stream(stream) => stream.skipped(),
            Source::Exec(encoder) => encoder.skipped(),
        }
    }

    /// The next report, if any.
    pub fn poll_notice(&mut self) -> Option<Report> {
        let truncated = match &mut self.source {
            Source::Exec(encoder) => {
                let notice = encoder.poll_notice()?;
                return Some(Report::warning(format!("{}: {notice}", self.name)));
            }
            Source::Datagrams { .. } => None,
            Source::Stream(stream) => stream.take_truncated(),
        };
        if let Some(bytes) = truncated {
            let text = format!("{}: the last packet is truncated; skipped {} bytes", self.name, bytes.0);
            return Some(Report::warning(text));
        }
        // The first gap is reported, the count is a metric.
        let is_timed = match &self.source {
            Source::Datagrams { .. } | Source::Exec(_) => true,
            Source::Stream(stream) => stream.is_timed(),
        };
        if is_timed && self.skipped() > Bytes(0) && !std::mem::replace(&mut self.reported_skipped, true) {
            return Some(not_mpeg_ts(&self.name));
        }
        self.notices.pop()
    }
}

/// The warning about bytes that belong to no MPEG-TS packet.
pub(crate) fn not_mpeg_ts(name: &str) -> Report {
    Report::warning(format!("{name}: skipped bytes that are not MPEG-TS (packets of 188 bytes that begin with 0x47)"))
}

impl Contents {
    /// Passes a datagram's payload to `take` and returns a warning, if any; an error is the reason for leaving it out.
    fn unpack(
        &mut self,
        now: Time,
        datagram: &[u8],
        longest: usize,
        take: &mut impl FnMut(&[u8]),
    ) -> Result<Option<String>, String> {
        let payload = match self {
            Contents::Opaque if datagram.len() > longest => {
                return self.realign(now, datagram, longest, take).map(Some);
            }
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
        if payload.len() > longest {
            return Err(format!("skipped a datagram of {} bytes; the maximum is {longest}", payload.len()));
        }
        take(payload);
        Ok(None)
    }

    /// Continues as `ts+udp://`, from a datagram that is too long, if that is a piece of an MPEG-TS stream.
    fn realign(
        &mut self,
        now: Time,
        datagram: &[u8],
        longest: usize,
        take: &mut impl FnMut(&[u8]),
    ) -> Result<String, String> {
        let len = datagram.len();
        let Some(start) = first_packet(datagram) else {
            return Err(format!(
                "skipped a datagram of {len} bytes; the maximum is {longest}. For MPEG-TS use ts+udp://, or \
                 pkt_size=1316 in ffmpeg's URL"
            ));
        };
        if start > 0 {
            // The end of a packet whose beginning was sent in an earlier, short enough datagram.
            take(&datagram[..start]);
        }
        let mut realign = Realign::default();
        realign.push(now, &datagram[start..], take);
        *self = Contents::Ts(realign);
        Ok(format!(
            "datagrams of {len} bytes are longer than {longest}: this is MPEG-TS, and is sent from now on as by \
             ts+udp://, seven packets a datagram"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(contents: &mut Contents, datagram: &[u8]) -> (Vec<Vec<u8>>, Result<Option<String>, String>) {
        let mut taken = Vec::new();
        let notice = contents.unpack(Time::ZERO, datagram, MAX_PAYLOAD, &mut |payload| taken.push(payload.to_vec()));
        (taken, notice)
    }

    #[test]
    fn opaque_datagrams_pass_unchanged_up_to_the_maximum_length() {
        let fits = vec![7; MAX_PAYLOAD];
        assert_eq!(unpack(&mut Contents::Opaque, &fits), (vec![fits], Ok(None)));
        let (taken, notice) = unpack(&mut Contents::Opaque, &[7; MAX_PAYLOAD + 1]);
        let reason = notice.expect_err("too long");
        assert!(taken.is_empty() && reason.contains("ts+udp://") && reason.contains("pkt_size=1316"), "{reason}");
        assert_eq!(unpack(&mut Contents::Opaque, &[]), (vec![vec![]], Ok(None)));
    }

    /// Datagrams of 1472 bytes, ffmpeg's default: the first has seven packets and 156 bytes of the eighth.
    #[test]
    fn overlong_mpeg_ts_datagrams_are_realigned_without_loss() {
        let packets = (0..100u8).flat_map(|mark| [&[0x47, 0x01, 0x00, mark][..], &[mark; 184]].concat());
        let stream: Vec<u8> = packets.collect();
        for short in [0, 216, 1000] {
            let (head, rest) = stream.split_at(short);
            let (mut contents, mut taken, mut notices) = (Contents::Opaque, Vec::new(), Vec::new());
            let mut take = |payload: &[u8]| taken.push(payload.to_vec());
            for datagram in [head].into_iter().chain(rest.chunks(1472)).filter(|datagram| !datagram.is_empty()) {
                notices.extend(contents.unpack(Time::ZERO, datagram, MAX_PAYLOAD, &mut take).expect("MPEG-TS"));
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
