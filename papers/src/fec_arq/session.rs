//! The session itself on a packet network: the stream of a tunnel in the lab, with the workload of the paper.
//!
//! The slot model gives a law one packet every T, and the outcome of each packet one round trip later. Here the stream
//! that tunnels run determines both: it paces packets with their headers, estimates the loss rate, and declares losses
//! by its own timers. A delay of the paper is counted to the acknowledgement, so half a round trip is added to the time
//! at which the receiver has read a packet.

use thalweg_core::law::schedule::{Choice, adaptive, cost_based, opportunistic};
use thalweg_core::rng::Rng;
use thalweg_core::session::tunnel::Config;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::end::bytes::Writes;
use thalweg_lab::end::tunnel::{Cipher, Parameters};
use thalweg_lab::experiment::{AccessRange, Ended, Experiment, Group, Kind, Run};
use thalweg_lab::network::{Direction, Hop};
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::wire::Wire;

use super::case::{Case, Path};
use super::contender::Strategy;
use super::outcome::{Beside, Outcome, Sent};
use super::ticks::{span, ticks};
use crate::work::described;

/// The shared link, which is also a built-in scenario.
const SHARED: (&str, &str) = ("fec-arq-shared.toml", include_str!("../../../scenarios/papers/fec-arq-shared.toml"));

/// V: the bytes of a packet.
pub(super) const PACKET: usize = 1_000;
/// R: the rate of the packets without headers.
pub(super) const RATE: Rate = Rate::from_bps(400_000);
/// The time until the path is measured.
const WARM_UP: Span = Span::from_secs(5);

/// The schedule of a strategy; none for the bound, which no sender can have.
pub(super) fn schedule(strategy: Strategy) -> Option<Choice> {
    Some(match strategy {
        Strategy::Arq => Choice::Arq(()),
        Strategy::Opportunistic => Choice::Opportunistic(opportunistic::Parameters::default()),
        Strategy::Cost => Choice::CostBased(cost_based::Parameters::default()),
        Strategy::Ours => Choice::Adaptive(adaptive::Parameters::default()),
        Strategy::Bound => return None,
    })
}

/// Runs so many bursts of a case after the warm-up.
pub(super) fn run(case: &Case, strategy: Strategy, seed: u64, bursts: u64) -> Result<Outcome, String> {
    let schedule = schedule(strategy).ok_or("the bound is no session")?;
    match case.path {
        Path::Random { percent, rtt_ms } => {
            let rtt = Span::from_millis(rtt_ms);
            let experiment = alone(case, schedule, (f64::from(percent) / 100.0, rtt), seed, bursts);
            outcome(&experiment, seed, rtt)
        }
        Path::Shared { percent, rtt_ms } => {
            let duration = WARM_UP + span(case.gap()) * bursts;
            let settings = [
                ("scheme", schedule.to_string()),
                ("loss", (f64::from(percent) / 100.0).to_string()),
                ("duration_s", duration.as_secs_f64().to_string()),
                ("warmup_s", WARM_UP.as_secs_f64().to_string()),
            ];
            let settings = settings.map(|(name, value)| (name.to_owned(), value));
            let described = described(SHARED, &settings).and_then(|blueprint| blueprint.experiment(seed));
            outcome(&described.map_err(|error| error.to_string())?, seed, Span::from_millis(rtt_ms))
        }
        Path::Recorded(_) => Err("recordings are for the slot model".to_owned()),
    }
}

/// One stream at R over a path with loss and a delay.
fn alone(case: &Case, schedule: Choice, (loss, rtt): (f64, Span), seed: u64, bursts: u64) -> Experiment {
    let mut config = Config { schedule, max_overhead: f64::from(case.u_max) / 1e3, ..Config::default() };
    // The longest original is a packet of the paper. The stream gathers one packet before its window.
    config.stream.frame -= config.stream.longest() - PACKET;
    config.stream.window = case.buffer - 1;
    let wire = (config.stream.frame + config.stream.overhead) as u64;
    config.rate = format!("fixed:{}bit", RATE.as_bps() * wire / PACKET as u64).parse().unwrap_or_default();
    let (every, burst) = (span(case.gap()), Bytes((case.burst * PACKET) as u64));
    let writes = Writes::Bursts { burst, every, write: PACKET, waits: false };
    let delay = || Wire::new(rtt / 2).into();
    let lossy = Loss::independent(loss, Rng::new(seed).fork("loss")).into();
    let none = Span::ZERO..Span::ZERO;
    let group = Group {
        name: "session".to_owned(),
        kind: Kind::Tunnel(Parameters { config, cipher: Cipher::None, writes }),
        count: 1,
        start: none.clone(),
        every: Span::ZERO,
        access: AccessRange { rate: Rate::from_mbps(1_000_000), near: none.clone(), far: none },
        hops: 0..1,
        direction: Direction::Forward,
        stations: 0..0,
        need: None,
    };
    Experiment {
        hops: vec![Hop::Lanes { forward: vec![lossy, delay()], backward: vec![delay()] }],
        groups: vec![group],
        share: None,
        duration: WARM_UP + every * bursts,
        warmup: WARM_UP,
    }
}

/// Runs an experiment whose first flow is the session.
fn outcome(experiment: &Experiment, seed: u64, rtt: Span) -> Result<Outcome, String> {
    let run = Run::new(experiment, seed).map_err(|error| error.to_string())?;
    let run = run.finish().map_err(|leak| leak.to_string())?;
    let Some(Ended::Tunnel { sent, innovative, useless, delays, .. }) = run.flows.first().map(|flow| &flow.ended)
    else {
        return Err("the first flow is no tunnel".to_owned());
    };
    let mut outcome = Outcome {
        sent: Sent { new: sent.new, repair: sent.repair, resent: sent.resent, idle: sent.idle },
        received: innovative + useless,
        useless: *useless,
        beside: Some(Beside {
            seconds: run.window.as_secs_f64(),
            tcp_mbps: Some(run.value("tcp_goodput_mbps")).filter(|rate| rate.is_finite()),
            residual_loss: Some(run.value("residual_loss")).filter(|loss| loss.is_finite()),
        }),
        ..Outcome::default()
    };
    for (delay, count) in delays.counts() {
        let delay = ticks(delay + rtt / 2);
        (0..count).for_each(|_| outcome.delivered(delay));
    }
    Ok(outcome)
}

/// The rate of what the application delivered, in kb/s.
pub(super) fn application_kbps(outcome: &Outcome) -> f64 {
    let seconds = outcome.beside.map_or(f64::NAN, |beside| beside.seconds);
    outcome.count() as f64 * PACKET as f64 * 8.0 / 1e3 / seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_loss_bursts_wait_for_the_packets_before_them() {
        // At 300 kb/s a burst is over before the next. The last of ten packets leaves nine packet times after the first.
        let case = Case::row(300, 0, 150);
        let outcome = run(&case, Strategy::Ours, 1, 50).expect("a run");
        let (first, last) = (outcome.percentile(0.1), outcome.percentile(1.0));
        assert!((first - 0.15).abs() < 0.02, "{first}");
        assert!((last - (0.15 + 9.0 * 0.02)).abs() < 0.02, "{last}");
        assert!((application_kbps(&outcome) - 300.0).abs() < 8.0, "{}", application_kbps(&outcome));
    }

    #[test]
    fn a_source_above_the_rate_is_cut_to_it_by_the_window() {
        let outcome = run(&Case::row(500, 0, 150), Strategy::Arq, 1, 100).expect("a run");
        let kbps = application_kbps(&outcome);
        assert!((340.0..=405.0).contains(&kbps), "{kbps}");
        assert_eq!(outcome.sent.resent, 0);
    }

    #[test]
    fn repair_costs_packets_and_saves_delay() {
        let case = Case::row(300, 15, 150);
        let of = |strategy| run(&case, strategy, 3, 300).expect("a run");
        let [arq, ours] = [Strategy::Arq, Strategy::Ours].map(of);
        assert!(ours.percentile(0.95) < arq.percentile(0.95), "{} {}", ours.percentile(0.95), arq.percentile(0.95));
        assert!(ours.overhead() > arq.overhead() && arq.sent.repair == 0);
    }

    #[test]
    fn beside_cubic_and_geneva_all_three_get_their_data_through() {
        let outcome = run(&Case::SHARED, Strategy::Ours, 1, 60).expect("a run");
        let beside = outcome.beside.expect("two flows beside it");
        assert!(beside.tcp_mbps.is_some_and(|rate| rate > 0.5), "{beside:?}");
        assert!(beside.residual_loss.is_some_and(|loss| loss < 0.01), "{beside:?}");
        // 300 kb/s, less what is in flight at both ends of the window.
        assert!((application_kbps(&outcome) - 300.0).abs() < 30.0, "{}", application_kbps(&outcome));
    }
}
