use super::super::newreno::NewReno;
use super::super::path::{Path, shown};
use super::*;

/// A flow in avoidance that has just lost with `window` segments in flight, and recovered.
fn after_a_loss(window: u32) -> Path<Cubic> {
    let mut path = Path::new(Cubic::new(Start { iw: window, ssthresh: f64::from(window) }));
    path.lose();
    path
}

fn run_until(path: &mut Path<Cubic>, seconds: f64) {
    while path.now.as_secs_f64() < seconds {
        path.ack();
    }
}

#[test]
fn a_loss_leaves_seven_tenths_and_the_window_is_back_after_k_seconds() {
    for window in [1000_u32, 4000] {
        let mut path = after_a_loss(window);
        let w_max = f64::from(window);
        assert!((path.law.cwnd() - 0.7 * w_max).abs() < 1e-9);
        // K = cbrt(W_max (1 - beta) / C), Figure 2 with cwnd_epoch = beta W_max.
        let k = libm::cbrt(w_max * 0.3 / 0.4);
        assert!((shown(&path.law, "k") - k).abs() < 1e-9);
        for part in [0.25, 0.5, 0.75, 1.0, 1.25] {
            run_until(&mut path, part * k);
            let w_cubic = w_max - 0.4 * libm::pow((1.0 - part) * k, 3.0);
            // Above the plateau Reno's growth by one per round may lead.
            let least = w_cubic.max(if part > 1.0 { shown(&path.law, "w_est") } else { 0.0 });
            assert!((path.law.cwnd() / least - 1.0).abs() < 0.005, "{part} K: {}, not {least}", path.law.cwnd());
        }
    }
}

/// The mean window of a flow that loses one segment in `segments`, after a first loss with `window` in flight.
fn settled(window: f64, segments: u32) -> f64 {
    let start = Start { iw: window as u32, ssthresh: 2.0 };
    let mut path = Path::new(Cubic::new(start).without_fast_convergence());
    path.lose();
    path.mean_window(segments, 10)
}

#[test]
fn mean_window_equals_table_1_of_rfc_9438_where_reno_does_not_lead() {
    // RFC 9438 Table 1, C = 0.4, RTT 0.1 s: 187 and 1054; W_max of that state is 4 / (3 + beta) of the mean.
    for (segments, mean) in [(10_000, 187.0), (100_000, 1054.0)] {
        let w_max = mean * 4.0 / 3.7;
        let found = settled(w_max, segments);
        assert!((found / mean - 1.0).abs() < 0.02, "p = 1/{segments}: {found}, not {mean}");
        // The plateau slows convergence down, but the window converges from either side.
        let (low, high) = (settled(0.8 * w_max, segments), settled(1.2 * w_max, segments));
        assert!(0.81 * mean < low && low < found && found < high && high < 1.19 * mean, "{low} {found} {high}");
    }
}

#[test]
fn mean_window_equals_renos_with_short_round_trips() {
    // RFC 9438 Table 2, C = 0.4, RTT 0.01 s: 38, 120 and 379, as Reno's.
    for segments in [1_000, 10_000, 100_000] {
        let start = Start { iw: 10, ssthresh: 10.0 };
        let mut cubic = Path::new(Cubic::new(start).without_fast_convergence());
        let mut reno = Path::new(NewReno::new(start));
        (cubic.rtt, reno.rtt) = (Span::from_millis(10), Span::from_millis(10));
        let (cubic, reno) = (cubic.mean_window(segments, 20), reno.mean_window(segments, 20));
        assert!((cubic / reno - 1.0).abs() < 0.05, "p = 1/{segments}: {cubic} beside {reno}");
    }
}

#[test]
fn linux_drops_fractions_at_a_loss_and_has_its_own_beta() {
    // cwnd * 717 / 1024 in integers, independent of FlightSize; never below two.
    for (window, left) in [(90_u32, 63.0), (10, 7.0), (9, 6.0), (8, 5.0), (3, 2.0), (2, 2.0)] {
        let mut law = Cubic::new(Start { iw: window, ssthresh: 2.0 }).like_linux();
        law.cwnd += 0.9;
        law.on_loss(Time::ZERO, 1);
        assert_eq!((law.cwnd(), shown(&law, "cwnd_prior")), (left, f64::from(window)));
    }
}

#[test]
fn linux_keeps_alpha_where_the_rfc_increases_it_to_one() {
    // Short round trips, where Reno leads: W_est is 0.7 W after a loss, and W after 0.3 W / alpha rounds.
    let grown = |law: Cubic| {
        let mut path = Path::new(law);
        path.rtt = Span::from_millis(1);
        path.lose();
        let rounds = |path: &mut Path<Cubic>, count| (0..count).for_each(|_| path.round());
        rounds(&mut path, (0.3 * 100.0 / ALPHA) as u32 + 2);
        let before = path.law.cwnd();
        assert!((before / 100.0 - 1.0).abs() < 0.02, "{before}");
        rounds(&mut path, 60);
        path.law.cwnd() - before
    };
    let rfc = Cubic::new(Start { iw: 100, ssthresh: 100.0 });
    let (linux, rfc) = (grown(rfc.clone().like_linux()), grown(rfc));
    // beta_scale of tcp_cubic.c makes alpha 8/15.
    assert!((linux / 60.0 - 8.0 / 15.0).abs() < 0.03, "{linux}");
    assert!((rfc / 60.0 - 1.0).abs() < 0.05, "{rfc}");
}

#[test]
fn fast_convergence_reduces_w_max_after_a_loss_below_it() {
    let mut path = after_a_loss(1000);
    assert_eq!(shown(&path.law, "w_max"), 1000.0);
    path.lose();
    // §4.7: cwnd (1 + beta) / 2 with cwnd = 700.
    assert!((shown(&path.law, "w_max") - 595.0).abs() < 1e-9);
    assert!((shown(&path.law, "cwnd_prior") - 700.0).abs() < 1e-9);
    let mut alone = Path::new(Cubic::new(Start { iw: 1000, ssthresh: 2.0 }).without_fast_convergence());
    alone.lose();
    alone.lose();
    assert!((shown(&alone.law, "w_max") - 700.0).abs() < 1e-9);
}

#[test]
fn growth_far_beyond_the_plateau_is_at_most_half_a_window() {
    let mut path = after_a_loss(10);
    path.rtt = Span::from_secs(60);
    for _ in 0..5 {
        let before = path.law.cwnd();
        let flight = path.flight();
        path.round();
        // An acknowledgement adds at most half a segment (§4.2), and the window is `flight` of them and a fraction.
        assert!(path.law.cwnd() > before && path.law.cwnd() <= before + 0.5 * f64::from(flight) + 1e-9);
    }
    assert!(path.law.cwnd() > 10.0);
}

#[test]
fn acknowledgements_never_shrink_the_window() {
    let mut path = after_a_loss(300);
    let mut before = path.law.cwnd();
    while path.now.as_secs_f64() < 30.0 {
        path.ack();
        assert!(path.law.cwnd() >= before);
        before = path.law.cwnd();
    }
}

#[test]
fn application_pause_is_excluded_from_t() {
    let (mut steady, mut paused) = (after_a_loss(1000), after_a_loss(1000));
    run_until(&mut steady, 3.0);
    run_until(&mut paused, 3.0);
    paused.window_limited = false;
    paused.ack();
    let before = paused.law.cwnd();
    paused.now += Span::from_secs(60);
    paused.ack();
    assert_eq!(paused.law.cwnd(), before);
    paused.window_limited = true;
    for path in [&mut steady, &mut paused] {
        (0..5_000).for_each(|_| path.ack());
    }
    assert!((steady.law.cwnd() / paused.law.cwnd() - 1.0).abs() < 1e-3);
}

#[test]
fn plateau_after_a_timeout_is_the_end_of_slow_start() {
    let mut path = Path::new(Cubic::new(Start { iw: 1000, ssthresh: 1000.0 }));
    path.law.on_timeout(Time::ZERO, 1000, false);
    assert!((path.law.ssthresh() - 700.0).abs() < 1e-9);
    while path.law.cwnd() < 700.0 {
        path.ack();
    }
    path.ack();
    // §4.8: K = 0, W_max = W_est = cwnd at the beginning of the stage.
    assert_eq!((shown(&path.law, "k"), shown(&path.law, "w_max")), (0.0, 700.0));
    assert!((shown(&path.law, "w_est") - (700.0 + ALPHA / 700.0)).abs() < 1e-9);
}
