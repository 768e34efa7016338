//! No link carries more than its rate, and no result depends on how a run is driven: every shipped scenario.

use std::path::{Path, PathBuf};

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_lab::experiment::{Experiment, Outcome, Run};
use thalweg_lab::network::Direction;
use thalweg_lab::node::watched::Event;
use thalweg_lab::path::Element;
use thalweg_lab::scenario::Blueprint;

/// Every shipped experiment: its first seconds with few flows, measured from the start.
fn shipped(seed: u64) -> Vec<(PathBuf, Experiment)> {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let files = ["lab", "papers"].into_iter().flat_map(|folder| scenarios.join(folder).read_dir().expect(folder));
    let mut files: Vec<PathBuf> = files.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let short = |file: PathBuf| {
        let whole = Blueprint::open(&file, &[]).and_then(|whole| whole.experiment(seed));
        let mut experiment = whole.unwrap_or_else(|error| panic!("{error}"));
        experiment.warmup = Span::ZERO;
        experiment.duration = experiment.duration.min(Span::from_secs(6));
        experiment.groups.iter_mut().for_each(|group| group.count = group.count.min(8));
        (file, experiment)
    };
    files.into_iter().map(short).collect()
}

fn run(experiment: &Experiment, seed: u64) -> Run {
    Run::new(experiment, seed).unwrap_or_else(|why| panic!("{why}"))
}

fn outcome(experiment: &Experiment, seed: u64) -> Outcome {
    run(experiment, seed).finish().expect("in = out + dropped + queued")
}

/// Bytes that left each hop towards their receivers, by flow, and the results of the run.
fn watched(experiment: &Experiment, seed: u64) -> (Vec<Vec<Bytes>>, Outcome) {
    let mut run = run(experiment, seed);
    let hops = experiment.hops.len();
    (0..hops).for_each(|hop| run.network_mut().watch(hop));
    let mut left = vec![vec![Bytes(0); run.network().next_flow() as usize]; hops];
    let mut now = Time::ZERO;
    while now < run.end() {
        now += Span::from_millis(200);
        run.until(now);
        for (hop, left) in left.iter_mut().enumerate() {
            let [forward, backward] = run.network_mut().take_log(hop);
            let logs = [(Direction::Forward, forward), (Direction::Backward, backward)];
            for (direction, entry) in logs.iter().flat_map(|(way, log)| log.iter().map(move |entry| (way, entry))) {
                let flow = entry.packet.flow;
                let group = &experiment.groups[run.group_of(flow).expect("a planned flow")];
                if entry.event == Event::Left && group.direction == *direction {
                    left[flow as usize] += entry.packet.size;
                }
            }
        }
    }
    (left, run.finish().expect("in = out + dropped + queued"))
}

#[test]
fn no_link_carries_more_than_its_rate_and_no_flow_delivers_what_was_not_carried() {
    for (file, experiment) in shipped(1) {
        let (left, outcome) = watched(&experiment, 1);
        let name = file.display();
        for (hop, (left, described)) in left.iter().zip(&experiment.hops).enumerate() {
            let rates = described.lane(Direction::Forward).iter().filter_map(|element| match element {
                Element::DropTail(link) => Some(link.rate()),
                _ => None,
            });
            let forward = |flow: &usize| experiment.groups[outcome.flows[*flow].group].direction == Direction::Forward;
            let carried = (0..left.len()).filter(forward).map(|flow| left[flow]).sum::<Bytes>();
            assert!(rates.into_iter().all(|rate| carried <= rate.bytes_in(experiment.duration)), "{name}, hop {hop}");
            let offered = outcome.hops[hop].offered;
            assert!(offered.dropped <= offered.packets, "{name}, hop {hop}: {offered:?}");
        }
        for (number, flow) in outcome.flows.iter().enumerate() {
            for hop in experiment.groups[flow.group].hops.clone() {
                assert!(flow.delivered() <= left[hop][number], "{name}, hop {hop}: {flow:?}");
            }
        }
        assert!(outcome.flows.iter().any(|flow| flow.delivered() > Bytes(0)), "{name} carries nothing");
    }
}

#[test]
fn every_scenario_is_the_same_to_the_bit_however_it_is_cut() {
    for (file, experiment) in shipped(2) {
        let whole = outcome(&experiment, 2);
        assert_eq!(outcome(&experiment, 2), whole, "{}", file.display());
        // Pieces of up to half a second, which end between events, on them, and at none.
        let mut pieces = run(&experiment, 2);
        let (mut now, mut rng) = (Time::ZERO, Rng::new(77));
        while now < pieces.end() {
            now += Span::from_nanos(rng.below(500_000_000));
            pieces.until(now);
            pieces.until(now);
        }
        assert_eq!(pieces.finish().expect("in = out + dropped + queued"), whole, "{}", file.display());
    }
}
