//! Media outputs.

mod recording;
mod rtp;
mod set;

pub use recording::Existing;
pub use set::Outputs;

use std::net::SocketAddr;

use thalweg_core::rng::Rng;
use thalweg_core::time::Time;
use thalweg_core::units::Bytes;
use thalweg_mpegts::align::Aligner;

use crate::error::{Error, plain};
use crate::exec::Exec;
use crate::input::not_mpeg_ts;
use crate::media_url::{Framing, MediaUrl};
use crate::poll::{Interests, Ready};
use crate::report::Report;
use crate::spool::Spool;
use crate::udp::{Outbox, Socket};
use recording::Recording;
use rtp::Wrap;

/// An open `--output`. Never blocks.
#[derive(Debug)]
pub struct Output {
    name: String,
    contents: Contents,
    sink: Sink,
    reported: bool,
    reported_skipped: bool,
}

#[derive(Debug)]
enum Contents {
    AsIs,
    Ts(Aligner),
    Rtp(Wrap),
}

#[derive(Debug)]
enum Sink {
    Datagrams { socket: Socket, to: SocketAddr, outbox: Outbox },
    Stream(Spool),
    Recording(Recording),
    Exec(Exec),
}

impl Output {
    /// Opens the output. A regular file is created only when media arrives; `existing` says how an existing one is
    /// treated.
    ///
    /// # Errors
    /// The operation and the kernel's reason.
    pub fn open(media_url: &MediaUrl, existing: Existing, rng: &Rng) -> Result<Output, Error> {
        let name = format!("output {media_url}");
        let (contents, sink) = match media_url {
            MediaUrl::Udp(framing, udp) => {
                let (socket, to) = udp.sending().map_err(Error::io(&name))?;
                let contents = match framing {
                    Framing::Opaque => Contents::AsIs,
                    Framing::Ts => Contents::Ts(Aligner::new()),
                    Framing::Rtp => Contents::Rtp(Wrap::new(rng.fork(&name))),
                };
                (contents, Sink::Datagrams { socket, to, outbox: Outbox::new() })
            }
            MediaUrl::File { path, .. } if Recording::is_for(path) => {
                let recording = Recording::new(path, existing).map_err(Error::io(&name))?;
                (Contents::AsIs, Sink::Recording(recording))
            }
            MediaUrl::File { path, .. } => (Contents::AsIs, Sink::Stream(Spool::file(path).map_err(Error::io(&name))?)),
            MediaUrl::Stdio => (Contents::AsIs, Sink::Stream(Spool::stdout().map_err(Error::io(&name))?)),
            MediaUrl::Exec { command, .. } => {
                (Contents::AsIs, Sink::Exec(Exec::start(command).map_err(Error::io(&name))?))
            }
        };
        Ok(Output::new(name, contents, sink))
    }

    /// Starts `command` with `/bin/sh -c`, in a process group of its own, and passes media to its standard input.
    ///
    /// Once it has ended, [`Output::resume`] fails and [`Output::exit_code`] has its exit code. When the output is
    /// dropped, the group gets SIGTERM, and SIGKILL if it still exists 2 s later; the drop waits for its end.
    ///
    /// # Errors
    /// There is no shell, or no further process can be started.
    pub fn exec(command: &str) -> Result<Output, Error> {
        let name = format!("command '{command}'");
        let exec = Exec::start(command).map_err(Error::io(&name))?;
        Ok(Output::new(name, Contents::AsIs, Sink::Exec(exec)))
    }

    fn new(name: String, contents: Contents, sink: Sink) -> Output {
        Output { name, contents, sink, reported: false, reported_skipped: false }
    }

    /// Takes a datagram, which is sent with [`Output::flush`] at the latest.
    pub fn write(&mut self, now: Time, datagram: &[u8]) {
        match &mut self.contents {
            Contents::AsIs => self.sink.put(&[], datagram),
            Contents::Ts(aligner) => {
                aligner.push(datagram);
                while let Some(aligned) = aligner.poll() {
                    self.sink.put(&[], aligned);
                }
            }
            Contents::Rtp(wrap) => {
                if let Some(header) = wrap.header(now, datagram) {
                    self.sink.put(&header, datagram);
                }
            }
        }
    }

    /// Writes the taken data, as far as the reader takes it now.
    ///
    /// # Errors
    /// The output is lost for good: the disk is full, or the reader of the pipe has gone.
    pub fn flush(&mut self) -> Result<(), Error> {
        match &mut self.sink {
            Sink::Datagrams { socket, outbox, .. } => {
                outbox.flush(socket);
                Ok(())
            }
            Sink::Stream(spool) => spool.flush().map_err(Error::io(&self.name)),
            Sink::Recording(recording) => recording.flush().map_err(Error::io(&self.name)),
            Sink::Exec(exec) => exec.flush().map_err(Error::io(&self.name)),
        }
    }

    /// Ends the current stream; the next one gets a file of its own.
    pub fn end_stream(&mut self) {
        if let Sink::Recording(recording) = &mut self.sink {
            recording.end_stream();
        }
    }

    /// Releases incomplete datagrams that waited for more data: the stream has ended. So has the input of a command once
    /// it has taken what waits.
    pub fn finish(&mut self) {
        if let Sink::Exec(exec) = &mut self.sink {
            exec.finish();
        }
        if let Contents::Ts(aligner) = &mut self.contents {
            aligner.finish();
            while let Some(rest) = aligner.poll() {
                self.sink.put(&[], rest);
            }
        }
    }

    /// Registers the descriptors to wait for.
    pub fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        match &self.sink {
            Sink::Datagrams { socket, .. } => interests.nothing(socket),
            Sink::Stream(spool) => spool.interests(interests),
            // A regular file never blocks.
            Sink::Recording(_) => {}
            Sink::Exec(exec) => exec.interests(interests),
        }
    }

    /// Continues with data that a slow reader has left waiting.
    ///
    /// # Errors
    /// As for [`Output::flush`], or the command has ended.
    pub fn resume(&mut self, ready: &mut Ready) -> Result<(), Error> {
        match &mut self.sink {
            Sink::Datagrams { .. } | Sink::Stream(_) if ready.take() => self.flush(),
            Sink::Datagrams { .. } | Sink::Stream(_) | Sink::Recording(_) => Ok(()),
            Sink::Exec(exec) => {
                exec.resume(ready).map_err(Error::io(&self.name))?;
                let ended = |code| Err(Error::new(&self.name, format!("ended with exit code {code}")));
                exec.exit_code().map_or(Ok(()), ended)
            }
        }
    }

    /// The exit code of the command, once it has ended; 128 + N, as in a shell, if signal N has ended it. None for other
    /// outputs.
    pub fn exit_code(&self) -> Option<i32> {
        match &self.sink {
            Sink::Exec(exec) => exec.exit_code(),
            Sink::Datagrams { .. } | Sink::Stream(_) | Sink::Recording(_) => None,
        }
    }

    /// True if data waits for a slow reader.
    pub fn is_waiting(&self) -> bool {
        match &self.sink {
            Sink::Datagrams { .. } | Sink::Recording(_) => false,
            Sink::Stream(spool) => spool.is_waiting(),
            Sink::Exec(exec) => exec.is_waiting(),
        }
    }

    /// Datagrams dropped because the kernel or the reader did not take them in time.
    pub fn dropped(&self) -> u64 {
        match &self.sink {
            Sink::Datagrams { socket, .. } => socket.unsent(),
            Sink::Stream(spool) => spool.dropped(),
            Sink::Recording(recording) => recording.dropped(),
            Sink::Exec(exec) => exec.dropped(),
        }
    }

    /// Bytes left out because they belong to no MPEG-TS packet.
    pub fn skipped(&self) -> Bytes {
        match &self.contents {
            Contents::Ts(aligner) => aligner.skipped(),
            Contents::Rtp(wrap) => wrap.skipped(),
            Contents::AsIs => Bytes(0),
        }
    }

    /// The next report: the name of a recording's file, the first bytes left out or the first datagram dropped, whose
    /// counts are metrics.
    pub fn poll_notice(&mut self) -> Option<Report> {
        if let Sink::Recording(recording) = &mut self.sink
            && let Some(notice) = recording.poll_notice()
        {
            return Some(notice);
        }
        if self.skipped() > Bytes(0) && !std::mem::replace(&mut self.reported_skipped, true) {
            return Some(not_mpeg_ts(&self.name));
        }
        if self.reported || self.dropped() == 0 {
            return None;
        }
        self.reported = true;
        let reason = match &mut self.sink {
            Sink::Datagrams { socket, .. } => socket.take_error().map_or(String::new(), |error| plain(&error)),
            Sink::Stream(_) | Sink::Recording(_) | Sink::Exec(_) => "the reader is too slow".to_owned(),
        };
        Some(Report::warning(format!("{}: dropping datagrams: {reason}", self.name)))
    }
}

impl Sink {
    fn put(&mut self, header: &[u8], payload: &[u8]) {
        match self {
            Sink::Datagrams { socket, to, outbox } => {
                let len = header.len() + payload.len();
                let (head, rest) = outbox.space().split_at_mut(header.len());
                head.copy_from_slice(header);
                rest[..payload.len()].copy_from_slice(payload);
                outbox.push(socket, *to, len);
            }
            Sink::Stream(spool) => spool.put(payload),
            Sink::Recording(recording) => recording.put(payload),
            Sink::Exec(exec) => exec.put(payload),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp::Inbox;
    use thalweg_core::wire::rtp::{MP2T, Packet};

    #[test]
    fn rtp_output_numbers_packets_and_keeps_their_boundaries() {
        let receiver = Socket::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a loopback socket");
        let media_url = format!("rtp://{}", receiver.local()).parse().expect("an endpoint");
        let mut output = Output::open(&media_url, Existing::Keep, &Rng::new(1)).expect("an output");
        // RFC 2250 §2: whole packets of MPEG-TS, which begin with 0x47, and nothing else.
        let payload = |mark: u8| [&[0x47, mark][..], &[0xff; 186]].concat();
        for mark in 0..3 {
            output.write(Time::from_nanos(1_000_000_000), &[mark; 188]);
            output.write(Time::from_nanos(1_000_000_000), &payload(mark));
            output.write(Time::from_nanos(1_000_000_000), &payload(mark)[..100]);
        }
        assert_eq!(output.skipped(), Bytes(3 * 288));
        assert_eq!(output.poll_notice(), Some(not_mpeg_ts(&format!("output {media_url}"))));
        assert_eq!(output.poll_notice(), None);
        output.flush().expect("loopback takes everything");

        let (mut inbox, mut packets) = (Inbox::new(), Vec::new());
        while packets.len() < 3 {
            assert!(crate::poll::readable(&receiver, std::time::Duration::from_secs(10)).expect("ppoll"));
            receiver.receive(&mut inbox);
            packets.extend(inbox.datagrams().map(|(_, bytes)| bytes.to_vec()));
        }
        let parsed: Vec<_> = packets.iter().map(|bytes| Packet::parse(bytes).expect("RTP")).collect();
        for (mark, packet) in (0..).zip(&parsed) {
            assert_eq!((packet.header.payload_type, packet.payload), (MP2T, &payload(mark)[..]));
            assert_eq!(packet.header.sequence, parsed[0].header.sequence.wrapping_add(mark.into()));
        }
    }
}
