//! The ends of a cable: two TUN devices.

use std::net::IpAddr;

use thalweg_core::time::Time;
use thalweg_core::units::Bytes;
use thalweg_lab::packet::{Body, Packet};
use thalweg_lab::path::Side;

use super::Paths;
use crate::clock::Clock;
use crate::error::Error;
use crate::poll::Interests;
use crate::tun::{Name, Tun};

/// Packets read from one device before the other one has its turn and due packets are delivered.
const BATCH: usize = 64;
/// The longest IP packet.
const LONGEST: usize = 1 << 16;

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
    pub(super) fn receive(&mut self, clock: &Clock, due: Time, paths: &mut Paths) -> Result<(), Error> {
        let mut interests = Interests::new();
        interests.read(&self.client);
        interests.read(&self.server);
        let timeout = due.since(clock.now());
        let mut ready = interests.wait(timeout).map_err(Error::io("waiting for packets"))?;
        for (tun, side) in [(&self.client, Side::Forward), (&self.server, Side::Reverse)] {
            if ready.take() {
                take(tun, &mut self.buffer, clock, side, paths)?;
            }
        }
        Ok(())
    }

    /// Passes packets that have reached the end of their path by `now` to the kernel.
    pub(super) fn deliver(&self, now: Time, paths: &mut Paths) {
        for (side, tun) in [(Side::Forward, &self.server), (Side::Reverse, &self.client)] {
            while let Some(packet) = paths.poll(side, now) {
                if let Body::Datagram(bytes) = &packet.body {
                    tun.write(bytes);
                }
            }
        }
    }
}

fn take(tun: &Tun, buffer: &mut [u8], clock: &Clock, side: Side, paths: &mut Paths) -> Result<(), Error> {
    for _ in 0..BATCH {
        let Some(bytes) = tun.read(buffer)? else { break };
        // The flow of a packet is its station; the kernel distinguishes its own flows by their addresses.
        let Some(station) = paths.station_of(far_address(side, bytes)) else {
            paths.refuse(side);
            continue;
        };
        // No header is added: an IP packet is all that a link of the lab counts.
        let size = Bytes(bytes.len() as u64);
        let packet = Packet { flow: station as u32, size, body: Body::Datagram(bytes.to_vec()) };
        paths.accept(side, clock.now(), packet);
    }
    Ok(())
}

/// The address of the server's side in an IP packet: its destination on the way there, its source on the way back.
fn far_address(side: Side, packet: &[u8]) -> Option<IpAddr> {
    // Places of source and destination: RFC 791 §3.1, RFC 8200 §3.
    let (source, length) = match packet.first()? >> 4 {
        4 => (12, 4),
        6 => (8, 16),
        _ => return None,
    };
    let start = if side == Side::Forward { source + length } else { source };
    let address = packet.get(start..start + length)?;
    match length {
        4 => <[u8; 4]>::try_from(address).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(address).ok().map(IpAddr::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start of a packet of either version, from ...1 to ...2; all else is no packet of a station.
    #[test]
    fn packets_have_the_address_of_the_servers_side() {
        let mut four = vec![0x45; 20];
        four[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        let mut six = vec![0; 40];
        six[0] = 0x60;
        (six[23], six[39]) = (1, 2);
        let there: [IpAddr; 2] = ["10.0.0.2", "::2"].map(|text| text.parse().expect("an address"));
        let back: [IpAddr; 2] = ["10.0.0.1", "::1"].map(|text| text.parse().expect("an address"));
        for (packet, there, back) in [(&four, there[0], back[0]), (&six, there[1], back[1])] {
            assert_eq!(far_address(Side::Forward, packet), Some(there));
            assert_eq!(far_address(Side::Reverse, packet), Some(back));
            let short = &packet[..packet.len() - 1];
            assert_eq!(far_address(Side::Forward, short), None);
        }
        for other in [&[][..], &[0x45], &[0x15; 60]] {
            assert_eq!(far_address(Side::Reverse, other), None, "{other:?}");
        }
    }
}
