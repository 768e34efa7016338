//! An 802.11g cell: an access point and its stations, which share one medium by the DCF of IEEE Std 802.11-2016, 10.3.
//!
//! Two lanes of a hop cannot be a cell: acknowledgements of TCP take the medium from the segments that they acknowledge,
//! and a slow station takes it from all others. So a cell is one node for both ways and all stations. A packet enters and
//! leaves it by a [`Link`], as by a port of a switch.
//!
//! ```text
//!                      +--------------- cell ---------------+
//!  Link::Down(0..n) -> | access point's queue --+     +---> | station
//!                      |                        +-(*)-+     |
//!  access point <----- | <----------------------+     +---- | <- Link::Up(k): station k's queue
//!                      +------------------------------------+
//! ```
//!
//! Time advances by contention rounds. A round opens once the medium has been idle for DIFS, or for EIFS after a
//! collision. A contender whose backoff is k transmits k slots later, and the lowest backoff ends the round, so idle
//! slots cost no events, however many they are. All contenders hear each other: there are no hidden stations, no errors
//! but collisions, and no capture.
//!
//! | rule | clause |
//! |---|---|
//! | a backoff counter falls by one at the end of each idle slot, not in busy ones | 10.3.4.3 |
//! | a contender draws a backoff after each of its transmissions, with a further frame or without | 10.3.4.3 |
//! | a frame that finds the medium idle and no backoff pending is sent without one | 10.3.4.2 |
//! | contention windows of 15, 31, ... 1023 (31, 63, ... without OFDM); the first again after a success or a drop | 10.3.3, 18.4.5 |
//! | a frame is dropped after [`RETRY_LIMIT`] transmissions | 10.3.4.4, dot11ShortRetryLimit |
//! | a received frame is acknowledged after SIFS | 10.3.2.9 |
//! | the rate of the acknowledgement | 10.6.6.5, [`PhyRate::of_response`] |
//!
//! `// Reading(...)` and `// Deviation(...)` mark where the standard leaves a choice, and where the cell differs from it.
//! Beacons, association, fragments and RTS/CTS do not exist; a beacon of 100 bytes at 1 Mb/s takes 1 % of the time.

mod contender;
mod link;
mod timing;

use core::iter;

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};

use self::contender::{Contender, Frame};
pub use self::link::{Link, LinkCounters, Way};
pub use self::timing::{OVERHEAD, PhyRate, Slot};
use self::timing::{SIFS, Timing};
use super::drop_tail::Offered;
use super::queue::Waiting;
use super::{Drops, Node, Tallied, Tally};
use crate::packet::Packet;

/// Transmissions of a frame before it is dropped (dot11ShortRetryLimit: no frame here is longer than the RTS threshold).
pub const RETRY_LIMIT: u32 = 7;

/// The description of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// The slot time, which all of a cell have in common.
    pub slot: Slot,
    /// Packets that may wait behind the one that contends for the medium: at the access point, for all stations
    /// together, and at each station.
    pub queue: u64,
    /// The stations.
    pub stations: Vec<Station>,
}

/// A station of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Station {
    /// Its name in results.
    pub name: String,
    /// The rate of its frames, in both ways.
    pub rate: PhyRate,
}

/// The losses and the waiting time of the packets of one flow on one way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct OfFlow {
    dropped: u64,
    waited: Span,
}

/// The frame on the medium that will be received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sending {
    contender: usize,
    start: Time,
    /// The end of the frame, before its acknowledgement.
    end: Time,
}

/// A cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    timing: Timing,
    queue: u64,
    stations: Vec<Station>,
    contenders: Vec<Contender>,
    /// The end of the last transmission, acknowledgement included.
    busy_until: Time,
    /// The time from which slots are counted.
    open: Time,
    sending: Option<Sending>,
    /// The next event: the end of the frame on the medium, or the end of the round; [`Time::NEVER`] without a frame.
    due: Time,
    /// The link by which the last packet left.
    outlet: usize,
    links: Vec<LinkCounters>,
    /// By way (down, up), then by flow number up to the highest flow with an entry.
    flows: [Vec<OfFlow>; 2],
    dropped: Drops,
}

impl Cell {
    /// An idle cell; each contender has a stream of its own below `rng`.
    pub fn new(config: &Config, rng: &Rng) -> Cell {
        let access_point = Contender::new(PhyRate::OFDM_54, rng.fork("access point"));
        let stations = config.stations.iter().zip(1..);
        let stations =
            stations.map(|(station, number)| Contender::new(station.rate, rng.fork(&format!("station {number}"))));
        Cell {
            timing: Timing::of(config.slot),
            queue: config.queue,
            stations: config.stations.clone(),
            contenders: iter::once(access_point).chain(stations).collect(),
            busy_until: Time::ZERO,
            open: Time::ZERO,
            sending: None,
            due: Time::NEVER,
            outlet: 0,
            links: vec![LinkCounters::default(); 2 * config.stations.len()],
            flows: [Vec::new(), Vec::new()],
            dropped: Drops::default(),
        }
    }

    /// The stations, in the order of their numbers.
    pub fn stations(&self) -> &[Station] {
        &self.stations
    }

    /// The account of a link.
    pub fn counters(&self, link: Link) -> LinkCounters {
        self.links[link.number()]
    }

    /// Packets of one way that wait behind those that contend for the medium.
    pub(crate) fn waiting(&self, way: Way) -> Waiting {
        let waiting = self.queues(way).iter().flat_map(Contender::behind);
        waiting.map(|packet| Waiting { packets: 1, bytes: packet.size }).sum()
    }

    /// All packets of one way that are inside.
    pub(crate) fn held(&self, way: Way) -> u64 {
        self.queues(way).iter().map(Contender::waiting).sum()
    }

    /// The contenders that send one way.
    fn queues(&self, way: Way) -> &[Contender] {
        let (access_point, stations) = self.contenders.split_at(1);
        if way == Way::Down { access_point } else { stations }
    }

    /// Packets of one way that arrived, and those of them that were dropped.
    pub(crate) fn offered(&self, way: Way) -> Offered {
        self.links.iter().skip(usize::from(way == Way::Up)).step_by(2).map(|link| link.offered).sum()
    }

    /// Packets of one flow that were dropped on one way.
    pub(crate) fn lost_of(&self, flow: u32, way: Way) -> u64 {
        self.of_flow(flow, way).dropped
    }

    /// The total time that the delivered packets of one flow waited on one way, from their arrival to the transmission
    /// that was received.
    pub(crate) fn waited_of(&self, flow: u32, way: Way) -> Span {
        self.of_flow(flow, way).waited
    }

    fn of_flow(&self, flow: u32, way: Way) -> OfFlow {
        self.flows[way as usize].get(flow as usize).copied().unwrap_or_default()
    }

    /// Takes a packet into the queue of its link's near end. A link beyond the last station is a mistake of the caller.
    fn enter(&mut self, now: Time, link: Link, packet: Packet) {
        let who = link.contender();
        self.links[link.number()].offered.packets += 1;
        let contender = &mut self.contenders[who];
        if contender.waiting() > self.queue {
            return self.lose(link, &packet);
        }
        contender.put(Frame { link, arrived: now, packet });
        if contender.waiting() == 1 {
            contender.join(now, self.busy_until, self.open, self.timing.slot);
            if self.sending.is_none() {
                self.due = self.due.min(self.turn_of(who).unwrap_or(Time::NEVER));
            }
        }
    }

    fn lose(&mut self, link: Link, packet: &Packet) {
        self.links[link.number()].offered.dropped += 1;
        self.dropped.count(packet);
        if let Some(flow) = self.of_flow_mut(link, packet) {
            flow.dropped += 1;
        }
    }

    /// The time at which a contender transmits if no other does before; none without a frame.
    fn turn_of(&self, who: usize) -> Option<Time> {
        Some(self.open + self.timing.slot * self.contenders[who].contends()?)
    }

    /// Ends the round: those with the lowest backoff transmit.
    fn transmit(&mut self) {
        let lowest = self.contenders.iter().filter_map(Contender::contends).min();
        let Some(elapsed) = lowest else { return };
        let start = self.open + self.timing.slot * elapsed;
        let mut winners = (0..self.contenders.len()).filter(|who| self.contenders[*who].contends() == Some(elapsed));
        let (first, second) = (winners.next(), winners.next());
        self.contenders.iter_mut().for_each(|contender| contender.pass(elapsed));
        match (first, second) {
            (Some(winner), None) => self.succeed(winner, start),
            _ => self.collide(start),
        }
    }

    /// The durations of the frame at the head of a contender's queue and of its acknowledgement, and its link.
    fn head(&self, who: usize) -> Option<(Span, Span, Link)> {
        let frame = self.contenders[who].head()?;
        let (Link::Down(station) | Link::Up(station)) = frame.link;
        let rate = self.stations[station].rate;
        Some((rate.airtime(frame.packet.size + OVERHEAD), rate.acknowledgement(), frame.link))
    }

    fn succeed(&mut self, who: usize, start: Time) {
        let Some((data, acknowledgement, link)) = self.head(who) else { return };
        let end = start + data;
        self.busy_until = end + SIFS + acknowledgement;
        self.open = self.busy_until + self.timing.difs;
        self.sending = Some(Sending { contender: who, start, end });
        self.due = end;
        self.contenders[who].succeed();
        self.links[link.number()].airtime += data + acknowledgement;
    }

    /// Lets all contenders with a backoff of zero collide.
    fn collide(&mut self, start: Time) {
        let mut longest = Span::ZERO;
        for who in 0..self.contenders.len() {
            if self.contenders[who].contends() != Some(0) {
                continue;
            }
            let Some((data, _, link)) = self.head(who) else { continue };
            longest = longest.max(data);
            let counters = &mut self.links[link.number()];
            counters.collisions += 1;
            counters.airtime += data;
            if let Some(Frame { packet, .. }) = self.contenders[who].fail() {
                self.links[link.number()].given_up += 1;
                self.lose(link, &packet);
            }
        }
        self.busy_until = start + longest;
        self.open = self.busy_until + self.timing.eifs;
        self.plan();
    }

    /// Delivers the frame whose end has come.
    fn deliver(&mut self, Sending { contender, start, .. }: Sending) -> Option<Packet> {
        self.sending = None;
        let Frame { link, arrived, packet } = self.contenders[contender].take()?;
        self.plan();
        self.outlet = link.number();
        let counters = &mut self.links[self.outlet];
        counters.delivered += 1;
        counters.bytes += packet.size;
        if let Some(flow) = self.of_flow_mut(link, &packet) {
            flow.waited += start.since(arrived);
        }
        Some(packet)
    }

    /// Finds the end of the round.
    fn plan(&mut self) {
        let turns = (0..self.contenders.len()).filter_map(|who| self.turn_of(who));
        self.due = turns.min().unwrap_or(Time::NEVER);
    }

    /// The entry of a packet's flow, unless the packet is cross traffic.
    fn of_flow_mut(&mut self, link: Link, packet: &Packet) -> Option<&mut OfFlow> {
        let flows = &mut self.flows[link.way() as usize];
        let flow = Some(packet.flow as usize).filter(|_| !packet.is_cross())?;
        if flows.len() <= flow {
            flows.resize(flow + 1, OfFlow::default());
        }
        flows.get_mut(flow)
    }
}

impl Node for Cell {
    /// Takes a packet for the first station: [`Node::accept_at`] names its link.
    fn accept(&mut self, now: Time, packet: Packet) {
        self.enter(now, Link::Down(0), packet);
    }

    fn accept_at(&mut self, now: Time, inlet: usize, packet: Packet) {
        self.enter(now, Link::of(inlet), packet);
    }

    fn next(&self) -> Option<Time> {
        (self.due != Time::NEVER).then_some(self.due)
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        while self.due <= now {
            match self.sending {
                Some(sending) => return self.deliver(sending),
                None => self.transmit(),
            }
        }
        None
    }

    fn outlet(&self) -> usize {
        self.outlet
    }
}

impl Tallied for Cell {
    fn tally(&self) -> Tally {
        let held = self.contenders.iter().map(Contender::waiting).sum();
        Tally { dropped: self.dropped, held, ..Tally::default() }
    }
}

#[cfg(test)]
mod tests;
