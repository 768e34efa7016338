//! What a block gets, at which rate and within which latency.

use super::*;
use crate::law::redundancy::geneva::Parameters;

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn geneva(wanted: Option<Span>, latency: Span) -> Protection {
    let law = Geneva::new(Parameters::default()).expect("the paper's parameters");
    let mut protection = Protection::new(&Repair::Geneva(law), wanted);
    protection.set_budget(latency, ms(40));
    protection
}

/// Repair packets for `blocks` blocks of a source that gives `sources` packets in each.
fn close(protection: &mut Protection, blocks: usize, sources: usize) -> usize {
    (0..blocks)
        .map(|_| {
            let open = protection.block();
            protection.close_block(sources, open, open, None)
        })
        .sum()
}

#[test]
fn the_papers_rate_has_blocks_of_one_syn_and_eight_repair_packets() {
    let mut protection = geneva(None, ms(90));
    assert_eq!(close(&mut protection, 100, 25), 800);
    assert_eq!(protection.block(), SYN);
    assert!((protection.k().expect("known") - 25.0).abs() < 1e-9);
}

#[test]
fn twice_the_block_has_twice_the_repair() {
    let mut protection = geneva(Some(ms(20)), ms(90));
    assert_eq!(close(&mut protection, 100, 50), 1600);
    assert_eq!((protection.block(), protection.interval()), (ms(20), SYN));
}

#[test]
fn a_block_is_never_longer_than_the_latency_allows() {
    // 90 ms less half of 40 ms is 70 ms: 2 to spare, 34 to wait and 34 to leave.
    assert_eq!(geneva(Some(ms(50)), ms(90)).block(), ms(34));
    assert_eq!(geneva(Some(ms(50)), ms(10)).block(), SYN / 2, "hopeless, but alive");
}

#[test]
fn a_slow_source_gets_blocks_of_21_packets_while_the_latency_lasts() {
    // 800 packets a second: 21 in 26.25 ms.
    let mut protection = geneva(None, ms(90));
    close(&mut protection, 1, 8);
    assert_eq!(protection.interval(), Span::from_micros(26_250));
    // 100 packets a second: 3 in seven eighths of the 34 ms that there are, and 0.4 of that.
    let mut protection = geneva(None, ms(90));
    close(&mut protection, 1, 1);
    assert_eq!(protection.interval(), ms(34) * 7 / 8);
    let repair: usize = (0..500).map(|_| close(&mut protection, 1, 3) + close(&mut protection, 1, 4)).sum();
    assert!((1399..=1400).contains(&repair), "0.4 of 3500 packets, less what is carried: {repair}");
}

#[test]
fn a_block_that_holds_two_packets_of_a_bursty_source_gets_the_repair_of_its_time() {
    // 42 packets in 60 ms on average: twice 21, so twice eight, give or take what the rate is off by.
    let mut protection = geneva(Some(ms(60)), Span::from_secs(1));
    close(&mut protection, 1, 42);
    for _ in 0..20 {
        let (small, large) = (close(&mut protection, 1, 2), close(&mut protection, 1, 82));
        assert!((10..=22).contains(&small) && (10..=22).contains(&large), "{small}, {large}");
    }
}

#[test]
fn the_brake_limits_what_the_law_wants() {
    let mut protection = geneva(None, ms(90));
    close(&mut protection, 1, 25);
    assert_eq!(protection.close_block(25, SYN, SYN, Some(3.0)), 3);
    assert_eq!(protection.close_block(25, SYN, SYN, Some(0.0)), 0);
}
