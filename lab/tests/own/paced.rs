//! The gap and the window of a law are kept.

use thalweg_core::time::Span;
use thalweg_lab::experiment::{Outcome, Run};

use super::{Scripted, dumbbell, windows};

fn outcome(law: Scripted) -> Outcome {
    let experiment = dumbbell(&windows(vec![law.law()]), &[("tcp", "mine"), ("n_streams", "0")], 1);
    Run::new(&experiment, 1).expect("possible").finish().expect("no fault")
}

#[test]
fn a_law_with_a_gap_sends_one_segment_each() {
    let outcome = outcome(Scripted { gap: Some(Span::from_millis(10)), cwnd: |_| Ok(1e9), ..Scripted::default() });
    for flow in &outcome.flows {
        // Four seconds are measured.
        assert!((399..=401).contains(&flow.offered.packets), "{flow:?}");
    }
}

#[test]
fn a_law_without_a_gap_sends_a_window_a_round_trip() {
    let outcome = outcome(Scripted::default());
    for flow in &outcome.flows {
        // Ten segments each 38 to 42 ms, in four seconds.
        assert!((940..=1_055).contains(&flow.offered.packets), "{flow:?}");
    }
}
