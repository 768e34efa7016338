//! Predictions for a stream by the paper's equations and by closed forms.

use thalweg_core::law::redundancy::geneva::Parameters;
use thalweg_core::law::redundancy::{fixed::Fixed, geneva::Geneva};
use thalweg_core::rng::Rng;
use thalweg_core::time::Time;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Path;
use thalweg_lab::stream::scheme::Scheme;
use thalweg_lab::stream::sender::Config;

use crate::stream::pair::{Pair, ms};

fn geneva(parameters: Parameters) -> Config {
    Config { scheme: Scheme::blocks(Geneva::new(parameters).expect("consistent parameters")), ..Config::default() }
}

fn wire() -> Path {
    Path::default().then("wire", Wire::new(ms(10)))
}

fn lossy(rate: f64, seed: u64) -> Path {
    Path::default().then("loss", Loss::independent(rate, Rng::new(seed))).then("wire", Wire::new(ms(10)))
}

#[test]
fn without_loss_the_window_falls_to_eight_and_stays() {
    let mut pair = Pair::new(geneva(Parameters { f: 30.0, ..Parameters::default() }), wire(), wire());
    pair.until(Time::ZERO + ms(2_000));
    assert_eq!(pair.shown("f"), 8.0);
    // A round trip of 20 ms, and at most one IPG for the next report.
    assert!((0.020..0.0204).contains(&pair.shown("ertt")), "{}", pair.shown("ertt"));
    let before = (pair.sender.sent(), pair.receiver.received());
    pair.until(Time::ZERO + ms(3_000));
    let (sent, received) = (pair.sender.sent().since(&before.0), pair.receiver.received().since(&before.1));
    assert_eq!((sent.blocks, sent.mean_window(), sent.share_widest()), (100, 8.0, 0.0));
    // Eq. (1): 33 packets a SYN, and (20 + 10) / 10 SYN.
    assert!((sent.mean_w() - 99.0).abs() < 1.4, "{}", sent.mean_w());
    assert_eq!((sent.source, sent.repair, sent.stale), (2_500, 800, 0));
    assert_eq!((received.packets, received.lost, received.bursts), (3_300, 0, 0));
    assert_eq!((received.source, received.residual()), (2_500, 0));
}

#[test]
fn two_losses_in_one_interval_make_ten_of_eight_and_a_lost_report_makes_nothing() {
    // W is 99 to 100 (ERTT 20 to 20.3 ms), g is 0.330 to 1/3. Two losses: 99 + 4.082 + 3.774 - 31 b = 105.6 and
    // 100 + 4 + 3.714 - 31 b = 106.5, so that W g - k = 10.2 and 10.1. One loss: 7.9 at most, back to 8.
    for (lost, f) in [(vec![1_000], 8.0), (vec![1_000, 1_001], 10.0)] {
        let mut pair = Pair::new(geneva(Parameters::default()), wire(), wire());
        pair.taken_off = lost.clone();
        let mut highest: f64 = 0.0;
        for tick in 0..600 {
            pair.until(Time::ZERO + ms(tick));
            highest = highest.max(pair.shown("f"));
        }
        assert_eq!(highest, f, "{lost:?}");
        assert_eq!(pair.shown("f"), 8.0);
        // The same, but the report that indicates the losses is lost.
        let mut pair = Pair::new(geneva(Parameters::default()), wire(), wire());
        pair.taken_off = lost;
        pair.deaf = Time::ZERO + ms(300)..Time::ZERO + ms(400);
        for tick in 0..600 {
            pair.until(Time::ZERO + ms(tick));
            assert_eq!(pair.shown("f"), 8.0);
        }
        assert_eq!(pair.sender.sent().stale, 0);
    }
}

#[test]
fn lost_reports_alone_never_raise_the_window() {
    let parameters = Parameters { f: 40.0, ..Parameters::default() };
    for seed in 0..5 {
        let mut pair = Pair::new(geneva(parameters.clone()), wire(), lossy(0.5, seed));
        let mut before = 40.0;
        for tick in 0..1_500 {
            pair.until(Time::ZERO + ms(tick));
            assert!(pair.shown("f") <= before, "seed {seed}, {tick} ms");
            before = pair.shown("f");
        }
        assert_eq!(before, 8.0);
    }
}

/// C(n, j) p^j (1 - p)^(n - j).
fn binomial(n: u32, j: u32, p: f64) -> f64 {
    let choose: f64 = (0..j).map(|i| f64::from(n - i) / f64::from(i + 1)).product();
    choose * libm::pow(p, f64::from(j)) * libm::pow(1.0 - p, f64::from(n - j))
}

/// Mean and variance of the source packets that a block of (n, k) leaves lost: with j > n - k of n packets lost, the
/// number of those among the k source packets is hypergeometric.
fn lost_of_a_block(n: u32, k: u32, p: f64) -> (f64, f64) {
    let (mut mean, mut square) = (0.0, 0.0);
    for j in n - k + 1..=n {
        let (share, among) = (f64::from(j) / f64::from(n), f64::from(k));
        let expected = among * share;
        let variance = among * share * (1.0 - share) * f64::from(n - k) / f64::from(n - 1);
        mean += binomial(n, j, p) * expected;
        square += binomial(n, j, p) * (variance + expected * expected);
    }
    (mean, square - mean * mean)
}

#[test]
fn independent_loss_leaves_what_the_binomial_tail_says() {
    for (repair, p, seed) in [(8, 0.15, 1), (8, 0.3, 2), (12, 0.25, 3), (0, 0.02, 4)] {
        let config = Config { scheme: Scheme::blocks(Fixed::new(repair)), ..Config::default() };
        let mut pair = Pair::new(config, lossy(p, seed), wire());
        pair.until(Time::ZERO + ms(1_000));
        let before = pair.receiver.received();
        pair.until(Time::ZERO + ms(41_000));
        let seen = pair.receiver.received().since(&before);
        let blocks = f64::from(seen.source as u32) / 25.0;
        assert!((3_990.0..=4_010.0).contains(&blocks), "40 s of blocks, but for those at the edges: {blocks}");
        let (mean, variance) = lost_of_a_block(25 + repair, 25, p);
        let standard_error = (variance / blocks).sqrt();
        let lost = seen.residual() as f64 / blocks;
        assert!(
            (lost - mean).abs() < 5.0 * standard_error,
            "{repair} at {p}: {lost} is not {mean} +- {standard_error}"
        );
        let loss_error = (p * (1.0 - p) / seen.packets as f64).sqrt();
        assert!((seen.loss_rate() - p).abs() < 5.0 * loss_error, "{}", seen.loss_rate());
    }
}

#[test]
fn independent_loss_has_as_many_bursts_as_chance_makes() {
    // A run of four or more begins at a packet that arrived with four lost ones behind it: (1 - p) p^4 per packet.
    let (p, seconds) = (0.3, 40);
    let config = Config { scheme: Scheme::blocks(Fixed::new(8)), ..Config::default() };
    let mut pair = Pair::new(config, lossy(p, 9), wire());
    pair.until(Time::ZERO + ms(seconds * 1_000));
    let seen = pair.receiver.received();
    let expected = seen.packets as f64 * (1.0 - p) * libm::pow(p, 4.0);
    // Runs exclude each other nearby, so their number varies less than a Poisson number.
    assert!((seen.bursts as f64 - expected).abs() < 5.0 * expected.sqrt(), "{} is not {expected}", seen.bursts);
}

#[test]
fn the_same_seed_gives_the_same_stream() {
    let run = || {
        let mut pair = Pair::new(geneva(Parameters::default()), lossy(0.02, 5), lossy(0.1, 6));
        pair.until(Time::ZERO + ms(5_000));
        (pair.sender, pair.receiver)
    };
    assert_eq!(run(), run());
}
