//! Late packets are not lost packets: reordering affects neither the loss estimate nor the repair that follows it.

use thalweg_core::law::rate::fixed::Fixed;
use thalweg_core::law::schedule::adaptive::{Adaptive, Parameters};
use thalweg_core::rng::Rng;
use thalweg_core::session::stream::Config;
use thalweg_core::units::Rate;
use thalweg_lab::node::jitter::{Distribution, Jitter};
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::reorder::Reorder;
use thalweg_lab::path::Path;

use crate::lossless::story::{Story, bytes, fixed, ms, wire};

const EVERY: u64 = 267;
const BURSTS: u64 = 300;

type Ours = Story<Adaptive, Fixed>;

fn story(forward: Path, mbps: u64) -> Ours {
    let law = || (Adaptive::new(Parameters::default()).expect("in range"), Fixed::new(Rate::from_mbps(mbps), ms(0)));
    Story::new(Config::default(), law, forward, wire(ms(20)))
}

/// Bursts of 10 x 1000 bytes every 267 ms, within which all late packets have arrived; both loss rates after each.
fn bursts(forward: Path) -> (Ours, Vec<[f64; 2]>) {
    let mut story = story(forward, 10);
    let rates = (1..=BURSTS).map(|nth| {
        story.say(&bytes(10_000, nth), nth == BURSTS).until(nth * EVERY);
        let measured = story.near.sender().measured();
        [measured.eps, measured.gilbert_eps].map(|eps| eps.expect("ten packets are enough"))
    });
    let rates = rates.collect();
    assert_eq!(story.read, story.script);
    (story, rates)
}

/// A path on which a share of the packets arrives two round trips after departure, beyond the sender's reordering
/// threshold.
fn reordered(share: f64, seed: u64) -> Path {
    wire(ms(20)).then("reorder", Reorder::new(share, ms(60), Rng::new(seed).fork("reorder")))
}

#[test]
fn a_path_that_reorders_and_loses_nothing_is_repaired_like_one_that_does_neither() {
    let (plain, _) = bursts(wire(ms(20)));
    let jitter = Jitter::new(Distribution::Uniform(ms(30)), false, Rng::new(1).fork("jitter"));
    let paths = [reordered(0.02, 1), reordered(0.05, 2), wire(ms(20)).then("jitter", jitter)];
    for (nth, path) in paths.into_iter().enumerate() {
        let (story, rates) = bursts(path);
        let (counts, than) = (story.near.sender().counts(), plain.near.sender().counts());
        assert_eq!(counts.late, counts.lost, "path {nth}: {counts:?}");
        assert!(counts.late > 10 || nth == 2, "path {nth}: {counts:?}");
        // The estimate before any measurement is the highest of all.
        let most = rates.iter().map(|[eps, _]| *eps).fold(0.0, f64::max);
        assert!(most <= 0.01, "path {nth}: {most}");
        let [last, gilbert] = rates[rates.len() - 1];
        // A thousandth is the minimum of both; Gilbert's follows from 0.001 to enter the bad state and 0.99 to leave
        // it.
        assert!(last <= 0.001 && gilbert < 0.0011, "path {nth}: {last} and {gilbert}");
        assert!(counts.repair <= than.repair + counts.late, "path {nth}: {counts:?} beside {than:?}");
    }
}

/// 2500 packets a second: one packet in fifty arrives 100 packets after it was declared lost.
#[test]
fn a_steady_stream_is_put_right_as_well() {
    let script = bytes(4 << 20, 3);
    let mut story = Story::new(
        Config::default(),
        || (crate::lossless::story::cost_based(), fixed(20)),
        reordered(0.02, 3),
        wire(ms(20)),
    );
    story.say(&script, true);
    assert!(story.runs_to_its_end(60_000));
    let end = story.now.as_nanos() / 1_000_000;
    story.until(end + 1000);
    let (counts, eps) = (story.near.sender().counts(), story.near.sender().path().eps);
    assert!(counts.late > 10, "{counts:?}");
    assert!(eps <= 0.001, "{eps}: {counts:?}");
}

/// 3 seeds x 3000 packets or more, 256 per estimate: 35 independent estimates, so three standard errors are 0.0110 of
/// 0.05.
#[test]
fn a_path_that_reorders_and_loses_is_known_for_what_it_loses() {
    let mut rates = Vec::new();
    for seed in 1..=3 {
        let loss = Loss::independent(0.05, Rng::new(seed).fork("loss"));
        let (story, rows) = bursts(reordered(0.05, seed).then("loss", loss));
        assert!(story.near.sender().counts().late > 30);
        rates.extend(rows.into_iter().skip(30));
    }
    for kind in [0, 1] {
        let mean = rates.iter().map(|rates| rates[kind]).sum::<f64>() / rates.len() as f64;
        assert!((mean - 0.05).abs() < 0.011, "{kind}: {mean}");
    }
}
