//! Eq. (2) beside Eq. (1), the claims of the paper's Figs. 3 to 5, and a change of parameters on a path.

use super::*;
use crate::law::rate::tfrc::{Data, sender};
use crate::law::rate::{Allowance, Report};
use crate::time::{Span, Time};
use crate::units::Rate;
use proptest::prelude::*;

fn greediness(alpha: f64, beta: f64) -> Greediness {
    Greediness::new(alpha, beta).expect("within the domain")
}

#[test]
fn less_greedy_example_gets_about_half_of_a_tcp() {
    // Small p: sqrt(α (1+β) / (3 (1-β))) = sqrt(.5 * 1.25 / 2.25).
    let half = greediness(0.5, 0.25);
    assert!((half.multiplier(1e-12) - f64::sqrt(0.625 / 2.25)).abs() < 1e-6);
    assert!((half.multiplier(0.02) - 0.54).abs() < 0.005, "{}", half.multiplier(0.02));
}

#[test]
fn greedier_example_gets_almost_twice_as_much_as_a_tcp() {
    // sqrt(1.5 * 1.75 / .75) for small p, and sqrt(.75 α / (1-β²)) for large p without the first term.
    let double = greediness(1.5, 0.75);
    assert!((double.multiplier(1e-12) - f64::sqrt(3.5)).abs() < 1e-6);
    for (p, expected) in [(0.02, 1.82), (0.05, 1.77)] {
        assert!((double.multiplier(p) - expected).abs() < 0.005, "p = {p}: {}", double.multiplier(p));
    }
    let timeouts = f64::sqrt(0.75 * 1.5 / (1.0 - 0.75 * 0.75));
    assert!((double.multiplier(1.0) / timeouts - 1.0).abs() < 0.01, "{}", double.multiplier(1.0));
}

#[test]
fn parameters_out_of_the_domain_are_refused_by_name() {
    for (alpha, beta, expected) in [
        (0.0, 0.5, "alpha must be above 0, not 0"),
        (f64::NAN, 0.5, "alpha must be above 0, not NaN"),
        (1.0, 0.0, "beta must be above 0 and below 1, not 0"),
        (1.0, 1.0, "beta must be above 0 and below 1, not 1"),
    ] {
        let error = Greediness::new(alpha, beta).expect_err(expected);
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

/// Sends for 60 s whenever allowed over a path of 100 ms that loses every 100th packet, and sets `change` halfway;
/// returns the packets sent from 20 s to 30 s, and in the last ten seconds.
fn run(start: Greediness, change: Greediness) -> [u64; 2] {
    const RTT: Span = Span::from_millis(100);
    let (half, end) = (Time::ZERO + Span::from_secs(30), Time::ZERO + Span::from_secs(60));
    let config = sender::Config::new(Bytes(1_200), Rate::from_mbps(10));
    let mut law = OneSided::with_equation(Time::ZERO, config, start).expect("in range");
    let (mut flight, mut number, mut sent) = (std::collections::VecDeque::new(), 0, [0, 0]);
    loop {
        let leaves = law.next_send(0).expect("always");
        if leaves > half {
            law.set_equation(change);
        }
        while let Some(&(number, at)) = flight.front().filter(|(_, at)| *at + RTT <= leaves) {
            flight.pop_front();
            law.on_delivered(at + RTT, number, at, Bytes(1_200));
            law.on_report(&Report {
                now: at + RTT,
                delivered: 1,
                lost: 0,
                in_flight: 1,
                newest: Some(at),
                newest_lost: None,
                rtt: Some(RTT),
                srtt: Some(RTT),
                limited: true,
            });
        }
        // An acknowledgement may have changed the time.
        let leaves = leaves.max(law.next_send(0).expect("always"));
        if leaves > end {
            return sent;
        }
        law.on_sent(leaves, Bytes(1_200));
        for (sent, end) in sent.iter_mut().zip([half, end]) {
            *sent += u64::from(leaves <= end && end.since(leaves) < Span::from_secs(10));
        }
        if number % 100 != 99 {
            flight.push_back((number, leaves));
        }
        number += 1;
    }
}

#[test]
fn changed_parameters_change_the_rate_of_a_running_sender() {
    let [before, after] = run(greediness(4.0, 0.5), greediness(0.25, 0.5));
    let expected = |alpha| greediness(alpha, 0.5).rate(Bytes(1_200), Seconds(0.1), 0.01) * 10.0 / 1_200.0;
    for (found, alpha) in [(before, 4.0), (after, 0.25)] {
        assert!(
            (found as f64 / expected(alpha) - 1.0).abs() < 0.1,
            "alpha = {alpha}: {found}, not {}",
            expected(alpha)
        );
    }
}

#[test]
fn first_loss_interval_inverts_the_equation_of_the_same_parameters() {
    // 100 packets at 10 ms arrive, the 101st is lost. X_recv is 100 000 bytes/s; 1/p of it differs by α: with small p,
    // p = 3α s² / (2 R² X²) at β = 1/2 (§6.3.1 of RFC 5348).
    let p = |alpha: f64| {
        let config = crate::law::rate::tfrc::receiver::Config::new(Bytes(1_000));
        let mut receiver = crate::law::rate::tfrc::Receiver::with_equation(config, greediness(alpha, 0.5));
        let mut last = 0.0;
        for sequence in (0..105).filter(|sequence| *sequence != 100) {
            let now = Time::ZERO + Span::from_millis(10 * sequence);
            let data = Data { sequence, sent: now, rtt: Some(Span::from_millis(100)) };
            receiver.handle_data(now, &data, Bytes(1_000));
            last = receiver.poll_feedback(now).map_or(last, |feedback| feedback.p);
        }
        last
    };
    let inverse = |alpha| greediness(alpha, 0.5).loss_event_rate(Bytes(1_000), Seconds(0.1), 100_000.0);
    for alpha in [0.25, 1.0, 4.0] {
        assert!((p(alpha) / inverse(alpha) - 1.0).abs() < 0.01, "{} is not {}", p(alpha), inverse(alpha));
    }
}

proptest! {
    #[test]
    fn equation_with_the_parameters_of_a_tcp_is_that_of_tfrc(log_p in -9.0..0.0f64, rtt in 0.0001..10.0f64, s in 1u64..10_000) {
        let p = libm::exp10(log_p);
        let (x, tfrc) = (
            Greediness::default().rate(Bytes(s), Seconds(rtt), p),
            TcpThroughput::default().rate(Bytes(s), Seconds(rtt), p),
        );
        prop_assert!((x / tfrc - 1.0).abs() < 1e-12, "{} is not {}", x, tfrc);
    }

    #[test]
    fn rate_grows_with_the_square_root_of_alpha(log_p in -9.0..0.0f64, alpha in 0.01..16.0f64, beta in 0.01..0.99f64) {
        let p = libm::exp10(log_p);
        let ratio = greediness(alpha, beta).multiplier(p) / greediness(1.0, beta).multiplier(p);
        prop_assert!((ratio / f64::sqrt(alpha) - 1.0).abs() < 1e-12, "{}", ratio);
    }

    #[test]
    fn rate_grows_with_beta(log_p in -9.0..0.0f64, low in 0.001..0.999f64, high in 0.001..0.999f64) {
        prop_assume!(low + 1e-6 < high);
        let p = libm::exp10(log_p);
        prop_assert!(greediness(1.0, low).multiplier(p) < greediness(1.0, high).multiplier(p));
    }

    #[test]
    fn inverse_recovers_the_loss_event_rate(log_p in -9.0..0.0f64, alpha in 0.01..16.0f64, beta in 0.05..0.95f64) {
        let (p, greediness) = (libm::exp10(log_p), greediness(alpha, beta));
        let x = greediness.rate(Bytes(1_024), Seconds(0.05), p);
        let back = greediness.loss_event_rate(Bytes(1_024), Seconds(0.05), x);
        prop_assert!((back / p - 1.0).abs() < 1e-12, "{} is not {}", back, p);
    }
}
