//! Samples of a run are consistent: counts of intervals add up to those of the run, and queues are as long as queueing
//! theory predicts.

use std::collections::BTreeMap;
use std::path::Path;

use thalweg_core::probe::Probe;
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{End, Experiment, Place, Recorder, Run};
use thalweg_lab::network::Direction;
use thalweg_lab::scenario::Blueprint;

fn shipped(name: &str, settings: &[(&str, &str)]) -> Experiment {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/lab").join(name);
    let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Blueprint::open(&file, &settings).and_then(|blueprint| blueprint.experiment(1)).expect("the scenario")
}

/// Runs to the end, and reports a sample every `every`.
fn recorded(experiment: &Experiment, every: Span, mut visit: impl FnMut(Place, &'static str, f64)) -> Run {
    let mut run = Run::new(experiment, 1).expect("possible");
    let (mut recorder, mut now) = (Recorder::new(&run), Time::ZERO);
    while now < run.end() {
        now += every;
        run.until(now);
        recorder.look(&run, &mut visit);
    }
    run
}

/// Values that are no counts, and do not add up.
const MEANS: [&str; 10] = [
    "residual_loss",
    "fwnd_mean",
    "w_mean",
    "fwnd_widest",
    "overhead",
    "delay_mean_s",
    "delay_p50_s",
    "delay_p95_s",
    "delay_p99_s",
    "jitter_s",
];

#[test]
fn counts_of_intervals_add_up_to_those_of_the_run() {
    // Every kind of flow; of streams also those with blocks, with sessions and under TFRC.
    for scheme in ["geneva", "live", "tfrc", "udp"] {
        let mut experiment = shipped("example.toml", &[("scheme", scheme)]);
        (experiment.warmup, experiment.duration) = (Span::ZERO, Span::from_secs(6));
        let mut flows: BTreeMap<(u32, &str), f64> = BTreeMap::new();
        let mut hops: BTreeMap<(usize, &str), f64> = BTreeMap::new();
        let run = recorded(&experiment, Span::from_millis(70), |place, name, value| match place {
            Place::Flow(flow, End::Both) if !MEANS.contains(&name) => *flows.entry((flow, name)).or_default() += value,
            Place::Hop(hop, Direction::Forward) if name.ends_with("ed_packets") => {
                *hops.entry((hop, name)).or_default() += value;
            }
            _ => {}
        });
        let outcome = run.finish().expect("in = out + dropped + queued");
        let mut sums = 0;
        for (flow, whole) in (0..).zip(&outcome.flows) {
            whole.probe(&mut |name, value| {
                if !MEANS.contains(&name) {
                    assert_eq!(flows[&(flow, name)], value, "{scheme}, flow {flow}: {name}");
                    sums += usize::from(value > 0.0);
                }
            });
        }
        for (hop, whole) in outcome.hops.iter().enumerate() {
            assert_eq!(hops[&(hop, "offered_packets")], whole.offered.packets as f64, "{scheme}");
            assert_eq!(hops[&(hop, "dropped_packets")], whole.offered.dropped as f64, "{scheme}");
        }
        assert!(sums > 3 * outcome.flows.len() / 2, "{scheme}: of {} flows {sums}", outcome.flows.len());
    }
}

#[test]
fn the_queue_of_the_md1_scenario_is_as_long_as_pollaczek_and_khinchine_say() {
    for load in [0.5, 0.8] {
        let experiment = shipped("md1.toml", &[("load", &load.to_string()), ("duration_s", "400")]);
        let (mut packets, mut weighs) = (Vec::new(), Vec::new());
        recorded(&experiment, Span::from_millis(10), |place, name, value| match (place, name) {
            (Place::Hop(0, Direction::Forward), "queue_packets") => packets.push(value),
            (Place::Hop(0, Direction::Forward), "queue_bytes") => weighs.push(value),
            _ => {}
        });
        assert!(packets.iter().zip(&weighs).all(|(packets, bytes)| packets * 1500.0 == *bytes));
        // Means over 4 s are nearly independent: a busy period takes some milliseconds.
        let means: Vec<f64> = packets.chunks(400).map(|chunk| chunk.iter().sum::<f64>() / 400.0).collect();
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let error = (means.iter().map(|seen| (seen - mean) * (seen - mean)).sum::<f64>() / (n * (n - 1.0))).sqrt();
        // The packet that is being sent does not wait.
        let theory = load * load / (2.0 * (1.0 - load));
        assert!((mean - theory).abs() < 5.0 * error && error < 0.1 * theory, "{load}: {mean} +- {error}, not {theory}");
    }
}
