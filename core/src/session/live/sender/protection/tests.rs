//! What a block gets, at which rate and within which latency.

use super::*;
use crate::law::redundancy::geneva::Parameters;
use crate::units::Bytes;

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn geneva(wanted: Option<Span>, latency: Span) -> Protection {
    let law = Geneva::new(Parameters::default()).expect("the paper's parameters");
    let mut protection = Protection::new(&Repair::Geneva(law), wanted);
    protection.set_budget(latency, ms(40));
    protection
}

/// A block of `sources` packets of `payload` bytes each, over IPv4 and without control.
fn load(sources: usize, payload: usize) -> Load {
    let bytes = |bytes: usize| Bytes(bytes as u64);
    // RTP, payload ID, UDP and IP; and of a repair packet also the symbol's own header and the bounds of the block.
    let (wire, repair) = (payload + 12 + 6 + 28, payload + 12 + 3 + 12 + 8 + 6 + 28);
    let control = Bytes(0);
    Load { sources, media: bytes(sources * payload), wire: bytes(sources * wire), control, repair: bytes(repair) }
}

/// Repair packets for `blocks` blocks of a source that gives `sources` packets in each.
fn close(protection: &mut Protection, blocks: usize, sources: usize) -> usize {
    (0..blocks)
        .map(|_| {
            let open = protection.block();
            protection.close_block(&load(sources, 1400), open, open, None)
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
    // 100 packets a second: 3 in seven eighths of the 34 ms that there are.
    let mut protection = geneva(None, ms(90));
    close(&mut protection, 1, 1);
    assert_eq!(protection.interval(), ms(34) * 7 / 8);
    let repair: usize = (0..500).map(|_| close(&mut protection, 1, 3) + close(&mut protection, 1, 4)).sum();
    // Of 40 % of 1400 bytes, headers take 46; a repair packet weighs 1469. Up to one is carried.
    let floor = 3500.0 * (0.4 * 1400.0 - 46.0) / 1469.0;
    assert!((floor - 1.1..=floor).contains(&(repair as f64)), "{repair} of {floor}");
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
    assert_eq!(protection.close_block(&load(25, 1400), SYN, SYN, Some(3.0)), 3);
    assert_eq!(protection.close_block(&load(25, 1400), SYN, SYN, Some(0.0)), 0);
}

#[test]
fn a_user_may_ask_for_less_than_the_paper_and_for_more() {
    for (least, sources, expected) in [(0.0, 1, 0), (0.0, 25, 0), (20.0, 25, 2000)] {
        let law = Geneva::new(Parameters { fwnd_min: least, ..Parameters::default() }).expect("within their ranges");
        let mut protection = Protection::new(&Repair::Geneva(law), None);
        protection.set_budget(ms(90), ms(40));
        // F begins at eight, and a clean report takes it down.
        let clean = |protection: &mut Protection| protection.on_report(Time::ZERO, 0, 1000, Some(ms(40)));
        close(&mut protection, 1, sources);
        clean(&mut protection);
        assert_eq!(close(&mut protection, 100, sources), expected, "{least} of {sources}");
    }
}

#[test]
fn losses_lift_a_slow_stream_off_its_floor() {
    let mut protection = geneva(None, ms(90));
    let floor = close(&mut protection, 100, 8);
    // Half of ten packets, again and again.
    for _ in 0..60 {
        protection.on_report(Time::ZERO, 5, 5, Some(ms(40)));
        close(&mut protection, 1, 8);
    }
    let lifted = close(&mut protection, 100, 8);
    // 60 for 25 (GENEVA §3.2.4).
    assert!((lifted as f64 - 800.0 * 60.0 / 25.0).abs() <= 1.0 && lifted > 6 * floor, "{lifted} from {floor}");
}
