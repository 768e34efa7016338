//! Packets that are due, and the bytes of the connection.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Instant;

use thalweg_core::law::breaker::Cause;
use thalweg_core::session::MAX_DATAGRAM;

use super::Connection;
use crate::event::Event;
use crate::ledger::Ledger;
use crate::rtsp::playback::{End, Route, Transmit};

/// Packets that leave before requests are looked at again.
const BURST: usize = 64;

impl Connection {
    /// Sends the packets that are due.
    pub(super) fn transmit(&mut self) {
        let mut buf = [0; MAX_DATAGRAM];
        for _ in 0..BURST {
            let now = self.rtsp.now();
            let Some(playback) = self.machine.playback() else { return };
            let transmit = playback.poll_transmit(now, &mut buf);
            // The line of a play that is broken off precedes its goodbyes.
            self.report_end();
            let Some(transmit) = transmit else { return };
            self.send(transmit, &buf[..transmit.len]);
        }
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

    fn send(&mut self, transmit: Transmit, packet: &[u8]) {
        if packet.is_empty() {
            return;
        }
        if let Some(playing) = &self.playing {
            playing.busy.mark_progress();
        }
        match (transmit.route, transmit.frame) {
            (Route::Rtp(to), _) => self.send_datagram(false, to, packet),
            (Route::Rtcp(to), _) => self.send_datagram(true, to, packet),
            (Route::Channel(channel), Some(frame)) => {
                let dropped = self.outgoing.media(channel, frame, packet);
                Ledger::add(&self.shared.ledger.dropped, dropped);
            }
            (Route::Channel(channel), None) => self.outgoing.report(channel, packet),
        }
    }

    fn send_datagram(&self, is_rtcp: bool, to: SocketAddr, packet: &[u8]) {
        Ledger::add(&self.shared.ledger.sent, packet.len() as u64);
        self.rtsp.datagrams.send(is_rtcp, to, packet);
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
