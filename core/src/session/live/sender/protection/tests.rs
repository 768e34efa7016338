//! The repair of a block, by rate and latency.

use proptest::prelude::*;

use super::*;
use crate::law::redundancy::geneva::{Geneva, Parameters};
use crate::units::Bytes;

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn geneva(wanted: Option<Span>, latency: Span) -> Protection {
    let law = Geneva::new(Parameters::default()).expect("the paper's parameters");
    let mut protection = Protection::new(&Law::Geneva(law), wanted);
    protection.set_budget(latency, ms(40));
    protection
}

fn report(lost: u32, delivered: u32, round_trip: Span) -> LossReport {
    LossReport { lost, delivered, srtt: Some(Seconds::from(round_trip)), at: Seconds(0.0) }
}

/// A block of `sources` packets of `payload` bytes each, over IPv4 and without control.
fn load(sources: usize, payload: usize) -> Load {
    let bytes = |bytes: usize| Bytes(bytes as u64);
    // RTP, payload ID, UDP and IP; and of a repair packet also the symbol's own header and the bounds of the block.
    let (wire, repair) = (payload + 12 + 6 + 28, payload + 12 + 3 + 12 + 8 + 6 + 28);
    let control = Bytes(0);
    let is_full = false;
    Load {
        sources,
        is_full,
        media: bytes(sources * payload),
        wire: bytes(sources * wire),
        control,
        repair: bytes(repair),
    }
}

/// Repair packets for `blocks` blocks of a source that gives `sources` packets in each.
fn close(protection: &mut Protection, blocks: usize, sources: usize) -> usize {
    (0..blocks)
        .map(|_| {
            let open = protection.block();
            protection.close_block(&load(sources, 1400), open, open, |window| window)
        })
        .sum()
}

#[test]
fn the_papers_rate_and_block_have_eight_repair_packets() {
    let mut protection = geneva(Some(SYN), ms(90));
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
fn a_block_takes_what_the_latency_leaves_up_to_one_part_of_the_code() {
    // An eighth of the 34 ms stays for late timers. 2500 packets a second: 25 in a SYN, 74 in a block.
    let mut protection = geneva(None, ms(90));
    assert_eq!(protection.block(), SYN, "the first tells the rate");
    close(&mut protection, 1, 25);
    let block = ms(34) * 7 / 8;
    assert_eq!((protection.block(), protection.interval()), (block, SYN));
    let sources = 2500.0 * block.as_secs_f64();
    let repair: usize = (0..400)
        .map(|nth| {
            let packets = ((nth + 1) as f64 * sources) as usize - (nth as f64 * sources) as usize;
            protection.close_block(&load(packets, 1400), block, block, |window| window)
        })
        .sum();
    // Eight for 25 (GENEVA §3.2.4).
    let expected = 400.0 * sources * 8.0 / 25.0;
    assert!((repair as f64 / expected - 1.0).abs() < 0.01, "{repair} of {expected}");
    // 170 packets, and half of 170, are 255.
    let mut protection = geneva(None, Span::from_secs(1));
    close(&mut protection, 1, 25);
    assert_eq!(protection.block(), ms(68));
}

#[test]
fn too_few_packets_for_repair_are_known_once_the_rate_is() {
    // 82 packets a second: one or two in the 19 ms that a latency of 90 ms leaves on a round trip of 100 ms.
    let mut protection = geneva(None, ms(90));
    protection.set_budget(ms(90), ms(100));
    for _ in 0..70 {
        let block = protection.block();
        protection.close_block(&load(1, 1400), block, Span::from_micros(12_195).max(block), |window| window);
    }
    let (packets, needed) = protection.few_packets(ms(100)).expect("too few");
    assert!(packets < 2.0, "{packets}");
    protection.set_budget(needed, ms(100));
    assert_eq!(protection.few_packets(ms(100)), None);
}

#[test]
fn a_slow_source_gets_blocks_of_21_packets_while_the_latency_lasts() {
    // 800 packets a second: 21 in 26.25 ms.
    let mut protection = geneva(None, ms(90));
    close(&mut protection, 1, 8);
    assert_eq!(protection.interval(), Span::from_micros(26_250));
    // 100 packets a second: 3 in seven eighths of the longest block, 34 ms.
    let mut protection = geneva(None, ms(90));
    close(&mut protection, 1, 1);
    assert_eq!(protection.interval(), ms(34) * 7 / 8);
    let repair: usize = (0..500).map(|_| close(&mut protection, 1, 3) + close(&mut protection, 1, 4)).sum();
    // Headers take 46 of the 40 % of 1400 bytes; a repair packet has 1469. Up to one is carried.
    let floor = 3500.0 * (0.4 * 1400.0 - 46.0) / 1469.0;
    assert!((floor - 1.1..=floor).contains(&(repair as f64)), "{repair} of {floor}");
}

#[test]
fn a_full_block_counts_as_long_as_it_was_open() {
    // 1600 packets in 200 ms: 8000 a second, 80 in a SYN, which get eight.
    let mut protection = geneva(Some(Span::from_secs(1)), Span::from_secs(3));
    let full = Load { is_full: true, ..load(1600, 1400) };
    let repair: usize = (0..100).map(|_| protection.close_block(&full, ms(200), ms(200), |window| window)).sum();
    assert!((protection.k().expect("known") - 80.0).abs() < 1e-9);
    assert_eq!(repair, 100 * 1600 * 8 / 80);
    assert_eq!(protection.leaving(&full, ms(200)), ms(200));
    // A block that arrived as a burst leaves evenly.
    protection.close_block(&full, Span::ZERO, ms(200), |window| window);
    assert_eq!(protection.leaving(&full, Span::ZERO), ms(200));
}

#[test]
fn a_block_that_holds_two_packets_of_a_bursty_source_gets_the_repair_of_its_time() {
    // 42 packets in 60 ms on average: twice 21, so twice eight, within the error of the rate.
    let mut protection = geneva(Some(ms(60)), Span::from_secs(1));
    close(&mut protection, 1, 42);
    for _ in 0..20 {
        let (small, large) = (close(&mut protection, 1, 2), close(&mut protection, 1, 82));
        assert!((10..=22).contains(&small) && (10..=22).contains(&large), "{small}, {large}");
    }
}

#[test]
fn the_brake_limits_what_the_law_wants() {
    let mut protection = geneva(Some(SYN), ms(90));
    close(&mut protection, 1, 25);
    assert_eq!(protection.close_block(&load(25, 1400), SYN, SYN, |_| 3.0), 3);
    assert_eq!(protection.close_block(&load(25, 1400), SYN, SYN, |_| 0.0), 0);
}

#[test]
fn a_user_may_ask_for_less_than_the_paper_and_for_more() {
    for (least, sources, expected) in [(0.0, 1, 0), (0.0, 25, 0), (20.0, 25, 2000)] {
        let law = Geneva::new(Parameters { fwnd_min: least, ..Parameters::default() }).expect("within their ranges");
        let mut protection = Protection::new(&Law::Geneva(law), Some(SYN));
        protection.set_budget(ms(90), ms(40));
        // F begins at eight, and a clean report takes it down.
        let clean = |protection: &mut Protection| protection.on_report(&report(0, 1000, ms(40)));
        close(&mut protection, 1, sources);
        clean(&mut protection);
        assert_eq!(close(&mut protection, 100, sources), expected, "{least} of {sources}");
    }
}

#[test]
fn losses_lift_a_slow_stream_off_its_floor() {
    let mut protection = geneva(None, ms(90));
    let floor = close(&mut protection, 100, 8);
    // Half of ten packets are lost, again and again.
    for _ in 0..60 {
        protection.on_report(&report(5, 5, ms(40)));
        close(&mut protection, 1, 8);
    }
    let lifted = close(&mut protection, 100, 8);
    // 60 for 25 (GENEVA §3.2.4).
    assert!((lifted as f64 - 800.0 * 60.0 / 25.0).abs() <= 1.0 && lifted > 6 * floor, "{lifted} from {floor}");
}

#[test]
fn no_block_is_shorter_than_the_law_takes() {
    let law = Geneva::new(Parameters { syn: Seconds(1e-4), ..Parameters::default() }).expect("the least syn");
    let mut protection = Protection::new(&Law::Geneva(law), None);
    protection.set_budget(ms(5), ms(80));
    assert_eq!((protection.block(), protection.is_hopeless()), (Span::from_micros(100), true));
    close(&mut protection, 10, 60);
    // 40 ms one way, 2 to spare, 0.1 to wait and 0.1 to leave.
    let needed = Span::from_micros(42_200);
    assert_eq!(protection.needed(ms(80)), needed);
    protection.set_budget(needed, ms(80));
    assert!(!protection.is_hopeless());
}

/// Values from the whole range of each parameter, on a logarithmic scale where it is wide.
fn parameters() -> impl Strategy<Value = Parameters> {
    let scale = |least: f64, most: f64| (0.0..=1.0).prop_map(move |at| least * libm::pow(most / least, at));
    let window = || prop_oneof![Just(0.0), scale(1.0, 65535.0)];
    let constants = (scale(1e-3, 1e9), scale(1e-6, 1.0), scale(1e-3, 1.0), 0.0..1.0);
    let rest = (scale(1e-4, 10.0), window(), window(), window(), window(), any::<bool>());
    (constants, rest).prop_map(|((a, b, p_max, alpha), (syn, one, other, i_low, f, real))| {
        use crate::law::redundancy::geneva::State;
        let state = if real { State::Real } else { State::Integer };
        let syn = Seconds(syn.clamp(1e-4, 10.0));
        let (fwnd_min, fwnd_max) = (f64::min(one, other).min(65535.0), f64::max(one, other).min(65535.0));
        let f = f64::min(f, 65535.0);
        Parameters { a, b, p_max, alpha, syn, fwnd_min, fwnd_max, i_low, f, state, ..Parameters::default() }
    })
}

/// Packets of a block, their payload, microseconds since the block before, and losses in 100 packets reported.
fn block() -> impl Strategy<Value = (usize, usize, u64, u32)> {
    (prop_oneof![1..1600_usize, Just(1600)], 1..=1400_usize, prop_oneof![0..1000_u64, 0..20_000_000_u64], 0..=100_u32)
}

proptest! {
    /// Any configuration that is accepted, at any rate, latency and round trip.
    #[test]
    fn any_accepted_parameters_serve_any_source(
        parameters in parameters(),
        wanted in prop::option::of(1..20_000_000_u64),
        spans in prop::collection::vec((0..20_000_000_u64, 0..2_000_000_u64), 1..4),
        blocks in prop::collection::vec(block(), 1..40),
    ) {
        let Ok(law) = Geneva::new(parameters.clone()) else { return Ok(()) };
        let mut protection = Protection::new(&Law::Geneva(law), wanted.map(Span::from_micros));
        for (latency, round_trip) in spans {
            let round_trip = Span::from_micros(round_trip);
            protection.set_budget(Span::from_micros(latency), round_trip);
            for (sources, payload, since, lost) in &blocks {
                let (block, since) = (protection.block(), Span::from_micros(*since));
                let load = Load { is_full: *sources == 1600, ..load(*sources, *payload) };
                let open = if load.is_full { since.min(block) } else { block };
                let repairs = protection.close_block(&load, open, since, |window| window);
                prop_assert!(protection.block() >= LEAST_SYN && protection.block() <= protection.longest);
                prop_assert!(protection.window() <= parameters.fwnd_max);
                let k = protection.k().expect("a block has closed");
                prop_assert!(k > 0.0 && k.is_finite());
                // No more than the window for each interval of the law that the block holds, and what was carried: one
                // long repair packet has the bytes of up to 21 short ones.
                let longest = since.max(block).max(protection.syn);
                let expected = protection.rate().expect("as above") * longest.as_secs_f64();
                let most = 1.000_001 * protection.window() * expected.max(*sources as f64) / protection.law_k(k) + 22.0;
                prop_assert!(repairs as f64 <= most, "{repairs} of {most}");
                protection.on_report(&report(*lost, 100 - lost, round_trip));
            }
        }
    }
}
