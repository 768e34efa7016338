//! A lone flow under random loss compared with the formulas of the literature, in segments a second.

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Path;
use thalweg_lab::tcp::{DELAYED_ACK, ReceiverConfig, Recovery, SenderConfig};

use crate::tcp::pair::{ALL, Pair, ms, starting_at};

/// The round trip in seconds.
const ROUND_TRIP: f64 = 0.1;
/// The first timeout in seconds, which is the minimum: all round trips are alike.
const T0: f64 = 0.2;

/// M. Mathis, J. Semke, J. Mahdavi, T. Ott: *The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm*, Eq.
/// (3), for periodic loss and an acknowledgement of every segment.
fn mathis(p: f64) -> f64 {
    (1.5 / p).sqrt() / ROUND_TRIP
}

/// J. Padhye, V. Firoiu, D. Towsley, J. Kurose: *Modeling TCP Reno Performance*, the full model (Eq. (32)) for a window
/// that no receiver limits and b = 1: the sending rate.
fn padhye(p: f64) -> f64 {
    let q = 1.0 - p;
    let w = 1.0 + (8.0 * q / (3.0 * p) + 1.0).sqrt();
    let timeout =
        ((1.0 - q * q * q) * (1.0 + q * q * q * (1.0 - libm::pow(q, w - 3.0))) / (1.0 - libm::pow(q, w))).min(1.0);
    let f = 1.0 + p * (1.0 + p * (2.0 + p * (4.0 + p * (8.0 + p * (16.0 + p * 32.0)))));
    (q / p + w + timeout / q) / (ROUND_TRIP * (w / 2.0 + 1.0) + timeout * T0 * f / q)
}

/// Segments that a flow sends in a second under independent loss.
fn rate(p: f64, recovery: Recovery, delay: Option<Span>, seconds: u64) -> f64 {
    let half = || Wire::new(ms(50));
    let forward = Path::default().then("loss", Loss::independent(p, Rng::new(11).fork("loss"))).then("wire", half());
    let answers = ReceiverConfig { flow: 0, sack: recovery.has_sack(), delay };
    let sends = SenderConfig { recovery, ..SenderConfig::new(0) };
    let paths = (forward, Path::default().then("wire", half()));
    let mut pair = Pair::across(starting_at(10), sends, answers, paths);
    pair.records = false;
    pair.run_until(Time::ZERO + Span::from_secs(seconds));
    pair.sender.counters().sent as f64 / seconds as f64
}

#[test]
fn rare_loss_gives_the_square_root_formula() {
    for (p, seconds) in [(0.0005, 1_000), (0.002, 1_000)] {
        for recovery in ALL {
            let ratio = rate(p, recovery, None, seconds) / mathis(p);
            assert!((0.9..1.1).contains(&ratio), "p = {p}, {recovery:?}: {ratio} times the formula");
        }
    }
}

#[test]
fn frequent_loss_gives_the_formula_with_timeouts() {
    for p in [0.02, 0.05, 0.1] {
        for recovery in ALL {
            let ratio = rate(p, recovery, None, 4_000) / padhye(p);
            assert!((0.9..1.1).contains(&ratio), "p = {p}, {recovery:?}: {ratio} times the formula");
            // Timeouts dominate: the square root alone is far off.
            assert!(p < 0.05 || padhye(p) < 0.85 * mathis(p));
        }
    }
}

#[test]
fn delayed_acknowledgements_change_little_where_segments_are_counted() {
    // The law adds for each segment, not for each acknowledgement (RFC 3465): b stays 1. The remaining differences are
    // slow starts and the wait of single segments.
    for p in [0.001, 0.02] {
        let ratio = rate(p, Recovery::Sack, Some(DELAYED_ACK), 4_000) / padhye(p);
        assert!((0.8..1.1).contains(&ratio), "p = {p}: {ratio} times the formula");
    }
}
