//! Packets that are due, and the bytes of the connection.

use std::io::{self, ErrorKind};
use std::time::Instant;

use thalweg_core::law::breaker::Cause;

use super::Connection;
use crate::event::Event;
use crate::ledger::Ledger;
use crate::rtsp::datagrams::Train;
use crate::rtsp::playback::{End, Route, Transmit};
use crate::rtsp::sender::FrameTag;

/// Packets that leave before requests are looked at again.
const BURST: usize = 64;

impl Connection {
    /// Sends the packets that are due.
    pub(super) fn transmit(&mut self) {
        let rtsp = self.rtsp.clone();
        let (mut train, send) =
            (Train::new(), |route, segment, bytes: &[u8]| rtsp.datagrams.send(route, segment, bytes));
        for _ in 0..BURST {
            let now = rtsp.now();
            let Some(playback) = self.machine.playback() else { break };
            let transmit = playback.poll_transmit(now, train.space());
            // The line of a play that is broken off precedes its goodbyes.
            self.report_end();
            let Some(Transmit { route, len, frame }) = transmit else { break };
            match route {
                Route::Channel(channel) => self.interleave(channel, frame, &train.space()[..len]),
                Route::Rtp(_) | Route::Rtcp(_) => {
                    Ledger::add(&self.shared.ledger.sent, len as u64);
                    train.push(route, len, send);
                }
            }
            self.playing.iter().for_each(|playing| playing.busy.mark_progress());
        }
        train.flush(send);
    }

    /// Reports the end of the play, if it has ended.
    fn report_end(&mut self) {
        let Some(playback) = self.machine.playback() else { return };
        let Some(end) = playback.poll_end() else { return };
        let why = match end {
            End::Complete => None,
            End::Breaker(cause) => Some(format!("ended for {}: {} (RFC 8083)", self.peer, reason(cause))),
            End::Changed => {
                Ledger::add(&self.shared.ledger.changed, 1);
                Some("the file has changed, or cannot be read".to_owned())
            }
        };
        if let Some(why) = why {
            self.shared.report(Event::Broken { name: playback.stored().name.clone(), why });
        }
        self.note_playing();
    }

    /// Adds a packet to those that the connection carries.
    fn interleave(&mut self, channel: u8, frame: Option<FrameTag>, packet: &[u8]) {
        match frame {
            _ if packet.is_empty() => {}
            Some(frame) => {
                let dropped = self.outgoing.media(channel, frame, packet);
                Ledger::add(&self.shared.ledger.dropped, dropped);
            }
            None => self.outgoing.report(channel, packet),
        }
    }

    /// Writes what the connection takes.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            match self.stream.try_write(self.outgoing.front()) {
                Ok(written) => {
                    Ledger::add(&self.shared.ledger.sent, written as u64);
                    self.outgoing.advance(written);
                    self.written = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.written = Instant::now();
        Ok(())
    }
}

/// The reason of a breaker in a line.
fn reason(cause: Cause) -> &'static str {
    match cause {
        Cause::RtcpTimeout => "no report arrives",
        Cause::MediaTimeout => "no packet arrives",
        Cause::Congestion => "it takes more than ten times the share of a TCP",
    }
}
