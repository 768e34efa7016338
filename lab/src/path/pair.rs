//! Two paths, one for each direction, which a Wi-Fi cell may join.
//!
//! ```text
//! clients --> forward path --> +------+ --> servers
//!                              | cell |
//! clients <-- reverse path <-- +------+ <-- servers
//! ```
//!
//! The access point is at the clients' end, and the servers are at the stations.

use std::collections::VecDeque;

use thalweg_core::time::Time;

use super::Path;
use crate::check::{self, Leak};
use crate::node::wifi::{Cell, Link, Way};
use crate::node::{Node, Tallied};
use crate::packet::Packet;

/// One of the two directions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// From the clients to the servers.
    Forward,
    /// From the servers to the clients.
    Reverse,
}

/// Both directions of a connection. Between two calls all events are processed in the order of time, as in a [`Path`].
#[derive(Clone, PartialEq, Debug)]
pub struct Pair {
    forward: Path,
    reverse: Path,
    cell: Option<Joined>,
}

/// A cell, and the packets that have left it for the servers.
#[derive(Clone, PartialEq, Debug)]
struct Joined {
    cell: Cell,
    out: VecDeque<Packet>,
}

impl Pair {
    /// The paths of two directions, and the cell behind the forward path.
    pub fn new(forward: Path, reverse: Path, cell: Option<Cell>) -> Pair {
        Pair { forward, reverse, cell: cell.map(|cell| Joined { cell, out: VecDeque::new() }) }
    }

    /// The path of one direction.
    pub fn path(&self, side: Side) -> &Path {
        match side {
            Side::Forward => &self.forward,
            Side::Reverse => &self.reverse,
        }
    }

    /// The cell.
    pub fn cell(&self) -> Option<&Cell> {
        self.cell.as_ref().map(|joined| &joined.cell)
    }

    /// Packets of one direction that are inside, cross traffic included.
    pub fn inside(&self, side: Side) -> u64 {
        let joined = self.cell.as_ref().map_or(0, |Joined { cell, out }| match side {
            Side::Forward => cell.held(Way::Down) + out.len() as u64,
            Side::Reverse => cell.held(Way::Up),
        });
        self.path(side).tally().held + joined
    }

    /// Takes a packet into one direction. Its station is its flow, modulo their number.
    pub fn accept(&mut self, side: Side, now: Time, packet: Packet) {
        self.run(now);
        match (side, &mut self.cell) {
            (Side::Forward, _) => self.forward.accept(now, packet),
            (Side::Reverse, None) => self.reverse.accept(now, packet),
            (Side::Reverse, Some(Joined { cell, .. })) => {
                let station = station(cell, &packet);
                cell.accept_at(now, Link::Up(station).number(), packet);
            }
        }
    }

    /// The first instant at which a packet can leave.
    pub fn next(&self) -> Option<Time> {
        let cell = self.cell.as_ref().and_then(|joined| joined.cell.next());
        [self.forward.next(), self.reverse.next(), cell].into_iter().flatten().min()
    }

    /// The next packet of one direction that leaves by `now`.
    pub fn poll(&mut self, side: Side, now: Time) -> Option<Packet> {
        self.run(now);
        match (side, &mut self.cell) {
            (Side::Forward, None) => self.forward.poll(now),
            (Side::Forward, Some(joined)) => joined.out.pop_front(),
            (Side::Reverse, _) => self.reverse.poll(now),
        }
    }

    /// Moves the packets that leave a path or the cell by `now` on, in the order of time.
    fn run(&mut self, now: Time) {
        let Some(Joined { cell, out }) = &mut self.cell else { return };
        while let Some(at) = [self.forward.next(), cell.next()].into_iter().flatten().min().filter(|at| *at <= now) {
            // The end of a frame frees a place in the queue for an arrival at the same instant.
            while let Some(packet) = cell.poll(at) {
                match Link::of(cell.outlet()) {
                    Link::Down(_) => out.push_back(packet),
                    Link::Up(_) => self.reverse.accept(at, packet),
                }
            }
            while let Some(packet) = self.forward.poll(at) {
                let station = station(cell, &packet);
                cell.accept_at(at, Link::Down(station).number(), packet);
            }
        }
    }

    /// Checks that in + added = out + dropped + queued, for every element of one direction, and for the cell.
    ///
    /// # Errors
    /// Names the first element whose account does not balance.
    pub fn conservation(&self) -> Result<(), Leak> {
        check::conservation(&self.forward)?;
        check::conservation(&self.reverse)?;
        self.cell().map_or(Ok(()), |cell| {
            let links = || (0..2 * cell.stations().len()).map(|number| cell.counters(Link::of(number)));
            let entered = links().map(|link| link.offered.packets).sum();
            check::balance("wifi", entered, links().map(|link| link.delivered).sum(), cell.tally())
        })
    }
}

fn station(cell: &Cell, packet: &Packet) -> usize {
    packet.flow as usize % cell.stations().len()
}

#[cfg(test)]
mod tests {
    use thalweg_core::rng::Rng;
    use thalweg_core::time::Span;
    use thalweg_core::units::Bytes;

    use super::*;
    use crate::node::wifi::{Config, PhyRate, Slot, Station};
    use crate::node::wire::Wire;

    /// Wires of 2 ms, and a cell with two stations at 54 Mb/s.
    fn pair() -> Pair {
        let wire = || Path::default().then("wire", Wire::new(Span::from_millis(2)));
        let station = |name: &str| Station { name: name.to_owned(), rate: PhyRate::OFDM_54 };
        let stations = vec![station("a"), station("b")];
        let cell = Cell::new(&Config { slot: Slot::Short, queue: 50, stations }, &Rng::new(1));
        Pair::new(wire(), wire(), Some(cell))
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// 1052 bytes take 190 us on the medium, and begin at a boundary of slots of 9 us: 223 x 9 = 2007 us is the first
    /// behind the wire. The answer finds the medium idle long after: 11 112 x 9 = 100 008 us.
    #[test]
    fn a_packet_crosses_the_path_and_the_cell() {
        let mut pair = pair();
        let packet = || Packet::length(3, Bytes(1052));
        pair.accept(Side::Forward, at(0), packet());
        assert_eq!(pair.poll(Side::Forward, at(2_007 + 189)), None);
        assert_eq!(pair.poll(Side::Forward, at(2_007 + 190)), Some(packet()));
        assert_eq!(pair.poll(Side::Reverse, at(90_000)), None);
        pair.accept(Side::Reverse, at(100_000), packet());
        let mut arrival = Time::ZERO;
        while pair.poll(Side::Reverse, arrival).is_none() {
            arrival = pair.next().expect("a packet");
        }
        // The round opened when the last one had ended: slots count from there.
        let opened = 2_007 + 190 + 10 + 34 + 28;
        let start = opened + (100_000u64 - opened).div_ceil(9) * 9;
        assert_eq!(arrival, at(start + 190 + 2_000));
        pair.conservation().expect("conservation");
        let cell = pair.cell().expect("a cell");
        assert_eq!((cell.counters(Link::Down(1)).delivered, cell.counters(Link::Up(1)).delivered), (1, 1));
    }

    /// The results do not depend on how late the pair is polled.
    #[test]
    fn late_polls_change_nothing() {
        let run = |every: u64| {
            let mut pair = pair();
            let mut left = Vec::new();
            for step in 0..20_000 {
                let now = at(step * 100);
                // 5000 packets a second each way, to both stations: more than the medium carries.
                let flow = step as u32;
                pair.accept(
                    if step % 2 == 0 { Side::Forward } else { Side::Reverse },
                    now,
                    Packet::length(flow, Bytes(900)),
                );
                if step % every == 0 {
                    for side in [Side::Forward, Side::Reverse] {
                        left.extend(std::iter::from_fn(|| pair.poll(side, now)).map(|packet| packet.flow));
                    }
                }
            }
            pair.conservation().expect("conservation");
            left.sort_unstable();
            (left, pair.cell().expect("a cell").clone())
        };
        let (often, cell) = run(1);
        let (seldom, same) = run(3_333);
        assert_eq!(cell, same);
        assert!(seldom.iter().all(|flow| often.binary_search(flow).is_ok()));
        assert!(often.len() > 5_000, "{}", often.len());
    }
}
