//! Packets that are due, and the bytes of the connection.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Instant;

use thalweg_core::law::breaker::Cause;

use super::Connection;
use crate::event::Event;
use crate::ledger::Ledger;
use crate::rtsp::sender::{End, Transmit};
use crate::rtsp::transport::Delivery;

/// The longest packet.
const DATAGRAM: usize = 1500;
/// Packets that leave before requests are looked at again.
const BURST: usize = 64;

impl Connection {
    /// Sends the packets that are due.
    pub(super) fn transmit(&mut self) {
        let mut buf = [0; DATAGRAM];
        for _ in 0..BURST {
            let now = self.rtsp.now();
            let Some(sender) = self.machine.sender() else { return };
            let Some(transmit) = sender.poll_transmit(now, &mut buf) else { break };
            let delivery = sender.streams()[transmit.stream].delivery;
            self.send(transmit, delivery, &buf[..transmit.len]);
        }
        let Some(sender) = self.machine.sender() else { return };
        let name = sender.stored().name.clone();
        match sender.poll_end() {
            None => return,
            Some(End::Complete) => {}
            Some(End::Breaker(cause)) => {
                let why = match cause {
                    Cause::RtcpTimeout => "no report arrives",
                    Cause::MediaTimeout => "no packet arrives",
                    Cause::Congestion => "it takes more than ten times the share of a TCP",
                };
                self.break_off(name, format!("ended for {}: {why} (RFC 8083)", self.peer));
            }
            Some(End::Changed) => {
                Ledger::add(&self.shared.ledger.changed, 1);
                self.break_off(name, "the file has changed, or cannot be read".to_owned());
            }
        }
        self.note_playing();
    }

    /// Says goodbye in all streams, so that the player does not wait.
    fn break_off(&mut self, name: String, why: String) {
        self.shared.report(Event::Broken { name, why });
        let mut buf = [0; DATAGRAM];
        let now = self.rtsp.now();
        let mut nth = 0;
        while let Some(sender) = self.machine.sender()
            && let Some(len) = sender.goodbye(now, nth, &mut buf)
        {
            let delivery = sender.streams()[nth].delivery;
            self.send(Transmit { stream: nth, len, frame: None }, delivery, &buf[..len]);
            nth += 1;
        }
    }

    fn send(&mut self, transmit: Transmit, delivery: Delivery, packet: &[u8]) {
        if packet.is_empty() {
            return;
        }
        if let Some(playing) = &self.playing {
            playing.busy.mark_progress();
        }
        match (delivery, transmit.frame) {
            (Delivery::Udp { rtp, rtcp }, frame) => {
                Ledger::add(&self.shared.ledger.sent, packet.len() as u64);
                let port = if frame.is_some() { rtp } else { rtcp };
                self.rtsp.datagrams.send(frame.is_none(), SocketAddr::new(self.peer.to_canonical(), port), packet);
            }
            (Delivery::Interleaved { rtp, .. }, Some(frame)) => self.outgoing.media(rtp, frame, packet),
            (Delivery::Interleaved { rtcp, .. }, None) => self.outgoing.report(rtcp, packet),
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
