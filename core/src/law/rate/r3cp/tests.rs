//! The equations against each other, Table 1 cell by cell, and the loop over a fluid path.

use super::*;
use crate::law::predict;
use crate::law::registry::Parameters as _;
use proptest::prelude::*;

const MU: f64 = PAPERS_MU;
/// Half a second of the video.
const P_L: f64 = MU / 2.0;

fn law(change: impl FnOnce(&mut Parameters)) -> R3cp {
    let mut parameters = Parameters::default();
    change(&mut parameters);
    R3cp::new(parameters).expect("in range")
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} is not {expected}");
}

/// A path without loss and with a constant round trip, over which a video is a fluid.
struct Fluid {
    d: f64,
    /// q^v: what was skipped is in it from its period on.
    queue: f64,
    rho: f64,
    zeta: f64,
}

impl Fluid {
    fn point(&self) -> Point {
        let Fluid { d, queue, rho, zeta } = *self;
        Point { q: queue, zeta_in_q: 0.0, zeta_next: zeta, rho_prev: rho, p: 0.0, d, mu: MU, p_l: P_L }
    }

    /// A period: what was sent at the last rate arrives, what is played leaves.
    fn pass(&mut self, lambda: f64, rho: f64) {
        self.queue += (self.rho - MU) * self.d + self.zeta;
        self.zeta = skipped(lambda, rho, self.d, 0.0);
        self.rho = rho;
    }

    /// A period under `law`.
    fn follow(&mut self, law: &R3cp) -> Decision {
        let path = Path { p: 0.0, delay: Seconds(0.0) };
        let decision = law.decide(&self.point(), path, path, self.rho);
        self.pass(decision.lambda, decision.rho);
        decision
    }
}

proptest! {
    #[test]
    fn desired_rate_solves_equations_9_and_11_to_13(
        q in 0.0f64..1000.0, zeta_in_q in 0.0f64..50.0, zeta_next in 0.0f64..50.0, rho_prev in 0.0f64..200.0,
        p in 0.0f64..0.95, d in 0.01f64..2.0, mu in 1.0f64..500.0, p_l in 0.0f64..500.0,
    ) {
        let point = Point { q, zeta_in_q, zeta_next, rho_prev, p, d, mu, p_l };
        let (reached, target) = (point.queue_after(point.desired_rate()), point.target());
        prop_assert!((reached - target).abs() < 1e-9 * (target + q + rho_prev), "{} is not {}", reached, target);
        // Without a store, filled within a period, the rates are the same; with one, the queue meets the greater target.
        let steady = point.rate_to_store(0.0, d);
        prop_assert!((steady - point.desired_rate()).abs() < 1e-9 * (steady.abs() + (target + q) / d + rho_prev));
        let reached = point.queue_after(point.rate_to_store(2.0 * mu, d));
        prop_assert!((reached - target - 2.0 * mu).abs() < 1e-9 * (target + q + rho_prev + 2.0 * mu));
    }

    #[test]
    fn requested_rate_stays_between_its_bounds_and_above_the_desired_one_only_by_the_least(
        states in (0usize..3, 0usize..3), lambda in -50.0f64..200.0, rho_prev in 0.0f64..200.0, throughput in 0.0f64..200.0,
        is_text: bool,
    ) {
        let law = law(|p| p.base = if is_text { Base::Throughput } else { Base::Requested });
        let state = |nth: usize| [State::Unloaded, State::Loaded, State::Congested][nth];
        let (current, forecast) = (state(states.0), state(states.1));
        let rate = law.requested_rate(&Request { current, forecast, lambda, rho_prev, throughput, bank_open: false });
        let Parameters { rho_min, lambda_max, .. } = *law.parameters();
        prop_assert!((rho_min..=lambda_max).contains(&rate) && rate <= lambda.max(rho_min));
    }
}

#[test]
fn desired_rate_of_a_worked_point() {
    // (24 + 3 x 50 x 0.2 - (30 + 1) - 2) / (0.9 x 0.2) - 40 = 21 / 0.18 - 40.
    let point = Point { q: 30.0, zeta_in_q: 1.0, zeta_next: 2.0, rho_prev: 40.0, p: 0.1, d: 0.2, mu: 50.0, p_l: 24.0 };
    close(point.desired_rate(), 21.0 / 0.18 - 40.0);
    assert_eq!((point.target(), point.virtual_queue()), (34.0, 31.0));
    close(point.next_queue(), 31.0 - 10.0 + 7.2 + 2.0);
    // Eq. (10): zeta = (60 - 40) 0.2 + 3.
    assert_eq!((skipped(60.0, 40.0, 0.2, 3.0), skipped(40.0, 40.0, 0.2, 3.0)), (7.0, 0.0));
}

#[test]
fn queue_meets_its_target_two_points_after_a_disturbance() {
    for (d, disturbance) in [(0.06, 5.0), (0.1, -3.0), (0.25, 10.0)] {
        let target = MU * d + P_L;
        let mut path = Fluid { d, queue: target + disturbance, rho: MU, zeta: 0.0 };
        let mut rates = Vec::new();
        for _ in 0..4 {
            let lambda = path.point().desired_rate();
            rates.push(lambda);
            path.pass(lambda, lambda);
            if rates.len() >= 2 {
                close(path.queue, target);
            }
        }
        // The first rate makes up for all of it; the next ones are mu.
        close(rates[0], MU - disturbance / d);
        rates[1..].iter().for_each(|&rate| close(rate, MU));
    }
}

#[test]
fn loss_that_is_foreseen_is_made_up_for() {
    // At rest with loss p: rho (1 - p) = mu, and the queue is at its target.
    let (p, d) = (0.2, 0.1);
    let rho_prev = MU / (1.0 - p);
    let point = Point { q: MU * d + P_L, zeta_in_q: 0.0, zeta_next: 0.0, rho_prev, p, d, mu: MU, p_l: P_L };
    close(point.desired_rate(), rho_prev);
}

#[test]
fn table_1_has_its_nine_cells() {
    use State::{Congested, Loaded, Unloaded};
    let law = law(|p| (p.inc_big, p.inc_small, p.lambda_max, p.rho_min) = (6.0, 2.0, 100.0, 10.0));
    for (current, forecast, open, bounded) in [
        // rho_prev = 40, lambda = 45: with the bank open the top is lambda_max.
        (Unloaded, Unloaded, 46.0, 45.0),
        (Unloaded, Loaded, 42.0, 42.0),
        (Unloaded, Congested, 42.0, 42.0),
        (Loaded, Unloaded, 40.0, 40.0),
        (Loaded, Loaded, 40.0, 40.0),
        (Loaded, Congested, 40.0, 40.0),
        (Congested, Unloaded, 35.0, 35.0),
        (Congested, Loaded, 35.0, 35.0),
        (Congested, Congested, 20.0, 20.0),
    ] {
        for (bank_open, expected) in [(true, open), (false, bounded)] {
            let request = Request { current, forecast, lambda: 45.0, rho_prev: 40.0, throughput: 38.0, bank_open };
            assert_eq!(law.requested_rate(&request), expected, "{current:?}, {forecast:?}, {bank_open}");
            // The desired rate bounds every cell but those whose top is open.
            let scarce = law.requested_rate(&Request { lambda: 15.0, ..request });
            let top = bank_open && current == Unloaded && forecast != Congested;
            assert_eq!(scarce, if top { expected } else { 15.0 });
            assert_eq!(law.requested_rate(&Request { lambda: -3.0, ..request }).min(10.0), 10.0);
        }
    }
    let request = Request {
        current: Unloaded,
        forecast: Unloaded,
        lambda: 500.0,
        rho_prev: 98.0,
        throughput: 98.0,
        bank_open: true,
    };
    assert_eq!(law.requested_rate(&request), 100.0);
}

#[test]
fn text_differs_from_the_table_in_the_congested_cells() {
    use State::{Congested, Loaded, Unloaded};
    let text = law(|p| (p.base, p.inc_small, p.rho_min) = (Base::Throughput, 2.0, 1.0));
    for (current, forecast, expected) in [
        (Unloaded, Loaded, 42.0),
        (Unloaded, Congested, 24.0),
        (Loaded, Congested, 40.0),
        (Congested, Loaded, 21.0),
        (Congested, Congested, 12.0),
    ] {
        let request = Request { current, forecast, lambda: 60.0, rho_prev: 40.0, throughput: 24.0, bank_open: false };
        assert_eq!(text.requested_rate(&request), expected, "{current:?}, {forecast:?}");
    }
}

#[test]
fn path_is_loaded_between_the_thresholds_and_at_them() {
    for (p, state) in [
        (0.0, State::Unloaded),
        (0.0199, State::Unloaded),
        (0.02, State::Loaded),
        (0.04, State::Loaded),
        (0.0401, State::Congested),
        (1.0, State::Congested),
    ] {
        assert_eq!(State::of(p, 0.02, 0.04), state, "{p}");
        // Without a gate the delay plays no part.
        assert_eq!(law(|_| ()).state(Path { p, delay: Seconds(0.0) }), state, "{p}");
    }
}

#[test]
fn gate_takes_loss_for_congestion_with_delay_or_above_30_percent() {
    let law = law(|p| p.set("gate", "30").expect("milliseconds"));
    for (p, delay, state) in [
        (0.05, 0.0, State::Unloaded),
        (0.05, 0.0299, State::Unloaded),
        (0.05, 0.0301, State::Congested),
        (0.03, 0.0301, State::Loaded),
        (0.3, 0.0, State::Unloaded),
        (0.31, 0.0, State::Congested),
    ] {
        assert_eq!(law.state(Path { p, delay: Seconds(delay) }), state, "{p}, {delay}");
    }
}

#[test]
fn rate_on_a_free_path_settles_at_that_of_the_video_with_any_store() {
    for store in [0.0, 2.0] {
        let law = law(|p| p.store = Seconds(store));
        for (d, queue) in [(0.1, 0.0), (0.1, 80.0), (0.25, 0.0), (0.25, 30.0)] {
            let mut path = Fluid { d, queue, rho: MU, zeta: 0.0 };
            let mut most: f64 = 0.0;
            for _ in 0..400 {
                most = most.max(path.follow(&law).rho);
            }
            // The paper's 378 kb/s, where Table 1 as printed would take 800.
            close(path.rho, MU);
            close(path.queue, MU * d + P_L + store * MU);
            assert!(most <= law.parameters().lambda_max);
        }
    }
}

#[test]
fn store_fills_without_skipping() {
    let law = law(|p| p.store = Seconds(2.0));
    // The bank has the paper's target and no store yet: the rate rises, and nothing is skipped for that.
    let mut path = Fluid { d: 0.1, queue: MU * 0.1 + P_L, rho: MU, zeta: 0.0 };
    let mut rose = false;
    for _ in 0..400 {
        let decision = path.follow(&law);
        assert_eq!(path.zeta, 0.0);
        assert!(decision.rho >= decision.lambda);
        rose |= decision.rho > MU + 1.0;
    }
    assert!(rose);
}

#[test]
fn congestion_without_store_is_answered_by_skipping() {
    let law = law(|_| ());
    let d = 0.1;
    let path = Fluid { d, queue: MU * d + P_L, rho: MU, zeta: 0.0 };
    let lossy = Path { p: 0.2, delay: Seconds(0.1) };
    let decision = law.decide(&path.point(), lossy, lossy, MU);
    assert_eq!((decision.current, decision.forecast), (State::Congested, State::Congested));
    // DEC halves the rate while the queue, at its target, desires mu.
    close(decision.rho, MU / 2.0);
    close(decision.lambda, MU);
    close(skipped(decision.lambda, decision.rho, d, 0.0), MU / 2.0 * d);
}

#[test]
fn constants_scale_with_the_video() {
    // The paper's packets are of 378 000 / 46.87 bits: 6.2, 1.55 and 99.2 of them are 50, 12.5 and 800 kb/s.
    let Parameters { inc_big, inc_small, lambda_max, rho_min, .. } = Parameters::default();
    for (found, expected) in [(inc_big, 6.2), (inc_small, 1.55), (lambda_max, 99.2), (rho_min, 11.7)] {
        assert!((found - expected).abs() < 0.02, "{found} is not {expected}");
    }
    let double = Parameters::of_video(2.0 * MU);
    close(double.inc_big, 2.0 * inc_big);
    close(double.lambda_max, 2.0 * lambda_max);
    assert_eq!((double.p_low, double.dec_big), (0.02, 0.5));
}

#[test]
fn parameters_are_set_by_name_and_checked() {
    let mut parameters = Parameters::default();
    for (name, value) in [("p_low", ".05"), ("p_high", ".1"), ("store_s", "2"), ("gate", "30"), ("base", "throughput")]
    {
        parameters.set(name, value).expect(name);
    }
    let expected = Parameters {
        p_low: 0.05,
        p_high: 0.1,
        store: Seconds(2.0),
        gate: Seconds(0.03),
        base: Base::Throughput,
        ..Parameters::default()
    };
    assert_eq!((parameters, R3cp::new(parameters).is_ok()), (expected, true));
    for name in Parameters::NAMES {
        let mut wrong = Parameters::default();
        let refused = wrong.set(name, "-1").and_then(|()| R3cp::new(wrong).map(|_| ()));
        assert!(refused.is_err(), "{name}");
    }
    for wrong in [
        Parameters { p_low: 0.2, p_high: 0.1, ..Parameters::default() },
        Parameters { rho_min: 20.0, lambda_max: 10.0, ..Parameters::default() },
        Parameters { dec_big: 1.1, ..Parameters::default() },
        Parameters { inc_big: f64::INFINITY, ..Parameters::default() },
    ] {
        assert!(R3cp::new(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!("loaded".parse(), Ok(State::Loaded));
    assert!("busy".parse::<State>().is_err());
}

#[test]
fn forecast_is_bounded_by_what_was_measured() {
    let mut forecast = Forecast::new(&predict::Choice::default()).expect("the paper's filter");
    assert_eq!((forecast.loss(), forecast.rtt(), forecast.period()), (0.0, None, None));
    forecast.measure(None, Some(Seconds(0.06)));
    // The same as last time; a period is at least 0.1 s.
    assert_eq!((forecast.rtt(), forecast.period()), (Some(Seconds(0.06)), Some(LEAST_PERIOD)));
    // Growth by a constant factor is foreseen without bound: 0.06 x 3^n; the bound is twice the greatest.
    for n in 1..6 {
        forecast.measure(Some(1.0), Some(Seconds(0.06 * f64::from(3u32.pow(n)))));
        let (rtt, greatest) = (forecast.rtt().expect("measured").0, 0.06 * f64::from(3u32.pow(n)));
        assert!(rtt <= 2.0 * greatest && rtt >= 0.03, "{rtt}");
    }
    assert_eq!(forecast.loss(), 0.95);
    // Ten more round trips are all that count.
    for _ in 0..10 {
        forecast.measure(Some(0.0), Some(Seconds(0.2)));
        assert!(forecast.loss() >= 0.0);
    }
    assert!((0.1..=0.4).contains(&forecast.rtt().expect("measured").0));
    assert_eq!(forecast.period(), forecast.rtt());
}
