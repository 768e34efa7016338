use super::*;
use thalweg_core::law::redundancy::geneva::{Parameters, State};
use thalweg_core::law::redundancy::{Law, fixed::Fixed, geneva::Geneva};

fn at_nanos(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn sender(scheme: Scheme) -> Sender {
    Sender::new(Config { scheme, ..Config::default() }).expect("the paper's stream")
}

/// All packets that leave until `end`, with their times.
fn departures(sender: &mut Sender, end: Time) -> Vec<(Time, Symbol)> {
    let mut all = Vec::new();
    while let Some(due) = sender.next().filter(|due| *due <= end) {
        if let Some(Packet { body: Body::Media(symbol), .. }) = sender.poll(due) {
            all.push((due, symbol));
        }
    }
    all
}

fn tell(sender: &mut Sender, at: Time, report: Report) {
    sender.accept(at, Packet { flow: 0, size: Bytes(116), body: Body::Report(report) });
}

fn shown(sender: &Sender, name: &str) -> f64 {
    let mut found = f64::NAN;
    sender.probe(&mut |probe, value| {
        if probe == name {
            found = value;
        }
    });
    found
}

#[test]
fn a_block_leaves_evenly_over_the_next_syn_source_first() {
    let left = departures(&mut sender(Scheme::blocks(Fixed::new(8))), ms(30) - Span::from_nanos(1));
    assert_eq!(left.len(), 66);
    for (place, (time, symbol)) in left.iter().enumerate() {
        let (block, index) = (place as u64 / 33, place as u64 % 33);
        // The first block collects for 10 ms; IPG = 10 ms / (8 + 25).
        assert_eq!(*time, at_nanos(10_000_000 * (1 + block) + 10_000_000 * index / 33));
        let expected = Symbol { sequence: place as u64 + 1, block: 25 * block, index: index as u16, k: 25, n: 33 };
        assert_eq!(*symbol, expected);
        assert_eq!(symbol.is_source(), index < 25);
    }
}

#[test]
fn blocks_of_25_mbps_have_20_or_21_source_packets_and_the_law_the_fraction() {
    let config = Config { rate: Rate::from_mbps(25), scheme: geneva(Parameters::default()), ..Config::default() };
    let mut sender = Sender::new(config).unwrap();
    let left = departures(&mut sender, ms(610) - Span::from_nanos(1));
    let sizes: Vec<u16> = left.iter().filter(|(_, symbol)| symbol.index == 0).map(|(_, symbol)| symbol.k).collect();
    assert_eq!(sizes.len(), 60);
    assert!(sizes.iter().all(|k| [20, 21].contains(k)));
    assert_eq!(sizes.iter().map(|k| u32::from(*k)).sum::<u32>(), 1250);
    assert!(left.iter().all(|(_, symbol)| symbol.n == symbol.k + 8));
    let Law::Geneva(law) = &sender.law else { panic!("GENEVA was asked for") };
    assert!((law.parameters().k - 20.8333).abs() < 1e-4);
    // The name of a block counts the source packets before it.
    assert_eq!(left.last().map(|(_, symbol)| symbol.block + u64::from(symbol.k)), Some(1250));
}

#[test]
fn plain_udp_sends_each_packet_when_it_is_produced() {
    // 1500 bytes at 30 Mb/s are 400 us; at 40 Mb/s 300 us.
    for (scheme, gap) in [(Scheme::Udp, 400_000), (Scheme::Cbr(Rate::from_mbps(40)), 300_000)] {
        let mut sender = sender(scheme);
        let left = departures(&mut sender, at_nanos(100 * gap - 1));
        assert_eq!(left.len(), 100);
        for (number, (time, symbol)) in left.iter().enumerate() {
            let number = number as u64;
            assert_eq!(*time, at_nanos(gap * number));
            assert_eq!(*symbol, Symbol { sequence: number + 1, block: number, index: 0, k: 1, n: 1 });
        }
        assert_eq!(sender.sent().source, 100);
    }
}

#[test]
fn a_source_that_stops_empties_its_last_block() {
    for (scheme, packets) in [(Scheme::blocks(Fixed::new(8)), 25 + 8 + 13 + 8), (Scheme::Udp, 38)] {
        let config = Config { scheme, stop: Some(ms(15)), ..Config::default() };
        let mut sender = Sender::new(config).unwrap();
        // The source stops 12.5 packet times after the first block, when the 13th packet has begun.
        assert_eq!(departures(&mut sender, ms(1000)).len(), packets);
        assert_eq!(sender.next(), None);
    }
}

#[test]
fn two_losses_in_a_block_lift_the_window_as_the_equations_say() {
    // k = 25, F = 8, ERTT = 20 ms: g = 1/3 and W = 33 x 3 = 99. Two losses, Eqs. (4) and (8):
    // i(99) = 0.04 x 99 / (0.03 x 99 - 2) = 3.96 / 0.97 = 4.08247, W = 103.08247;
    // i(103.08247) = 4.12330 / 1.09247 = 3.77427, W = 106.85675. 31 deliveries, Eq. (5): W = 105.61675.
    // Eq. (3): 105.61675 / 3 - 25 = 10.20558.
    for (state, f) in [(State::Integer, 10.0), (State::Real, 10.205_58)] {
        let mut sender = sender(geneva(Parameters { state, ..Parameters::default() }));
        let left = departures(&mut sender, ms(20) - Span::from_nanos(1));
        let (last_left, last) = left[32];
        let report = Report { number: 0, highest: last.sequence, received: 31, lost: 2 };
        let received = last_left + Span::from_millis(20);
        let mut later = departures(&mut sender, received);
        tell(&mut sender, received, report);
        assert!((shown(&sender, "ertt") - 0.020).abs() < 1e-12);
        assert!((shown(&sender, "w_before") - 99.0).abs() < 1e-9);
        assert!((shown(&sender, "f") - f).abs() < 1e-5, "{state:?}: {}", shown(&sender, "f"));
        // The block that closed at 30 ms keeps the repair fixed then; the next block closes 0.3 ms after the report.
        later.extend(departures(&mut sender, ms(100)));
        let n = |block: u64| later.iter().find(|(_, symbol)| symbol.block == 25 * block).map(|(_, symbol)| symbol.n);
        assert_eq!((n(1), n(2), n(3), n(4)), (Some(33), Some(33), Some(35), Some(35)));
    }
}

#[test]
fn a_report_is_used_once_and_not_behind_a_newer_one() {
    let mut sender = sender(geneva(Parameters::default()));
    let left = departures(&mut sender, ms(30) - Span::from_nanos(1));
    let report = |number: u64, lost: u32| {
        let highest = left[(33 * (number + 1) - 1) as usize].1.sequence;
        Report { number, highest, received: 33 - lost, lost }
    };
    tell(&mut sender, ms(50), report(1, 0));
    let before = sender.law.clone();
    tell(&mut sender, ms(51), report(0, 20));
    tell(&mut sender, ms(52), report(1, 20));
    assert_eq!(sender.law, before);
    assert_eq!((sender.sent().reports, sender.sent().stale), (1, 2));
}

#[test]
fn an_interval_with_nothing_new_moves_nothing() {
    let mut sender = sender(geneva(Parameters { f: 20.0, ..Parameters::default() }));
    let left = departures(&mut sender, ms(20) - Span::from_nanos(1));
    let highest = left.last().unwrap().1.sequence;
    tell(&mut sender, ms(40), Report { number: 0, highest, received: highest as u32, lost: 0 });
    let window_and_round_trip = |sender: &Sender| (shown(sender, "f"), shown(sender, "ertt"));
    let before = window_and_round_trip(&sender);
    tell(&mut sender, ms(90), Report { number: 1, highest, received: 0, lost: 0 });
    assert_eq!(window_and_round_trip(&sender), before);
}

#[test]
fn a_round_trip_by_the_mean_holds_half_of_the_interval_more() {
    let ertt = |srtt: Srtt| {
        let config = Config { srtt, scheme: geneva(Parameters::default()), ..Config::default() };
        let mut sender = Sender::new(config).unwrap();
        let left = departures(&mut sender, ms(20) - Span::from_nanos(1));
        let (last_left, last) = left[32];
        let report = Report { number: 0, highest: last.sequence, received: 33, lost: 0 };
        tell(&mut sender, last_left + Span::from_millis(20), report);
        shown(&sender, "ertt")
    };
    assert!((ertt(Srtt::Highest) - 0.020).abs() < 1e-9);
    // The mean of 33 departures lies 16 IPG before the last, give or take a nanosecond.
    assert!((ertt(Srtt::Mean) - (0.020 + 16.0 * 0.01 / 33.0)).abs() < 3e-9);
}

#[test]
fn counters_average_over_blocks() {
    // From F = 60, reports without loss lower the window to 8.
    let mut sender = sender(geneva(Parameters { f: 60.0, ..Parameters::default() }));
    let mut sizes = Vec::new();
    let mut number = 0;
    for tick in 1..200 {
        sizes.extend(
            departures(&mut sender, ms(10 * tick)).iter().filter(|(_, s)| s.index == 0).map(|(_, s)| s.n - s.k),
        );
        if tick > 2 {
            let highest = sender.history.note(ms(10 * tick));
            tell(&mut sender, ms(10 * tick + 9), Report { number, highest, received: 30, lost: 0 });
            number += 1;
        }
    }
    let sent = sender.sent();
    assert_eq!(sent.blocks, sizes.len() as u64);
    assert_eq!(sent.windows, sizes.iter().map(|n| f64::from(*n)).sum::<f64>());
    assert_eq!(sent.widest, sizes.iter().filter(|n| **n == 60).count() as u64);
    assert_eq!(sizes.last(), Some(&8));
    let tail = sender.sent().since(&sent);
    assert_eq!(tail.blocks, 0);
    assert!(tail.mean_window().is_nan());
}

#[test]
fn impossible_streams_are_refused() {
    let zero = Rate::from_bps(0);
    for config in [
        Config { rate: zero, ..Config::default() },
        Config { scheme: Scheme::Cbr(zero), ..Config::default() },
        Config { packet: Bytes(0), ..Config::default() },
        Config { syn: Span::ZERO, ..Config::default() },
        Config { rate: Rate::from_mbps(100_000_000), ..Config::default() },
        Config { scheme: Scheme::blocks(Fixed::new(70_000)), ..Config::default() },
    ] {
        assert!(Sender::new(config.clone()).is_err(), "{config:?}");
    }
}

fn geneva(parameters: Parameters) -> Scheme {
    Scheme::blocks(Geneva::new(parameters).expect("consistent parameters"))
}
