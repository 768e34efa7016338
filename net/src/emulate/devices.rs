//! The ends of a cable: two TUN devices.

use thalweg_core::time::Time;
use thalweg_core::units::Bytes;
use thalweg_lab::packet::{Body, Packet};

use super::Way;
use crate::clock::Clock;
use crate::error::Error;
use crate::poll::Interests;
use crate::tun::{Name, Tun};

/// After so many packets of one device the other one has its turn, and what is due goes out.
const BATCH: usize = 64;
/// The longest IP packet.
const LONGEST: usize = 1 << 16;
/// A kernel's packets are told apart by their addresses, not by us.
const FLOW: u32 = 0;

/// The device of the client's side and that of the server's.
#[derive(Debug)]
pub(super) struct Devices {
    client: Tun,
    server: Tun,
    buffer: Vec<u8>,
}

impl Devices {
    pub(super) fn open(client: &Name, server: &Name) -> Result<Devices, Error> {
        Ok(Devices { client: Tun::open(client)?, server: Tun::open(server)?, buffer: vec![0; LONGEST] })
    }

    /// Waits until `due` at most, and puts what has come onto its way.
    pub(super) fn receive(
        &mut self,
        clock: &Clock,
        due: Time,
        forward: &mut Way,
        reverse: &mut Way,
    ) -> Result<(), Error> {
        let mut interests = Interests::new();
        interests.read(&self.client);
        interests.read(&self.server);
        let timeout = due.since(clock.now());
        let mut ready = interests.wait(timeout).map_err(Error::io("wait for packets"))?;
        for (tun, way) in [(&self.client, forward), (&self.server, reverse)] {
            if ready.take() {
                take(tun, &mut self.buffer, clock, way)?;
            }
        }
        Ok(())
    }

    /// Gives the kernel what has reached the end of its way by `now`.
    pub(super) fn deliver(&self, now: Time, forward: &mut Way, reverse: &mut Way) {
        for (way, tun) in [(forward, &self.server), (reverse, &self.client)] {
            while let Some(packet) = way.poll(now) {
                if let Body::Datagram(bytes) = &packet.body {
                    tun.write(bytes);
                }
            }
        }
    }
}

fn take(tun: &Tun, buffer: &mut [u8], clock: &Clock, way: &mut Way) -> Result<(), Error> {
    for _ in 0..BATCH {
        let Some(bytes) = tun.read(buffer)? else { break };
        // Nothing is added: an IP packet is all that a link of the lab counts.
        let size = Bytes(bytes.len() as u64);
        way.accept(clock.now(), Packet { flow: FLOW, size, body: Body::Datagram(bytes.to_vec()) });
    }
    Ok(())
}
