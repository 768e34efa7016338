//! The worked numbers of the paper, and steps computed by hand from its equations.

use super::*;
use crate::law::registry::Parameters as _;
use proptest::prelude::*;

fn law(change: impl FnOnce(&mut Parameters)) -> Geneva {
    let mut parameters = Parameters::default();
    change(&mut parameters);
    Geneva::new(parameters).expect("parameters in range")
}

fn report(lost: u32, delivered: u32, srtt: Option<f64>) -> LossReport {
    LossReport { lost, delivered, srtt: srtt.map(Seconds), at: Seconds(0.0) }
}

fn value(law: &Geneva, name: &str) -> f64 {
    let mut found = None;
    law.probe(&mut |candidate, value| {
        if candidate == name {
            found = Some(value);
        }
    });
    found.expect("a probe of that name")
}

/// Takes one report and returns F.
fn f_after(law: &mut Geneva, lost: u32, delivered: u32, srtt: f64) -> f64 {
    law.on_report(&report(lost, delivered, Some(srtt)));
    value(law, "f")
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

#[test]
fn the_window_of_equation_1_is_42_and_1701_in_the_papers_examples() {
    // §3.2.3: about 42 packets under 10 ms; §3.2.4: (60 + 21) (0.2 + 0.01) / 0.01 = 1701 under 200 ms.
    for (f, srtt, w) in [(0.0, 0.01, 42.0), (60.0, 0.2, 1701.0)] {
        let mut law = law(|p| (p.k, p.fwnd_min, p.f) = (21.0, 0.0, f));
        law.on_report(&report(0, 0, Some(srtt)));
        close(value(&law, "w_before"), w, 1e-9);
    }
    // §3.2.2: 25 Mb/s of 1500-byte packets are 20.83 packets in 10 ms; F + k of them are evenly spaced.
    let k = 25e6 * 0.01 / (1500.0 * 8.0);
    close(value(&law(|p| p.k = k), "ipg"), 0.01 / (8.0 + 20.833_333_333_333), 1e-15);
}

#[test]
fn equation_8_has_the_shape_of_figure_6() {
    let p = Parameters::default();
    let i = |w| p.increment(w, p.w0());
    // "In below 73 of W_tot, i(W_tot) is constantly set to 10."
    assert_eq!((p.w0(), i(42.0), i(72.999)), (73.0, 10.0, 10.0));
    close(i(73.0), 2.92 / 0.19, 1e-9);
    close(i(1000.0 / 13.0), 10.0, 1e-9);
    close(i(99.0), 3.96 / 0.97, 1e-12);
    close(i(422.0), 1.58, 0.005);
    close(i(1e12), 0.04 / 0.03, 1e-9);
}

#[test]
fn w0_is_where_the_increase_meets_half_a_tcp_window() {
    let crossing = |b: f64| 2.0 / (0.03 - 1.5 * b * b);
    close(crossing(0.04), 72.463_768_1, 1e-6);
    close(crossing(0.06), 81.300_813_0, 1e-6);
    for b in [0.04, 0.06] {
        let p = Parameters { b, ..Parameters::default() };
        assert_eq!(p.w0(), crossing(b).ceil());
        // Mathis: W_tcp = sqrt(8 / (3 p)), with p of Eq. (2); the two sides are equal at the crossing.
        let half_tcp = |w: f64| (8.0 / (3.0 * (0.03 - 2.0 / w))).sqrt() / 2.0;
        let at = crossing(b);
        close(p.increment(at, 0.0), half_tcp(at), 1e-6);
        assert!(p.increment(at + 5.0, 0.0) < half_tcp(at + 5.0));
    }
}

#[test]
fn two_losses_at_20_ms_raise_the_window_by_two() {
    // g = 1/3, W = 3 (8 + 25) = 99, i = 3.96/0.97; then i again at 103.0825; 31 deliveries take off 1.24.
    let mut law = law(|_| ());
    let second = 99.0 + 3.96 / 0.97;
    let w = second + 0.04 * second / (0.03 * second - 2.0) - 1.24;
    assert!(w / 3.0 - 25.0 > 10.2 && w / 3.0 - 25.0 < 10.21);
    assert_eq!(f_after(&mut law, 2, 31, 0.02), 10.0);
    assert_eq!(law.repair(), 10);
    close(value(&law, "w_before"), 99.0, 1e-9);
    close(value(&law, "w"), 105.0, 1e-9);
    close(value(&law, "ipg"), 0.01 / 35.0, 1e-15);
}

#[test]
fn a_single_loss_at_20_ms_is_kept_by_the_real_state_alone() {
    // W = 99 + 3.96/0.97 - 32 x 0.04 makes F = 8.934.
    let w = 99.0 + 3.96 / 0.97 - 1.28;
    assert_eq!(f_after(&mut law(|_| ()), 1, 32, 0.02), 8.0);
    let mut real = law(|p| p.state = State::Real);
    close(f_after(&mut real, 1, 32, 0.02), w / 3.0 - 25.0, 1e-9);
    assert_eq!(real.repair(), 8);
    f_after(&mut real, 1, 32, 0.02);
    assert_eq!(real.repair(), 9);
}

#[test]
fn a_small_window_gains_ten_packets_a_loss() {
    // At 10 ms W = 66 < 73: 66 + 10 - 1.28 packets, half of which belong to a block.
    let mut law = law(|p| p.state = State::Real);
    close(f_after(&mut law, 1, 32, 0.01), 74.72 / 2.0 - 25.0, 1e-9);
}

#[test]
fn a_lost_block_lifts_the_window_by_28_and_a_second_one_to_the_top() {
    let mut law = law(|_| ());
    assert_eq!(f_after(&mut law, 33, 0, 0.02), 36.0);
    assert_eq!(f_after(&mut law, 61, 0, 0.02), 60.0);
}

#[test]
fn clean_blocks_take_the_window_down_to_its_minimum() {
    for (srtt, one_block) in [(0.01, 0.04 * 85.0 / 2.0), (0.02, 0.04 * 85.0 / 3.0), (0.1, 0.04 * 85.0 / 11.0)] {
        let mut real = law(|p| (p.state, p.f) = (State::Real, 60.0));
        close(f_after(&mut real, 0, 85, srtt), 60.0 - one_block, 1e-9);
        let mut integer = law(|p| p.f = 60.0);
        // Integer: never less than a whole packet.
        assert_eq!(f_after(&mut integer, 0, 85, srtt), (60.0 - one_block).floor());
        for law in [&mut real, &mut integer] {
            for _ in 0..1000 {
                f_after(law, 0, 25 + law.repair(), srtt);
            }
            assert_eq!(value(law, "f"), 8.0);
        }
    }
}

#[test]
fn a_report_that_says_nothing_changes_nothing() {
    let mut fresh = law(|p| p.f = 20.0);
    fresh.on_report(&report(5, 28, None));
    assert_eq!((value(&fresh, "f"), value(&fresh, "ipg")), (20.0, 0.01 / 45.0));
    assert!(value(&fresh, "ertt").is_nan() && value(&fresh, "w_before").is_nan());
    // An empty interval: ERTT moves, W with it, F does not.
    fresh.on_report(&report(0, 0, Some(0.02)));
    fresh.on_report(&report(0, 0, Some(0.04)));
    close(value(&fresh, "ertt"), 0.9 * 0.02 + 0.1 * 0.04, 1e-15);
    close(value(&fresh, "w"), 45.0 * 3.2, 1e-9);
    assert_eq!(value(&fresh, "f"), 20.0);
    // A negative, infinite or excessive round trip is not a sample.
    let before = fresh.clone();
    for srtt in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
        fresh.on_report(&report(0, 0, Some(srtt)));
    }
    assert_eq!(fresh.ertt(), before.ertt());
}

#[test]
fn another_block_keeps_what_was_learnt() {
    let mut law = law(|_| ());
    f_after(&mut law, 33, 0, 0.02);
    law.set_interval(Interval { k: 50.0, syn: Seconds(0.02), bounds: (20.0, 30.0) }).expect("a sane interval");
    assert_eq!((value(&law, "f"), value(&law, "ertt")), (36.0, 0.02));
    // g = 1/2, W = 2 (36 + 50) = 172; 86 deliveries take 3.44 / 2 off F, which is then clamped to its new maximum.
    assert_eq!(f_after(&mut law, 0, 86, 0.02), 30.0);
    assert!(law.set_interval(Interval { k: 50.0, syn: Seconds(0.02), bounds: (31.0, 30.0) }).is_err());
    assert_eq!(law.parameters().fwnd_min, 20.0);
}

#[test]
fn forged_counts_neither_hang_nor_pass_the_maximum() {
    for srtt in [0.0, 0.02, 3600.0] {
        for (lost, delivered, f) in [(u32::MAX, 0, 60.0), (0, u32::MAX, 8.0), (u32::MAX, 100_000, 60.0)] {
            assert_eq!(f_after(&mut law(|_| ()), lost, delivered, srtt), f, "{lost} {delivered} {srtt}");
        }
    }
}

#[test]
fn settings_that_break_the_law_are_refused_with_a_reason() {
    let refused = |name: &str, value: &str| {
        let mut p = Parameters::default();
        p.set(name, value).and_then(|()| p.check()).expect_err(&format!("{name}={value}")).to_string()
    };
    // 1.5 x 0.04^2 = 0.0024.
    assert!(refused("p_max", "0.0024").contains("above 1.5 b^2"));
    assert!(refused("b", "0.15").contains("above 1.5 b^2"));
    assert!(refused("fwnd_min", "61").contains("above fwnd_max"));
    assert!(refused("window", "3").contains("one of k, syn, a, b, p_max"));
    for (name, value) in [("k", "0"), ("k", "NaN"), ("syn", "inf"), ("alpha", "1"), ("a", "-2"), ("state", "exact")] {
        assert!(refused(name, value).contains(name), "{name}={value}");
    }
    // 1.5e-18 above the pole a / p_max = 2 there is no whole packet that separates W0 from it.
    let mut p = Parameters { b: 1e-9, p_max: 1.0, ..Parameters::default() };
    let pole = p.check().expect_err("W0 on the pole").to_string();
    assert!(pole.contains("W0 = 2 lies on the pole a / p_max = 2 ") && !pole.contains("1.5 b^2"), "{pole}");
    p.b = 0.04;
    assert_eq!((p.check(), p.w0()), (Ok(()), 3.0));
    // W0 follows from the constants: 2 / (0.02 - 0.0024) = 113.6.
    let mut p = Parameters::default();
    p.set("p_max", "0.02").expect("a parameter");
    assert_eq!((p.check(), p.w0()), (Ok(()), 114.0));
}

proptest! {
    #[test]
    fn the_window_stays_between_its_bounds(
        real in any::<bool>(), k in 0.5..300.0f64, start in 0.0..80.0f64,
        reports in prop::collection::vec((0..200u32, 0..200u32, prop::option::of(0.0..2.0f64)), 1..60),
    ) {
        let state = if real { State::Real } else { State::Integer };
        let mut law = law(|p| (p.k, p.state, p.f) = (k, state, start));
        for (lost, delivered, srtt) in reports {
            law.on_report(&report(lost, delivered, srtt));
            let f = value(&law, "f");
            prop_assert!((8.0..=60.0).contains(&f) || f == start);
            prop_assert!(real || f.fract() == 0.0 || f == start);
            prop_assert!(law.repair() <= 80);
            prop_assert!(law.ertt().is_none() || value(&law, "w").is_finite());
        }
    }

    #[test]
    fn the_early_end_of_equation_4_gives_what_the_whole_loop_gives(
        k in 0.5..300.0f64, start in 8.0..60.0f64, srtt in 0.0..1.0f64, lost in 0..3000u32, delivered in 0..3000u32,
    ) {
        let mut law = law(|p| (p.k, p.state, p.f) = (k, State::Real, start));
        let g = 0.01 / (srtt + 0.01);
        let mut w = (start + k) / g;
        for _ in 0..lost {
            w += if w < 73.0 { 10.0 } else { 0.04 * w / (0.03 * w - 2.0) };
        }
        w -= 0.04 * f64::from(delivered);
        let expected = if lost + delivered == 0 { start } else { (w * g - k).clamp(8.0, 60.0) };
        prop_assert!((f_after(&mut law, lost, delivered, srtt) - expected).abs() < 1e-9);
    }
}
