use super::*;

fn packet(flow: u32) -> Packet {
    Packet::length(flow, Bytes(1500))
}

fn departures(link: &mut DropTail) -> Vec<(u32, u64)> {
    let mut out = Vec::new();
    while let Some(at) = link.next() {
        out.extend(link.poll(at).map(|packet| (packet.flow, at.as_nanos())));
    }
    out
}

#[test]
fn packets_leave_one_transmission_time_apart() {
    // 1500 bytes at 1 Gb/s are 12 us.
    let mut link = DropTail::new(Rate::from_mbps(1000), Limit::Packets(10));
    link.accept(Time::ZERO, packet(0));
    link.accept(Time::ZERO, packet(1));
    link.accept(Time::from_nanos(1_000), packet(2));
    assert_eq!(departures(&mut link), [(0, 12_000), (1, 24_000), (2, 36_000)]);
    link.accept(Time::from_nanos(100_000), packet(3));
    assert_eq!(departures(&mut link), [(3, 112_000)]);
}

#[test]
fn poisson_arrivals_wait_as_long_as_pollaczek_and_khinchine_say() {
    // M/D/1: rho / (2 (1 - rho)) service times of waiting, plus one of service; here rho = 0.6 and 1500 bytes take
    // 12 us. Means over 100 batches of 4000 arrivals, far longer than a busy period, are nearly independent.
    let mut rng = thalweg_core::rng::Rng::new(8);
    let mut link = DropTail::new(Rate::from_mbps(1000), Limit::Packets(u64::MAX));
    let mut now = 0.0;
    let batches: Vec<f64> = (0..100)
        .map(|_| {
            let mut sum = 0.0;
            for _ in 0..4_000 {
                now += rng.exponential(20e-6);
                let arrival = Time::ZERO + Span::from_secs_f64(now);
                while link.poll(arrival).is_some() {}
                link.accept(arrival, packet(0));
                sum += link.backlog.back().map_or(0.0, |last| last.at.since(arrival).as_secs_f64());
            }
            sum / 4_000.0
        })
        .collect();
    let mean = batches.iter().sum::<f64>() / 100.0;
    let variance = batches.iter().map(|batch| libm::pow(batch - mean, 2.0)).sum::<f64>() / 99.0;
    let expected = 12e-6 * (1.0 + 0.6 / (2.0 * 0.4));
    assert!((mean - expected).abs() < 5.0 * (variance / 100.0).sqrt(), "{mean} is not {expected}");
}

#[test]
fn a_full_queue_drops_its_tail_whether_it_was_polled_or_not() {
    for limit in [Limit::Packets(2), Limit::Bytes(Bytes(3_000))] {
        let mut link = DropTail::new(Rate::from_mbps(1000), limit);
        for flow in 0..4 {
            link.accept(Time::ZERO, packet(flow));
        }
        // One on the link, two behind it.
        assert_eq!(link.tally(), Tally { dropped: Drops { of_ends: 1, of_cross: 0 }, held: 3, ..Tally::default() });
        // At 12 us the first has left, although it was not polled yet: there is space for one.
        let later = Time::ZERO + Span::from_micros(12);
        link.accept(later, packet(4));
        link.accept(later, packet(5));
        assert_eq!(link.tally().dropped.total(), 2);
        assert_eq!(departures(&mut link), [(0, 12_000), (1, 24_000), (2, 36_000), (4, 48_000)]);
    }
}

#[test]
fn a_link_with_a_wire_is_a_link_and_then_a_wire() {
    let delay = Span::from_millis(3);
    let mut both = DropTail::new(Rate::from_mbps(1000), Limit::Packets(5)).with_wire(delay);
    let mut link = DropTail::new(Rate::from_mbps(1000), Limit::Packets(5));
    let mut rng = thalweg_core::rng::Rng::new(4);
    let (mut now, mut from_link) = (0.0, Vec::new());
    for flow in 0..2_000 {
        now += rng.exponential(12.5e-6);
        let arrival = Time::ZERO + Span::from_secs_f64(now);
        both.accept(arrival, packet(flow));
        link.accept(arrival, packet(flow));
    }
    let later = |(flow, at): (u32, u64)| (flow, at + delay.as_nanos());
    from_link.extend(departures(&mut link).into_iter().map(later));
    assert!(from_link.len() < 2_000, "the queue was full at times");
    assert_eq!(departures(&mut both), from_link);
    assert_eq!(both.tally(), link.tally());
}

#[test]
fn losses_are_counted_by_flow() {
    let mut link = DropTail::new(Rate::from_mbps(1000), Limit::Packets(1)).counting(2);
    for flow in [0, 1, 1, 0, 7] {
        link.accept(Time::ZERO, packet(flow));
    }
    let counts = [Offered { packets: 2, dropped: 1 }, Offered { packets: 2, dropped: 1 }];
    assert_eq!(link.offered(), counts);
    // 1500 bytes at 1 Gb/s: the first finds an idle link, and the second waits for it. A dropped packet waits for
    // nothing.
    assert_eq!([0, 1, 7].map(|flow| link.waited_of(flow).as_micros()), [0, 12, 0]);
}

/// 1500 bytes take 12 ms at 1 Mb/s, and 3 ms at 4 Mb/s.
#[test]
fn rate_that_changes_counts_for_the_bits_that_are_left() {
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let steps = Steps::new(&[(at(18), Rate::from_mbps(4)), (at(30), Rate::from_mbps(1))]).expect("steps");
    let mut link = DropTail::new(Rate::from_mbps(1), Limit::Packets(10)).with_steps(steps);
    (0..7).for_each(|flow| link.accept(Time::ZERO, packet(flow)));
    let left: Vec<u64> = departures(&mut link).into_iter().map(|(_, at)| at).collect();
    // Half of the second packet has left at 18 ms; the rest takes 1.5 ms. Of the last, half has left at 30 ms.
    assert_eq!(left, [12_000, 19_500, 22_500, 25_500, 28_500, 36_000, 48_000].map(|micros| micros * 1000));
    for wrong in [&[(at(1), Rate::from_bps(0))][..], &[(at(1), Rate::from_mbps(1)), (at(1), Rate::from_mbps(2))]] {
        assert!(Steps::new(wrong).is_err(), "{wrong:?}");
    }
}
