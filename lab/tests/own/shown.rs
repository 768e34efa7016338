//! Probes and random numbers of one's own.

use std::sync::{Arc, Mutex};

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{End, Place, Recorder, Run};
use thalweg_lab::own::Window;
use thalweg_lab::scenario::Laws;

use super::{Repaired, SENDER, Scripted, dumbbell, windows};

#[test]
fn values_of_a_law_are_among_those_of_its_sender() {
    let laws = Laws::new(vec![Scripted::default().law()], vec![Repaired::law(|_| Ok(8.0))]).expect("two kinds");
    let mut run = Run::new(&dumbbell(&laws, &[("tcp", "mine"), ("scheme", "mine")], 1), 1).expect("possible");
    let mut recorder = Recorder::new(&run);
    run.until(Time::ZERO + Span::from_secs(5));
    let mut seen = Vec::new();
    recorder.look(&run, &mut |place, name, value| seen.push((place, name, value)));
    for flow in 0..5 {
        let of = |name: &str| -> Vec<f64> {
            let here = |place: &Place| *place == Place::Flow(flow, End::Sender);
            seen.iter().filter(|(place, seen, _)| here(place) && *seen == name).map(|(.., value)| *value).collect()
        };
        let [at] = of("mine")[..] else { panic!("flow {flow}: {seen:?}") };
        assert!((4.9..=5.0).contains(&at), "the last event of flow {flow} was at {at} s");
        // The sender's own values are not those of the law's probe, of the same names.
        for name in SENDER.iter().filter(|_| flow < 4) {
            assert!(matches!(of(name)[..], [value] if value >= 0.0), "{name}: {:?}", of(name));
        }
    }
}

/// The first draw of each flow's law, in the order of the flows.
fn draws(seed: u64) -> Vec<(u32, u64)> {
    let drawn = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&drawn);
    let law = Window::new("mine", move |flow| {
        keep.lock().expect("one thread").push((flow.flow, flow.rng.clone().u64()));
        Ok(Box::new(Scripted::default()))
    });
    let experiment = dumbbell(&windows(vec![law]), &[("tcp", "mine")], seed);
    Run::new(&experiment, seed).expect("possible");
    drawn.lock().map(|drawn| drawn.clone()).expect("one thread")
}

#[test]
fn random_numbers_of_a_law_derive_from_the_run_and_the_flow() {
    let first = draws(1);
    assert_eq!(first.iter().map(|(flow, _)| *flow).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(draws(1), first);
    let mut all: Vec<u64> = first.iter().chain(&draws(2)).map(|(_, draw)| *draw).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 8, "two flows or two seeds share their random numbers");
    assert_eq!(first[3].1, Rng::new(1).fork("tcp").fork("3").fork("law").u64());
}
