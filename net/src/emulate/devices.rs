//! The ends of a cable: two TUN devices.

use thalweg_core::time::Time;
use thalweg_core::units::Bytes;
use thalweg_lab::packet::{Body, Packet};

use super::Direction;
use crate::clock::Clock;
use crate::error::Error;
use crate::poll::Interests;
use crate::tun::{Name, Tun};

/// Packets read from one device before the other one has its turn and due packets are delivered.
const BATCH: usize = 64;
/// The longest IP packet.
const LONGEST: usize = 1 << 16;
/// The flow of all packets: the kernel distinguishes its own by their addresses.
const FLOW: u32 = 0;

/// The devices of the client's side and of the server's side.
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

    /// Waits until `due` at most, and puts arrived packets onto their path.
    pub(super) fn receive(
        &mut self,
        clock: &Clock,
        due: Time,
        forward: &mut Direction,
        reverse: &mut Direction,
    ) -> Result<(), Error> {
        let mut interests = Interests::new();
        interests.read(&self.client);
        interests.read(&self.server);
        let timeout = due.since(clock.now());
        let mut ready = interests.wait(timeout).map_err(Error::io("waiting for packets"))?;
        for (tun, direction) in [(&self.client, forward), (&self.server, reverse)] {
            if ready.take() {
                take(tun, &mut self.buffer, clock, direction)?;
            }
        }
        Ok(())
    }

    /// Passes packets that have reached the end of their path by `now` to the kernel.
    pub(super) fn deliver(&self, now: Time, forward: &mut Direction, reverse: &mut Direction) {
        for (direction, tun) in [(forward, &self.server), (reverse, &self.client)] {
            while let Some(packet) = direction.poll(now) {
                if let Body::Datagram(bytes) = &packet.body {
                    tun.write(bytes);
                }
            }
        }
    }
}

fn take(tun: &Tun, buffer: &mut [u8], clock: &Clock, direction: &mut Direction) -> Result<(), Error> {
    for _ in 0..BATCH {
        let Some(bytes) = tun.read(buffer)? else { break };
        // No header is added: an IP packet is all that a link of the lab counts.
        let size = Bytes(bytes.len() as u64);
        direction.accept(clock.now(), Packet { flow: FLOW, size, body: Body::Datagram(bytes.to_vec()) });
    }
    Ok(())
}
