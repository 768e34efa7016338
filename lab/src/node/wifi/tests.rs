//! The cell against the standard's own arithmetic, models of the DCF and another simulator.

mod bianchi;

use thalweg_core::units::{Bytes, Rate};

use super::*;

/// The IPv4 and UDP headers of a datagram.
const HEADERS: u64 = 28;

fn micros(micros: u64) -> Span {
    Span::from_micros(micros)
}

fn rate(mbps: u64) -> PhyRate {
    PhyRate::of(Rate::from_mbps(mbps)).expect("a rate of 802.11g")
}

fn cell(slot: Slot, stations: &[u64], seed: u64) -> Cell {
    let stations = stations.iter().map(|mbps| Station { name: String::new(), rate: rate(*mbps) }).collect();
    Cell::new(&Config { slot, queue: 50, stations }, &Rng::new(seed))
}

/// Keeps `links` saturated with datagrams of `payload` bytes until `end`.
fn saturate(cell: &mut Cell, links: &[Link], payload: u64, end: Time) {
    let mut now = Time::ZERO;
    while now < end {
        for link in links {
            let LinkCounters { offered, delivered, .. } = cell.counters(*link);
            if offered.packets - offered.dropped - delivered < 3 {
                cell.accept_at(now, link.number(), Packet::length(0, Bytes(payload + HEADERS)));
            }
        }
        now = cell.next().expect("a queue is never empty");
        cell.poll(now);
    }
}

/// The payload that all `links` delivered by `end`, in Mb/s.
fn goodput(cell: &Cell, links: &[Link], payload: u64, end: Time) -> f64 {
    let delivered: u64 = links.iter().map(|link| cell.counters(*link).delivered).sum();
    (delivered * payload * 8) as f64 / end.as_secs_f64() / 1e6
}

fn secs(secs: u64) -> Time {
    Time::ZERO + Span::from_secs(secs)
}

/// Durations of M. Gast, "When Is 54 Not Equal to 54?" (2003), which ns-3's test of durations has, too: a segment of
/// 1536 bytes, one of 76, and an acknowledgement. At lower rates by hand: 22 + 8 x 14 bits are 134, which are 6 symbols
/// of 24 bits.
#[test]
fn frames_have_the_durations_of_the_standard() {
    let durations = |rate: PhyRate| [1536, 76, 14].map(|length| rate.airtime(Bytes(length)));
    assert_eq!(durations(rate(54)), [254, 38, 30].map(micros));
    assert_eq!(durations(rate(11)), [1310, 248, 203].map(micros));
    assert_eq!(rate(6).airtime(Bytes(14)), micros(20 + 6 * 4 + 6));
    assert_eq!(rate(1).airtime(Bytes(14)), micros(192 + 112));
    let half = PhyRate::of(Rate::from_bps(5_500_000)).expect("5.5 Mb/s");
    assert_eq!(half.airtime(Bytes(14)), micros(192 + 21));
    assert_eq!(PhyRate::of(Rate::from_mbps(7)), None);
}

#[test]
fn acknowledgements_have_the_mandatory_rate_below() {
    let response = |mbps| rate(mbps).of_response();
    let pairs = [(54, 24), (48, 24), (36, 24), (24, 24), (18, 12), (12, 12), (9, 6), (6, 6), (11, 11), (2, 2), (1, 1)];
    pairs.iter().for_each(|(data, acknowledgement)| assert_eq!(response(*data), rate(*acknowledgement), "{data}"));
}

#[test]
fn interframe_spaces_are_those_of_the_standard() {
    let (long, short) = (Timing::of(Slot::Long), Timing::of(Slot::Short));
    assert_eq!((long.slot, long.difs, long.eifs), (micros(20), micros(50), micros(10 + 304 + 50)));
    assert_eq!((short.slot, short.difs, short.eifs), (micros(9), micros(28), micros(10 + 50 + 28)));
}

/// An idle medium: the first packet leaves at once. The second arrives while the medium is busy, and draws a backoff.
#[test]
fn a_packet_that_finds_the_medium_idle_is_sent_without_a_backoff() {
    let mut cell = cell(Slot::Short, &[54, 54], 1);
    let (data, ack) = (micros(190), micros(34));
    cell.accept_at(Time::ZERO, Link::Down(0).number(), Packet::length(7, Bytes(1052)));
    assert_eq!(cell.next(), Some(Time::ZERO));
    assert_eq!(cell.poll(Time::ZERO), None);
    cell.accept_at(Time::ZERO + micros(5), Link::Up(1).number(), Packet::length(8, Bytes(1052)));
    assert_eq!(cell.next(), Some(Time::ZERO + data));
    assert_eq!(cell.poll(Time::ZERO + data).map(|packet| packet.flow), Some(7));
    assert_eq!(Link::of(cell.outlet()), Link::Down(0));
    let opened = Time::ZERO + data + SIFS + ack + micros(28);
    let start = cell.next().expect("the second packet");
    let backoff = start.since(opened);
    assert!(start >= opened && backoff <= micros(9 * 15) && backoff.as_nanos().is_multiple_of(9_000), "{backoff}");
    assert_eq!(cell.poll(start), None);
    assert_eq!(cell.poll(start + data).map(|packet| packet.flow), Some(8));
    assert_eq!(Link::of(cell.outlet()), Link::Up(1));
    // A minute later every backoff has ended: the next packet starts within a slot.
    let later = secs(60) + micros(1);
    cell.accept_at(later, Link::Up(1).number(), Packet::length(8, Bytes(1052)));
    let waited = cell.next().expect("a packet").since(later);
    assert!(waited < micros(9), "{waited}");
}

/// A lone contender always waits for DIFS and half of the first contention window: a frame of 1024 + 64 bytes takes 190
/// us at 54 Mb/s, its acknowledgement 34 us at 24 Mb/s.
#[test]
fn one_saturated_contender_gets_the_closed_form() {
    for (slot, slots) in [(Slot::Short, 9.0), (Slot::Long, 20.0)] {
        for link in [Link::Down(0), Link::Up(0)] {
            let mut cell = cell(slot, &[54], 3);
            saturate(&mut cell, &[link], 1024, secs(120));
            let expected = 1024.0 * 8.0 / (190.0 + 10.0 + 34.0 + 10.0 + 2.0 * slots + 7.5 * slots);
            let measured = goodput(&cell, &[link], 1024, secs(120));
            assert!((measured / expected - 1.0).abs() < 1e-3, "{slot:?} {link:?}: {measured}, expected {expected}");
        }
    }
    // Without OFDM the window is 31: 192 us and 1088 x 8 bits at 11 Mb/s (792 us), an acknowledgement of 203 us.
    let mut slow = cell(Slot::Long, &[11], 3);
    saturate(&mut slow, &[Link::Up(0)], 1024, secs(120));
    let expected = 1024.0 * 8.0 / (192.0 + 792.0 + 10.0 + 203.0 + 50.0 + 15.5 * 20.0);
    let measured = goodput(&slow, &[Link::Up(0)], 1024, secs(120));
    assert!((measured / expected - 1.0).abs() < 1e-3, "{measured}, expected {expected}");
}

/// ns-3.37: 802.11g at 54 Mb/s, slots of 9 us, saturated downlink to four stations; with beacons, which cost .7 %.
#[test]
fn saturated_downlink_is_that_of_ns_3() {
    let links: Vec<Link> = (0..4).map(Link::Down).collect();
    for (payload, theirs) in [(1024, 24.67), (1500, 29.67)] {
        let mut cell = cell(Slot::Short, &[54; 4], 5);
        saturate(&mut cell, &links, payload, secs(20));
        let measured = goodput(&cell, &links, payload, secs(20));
        assert!((measured / theirs - 1.0).abs() < 0.02, "{payload} bytes: {measured}, ns-3 {theirs}");
    }
}

/// M. Heusse, F. Rousseau, G. Berger-Sabbatel, A. Duda, "Performance Anomaly of 802.11b", INFOCOM 2003: contenders get
/// equal numbers of packets, whatever their rates.
#[test]
fn a_slow_station_gets_as_many_packets_as_a_fast_one() {
    for slot in [Slot::Short, Slot::Long] {
        let mut cell = cell(slot, &[6, 54], 7);
        let links = [Link::Up(0), Link::Up(1)];
        saturate(&mut cell, &links, 1024, secs(200));
        let [slow, fast] = links.map(|link| cell.counters(link));
        let ratio = slow.delivered as f64 / fast.delivered as f64;
        assert!((ratio - 1.0).abs() < 0.03, "{slot:?}: {ratio}");
        // Of airtime it gets as much more as its frames are longer: 1480 and 50 us against 190 and 34 us.
        let airtimes = slow.airtime.as_secs_f64() / fast.airtime.as_secs_f64();
        assert!((airtimes / (1530.0 / 224.0) - 1.0).abs() < 0.03, "{slot:?}: {airtimes}");
    }
}

/// More than the medium carries, at 30 stations and both ways: every packet that entered is delivered, dropped or still
/// waits, by the accounts of the links as well.
#[test]
fn packets_are_conserved() {
    let mut cell = cell(Slot::Long, &[54; 30], 11);
    let links: Vec<Link> = (0..30).flat_map(|station| [Link::Up(station), Link::Down(station)]).collect();
    let mut rng = Rng::new(2);
    let (mut now, mut entered, mut left) = (Time::ZERO, 0, 0);
    // 5000 packets a second, of which the medium carries half.
    while now < secs(20) {
        now += Span::from_secs_f64(rng.exponential(200e-6));
        while let Some(at) = cell.next().filter(|at| *at <= now) {
            left += u64::from(cell.poll(at).is_some());
        }
        let link = links[rng.below(links.len() as u64) as usize];
        cell.accept_at(now, link.number(), Packet::length(link.number() as u32, Bytes(40 + rng.below(1460))));
        entered += 1;
    }
    let tally = cell.tally();
    assert_eq!(entered, left + tally.dropped.total() + tally.held);
    let counters: Vec<LinkCounters> = links.iter().map(|link| cell.counters(*link)).collect();
    assert_eq!(counters.iter().map(|link| link.offered.packets).sum::<u64>(), entered);
    assert_eq!(counters.iter().map(|link| link.delivered).sum::<u64>(), left);
    assert_eq!(counters.iter().map(|link| link.offered.dropped).sum::<u64>(), tally.dropped.total());
    let given_up: u64 = counters.iter().map(|link| link.given_up).sum();
    assert!(given_up > 0 && given_up < tally.dropped.total(), "both kinds of drops: {given_up} of {tally:?}");
    // One packet at the head of each queue, and at most 50 behind it.
    assert!(tally.held <= 31 * 51, "{tally:?}");
}

/// 50 packets wait behind the one that contends; the next is dropped, as by a drop-tail queue.
#[test]
fn the_access_points_queue_is_shared_by_all_stations() {
    let mut cell = cell(Slot::Short, &[54, 54], 1);
    for number in 0..60 {
        cell.accept_at(Time::ZERO, Link::Down(number % 2).number(), Packet::length(number as u32, Bytes(1500)));
    }
    assert_eq!((cell.tally().held, cell.tally().dropped.of_ends), (51, 9));
    let mut flows = Vec::new();
    while let Some(at) = cell.next() {
        flows.extend(cell.poll(at).map(|packet| packet.flow));
    }
    assert_eq!(flows, (0..51).collect::<Vec<u32>>(), "in the order of arrival");
}
