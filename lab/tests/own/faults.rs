//! A law that fails, or gives a value out of its range, ends its run.

use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Failure, Run};
use thalweg_lab::own::{Fault, Window};
use thalweg_lab::scenario::Laws;

use super::{Packets, Repaired, Reply, Scripted, dumbbell, repairs, windows};

/// The time at which the laws of this file go wrong: after it, at their next event.
const WRONG: f64 = 5.25;

fn is_wrong(now: Time) -> bool {
    now.as_secs_f64() >= WRONG
}

/// Runs to the end, and returns the fault that ended the run.
fn fault(laws: &Laws, set: &[(&str, &str)]) -> Fault {
    let mut run = Run::new(&dumbbell(laws, set, 1), 1).expect("possible");
    run.until(run.end());
    let fault = run.fault().expect("a fault").clone();
    // The run stands still soon after.
    let (stood, turns) = (run.network().engine().now(), run.network().engine().turns());
    assert!(stood.since(fault.at) <= Span::from_millis(100), "{stood:?} after {fault}");
    run.until(run.end());
    assert_eq!((run.network().engine().now(), run.network().engine().turns()), (stood, turns), "{fault}");
    assert_eq!(run.finish().expect_err("a fault"), Failure::Law(fault.clone()));
    fault
}

#[test]
fn windows_out_of_range_name_the_flow_the_time_and_the_value() {
    let right = Scripted::default();
    let cases = [
        (
            Scripted { cwnd: |now| Ok(if is_wrong(now) { f64::NAN } else { 10.0 }), ..right.clone() },
            "cwnd is NaN, expected 1 to",
        ),
        (
            Scripted { cwnd: |now| Ok(if is_wrong(now) { f64::INFINITY } else { 10.0 }), ..right.clone() },
            "cwnd is inf, expected 1 to",
        ),
        (
            Scripted { cwnd: |now| Ok(if is_wrong(now) { 0.5 } else { 10.0 }), ..right.clone() },
            "cwnd is 0.5, expected 1 to",
        ),
        (
            Scripted { cwnd: |now| Ok(if is_wrong(now) { 1e10 } else { 10.0 }), ..right.clone() },
            "cwnd is 10000000000, expected 1 to",
        ),
        (
            Scripted { ssthresh: |now| if is_wrong(now) { f64::NAN } else { 10.0 }, ..right.clone() },
            "ssthresh is NaN, expected",
        ),
        (
            Scripted { ssthresh: |now| if is_wrong(now) { 0.0 } else { 10.0 }, ..right.clone() },
            "ssthresh is 0, expected",
        ),
        (
            Scripted {
                cwnd: |now| {
                    if is_wrong(now) { Err("Traceback:\n  a line\nZeroDivisionError".to_owned()) } else { Ok(10.0) }
                },
                ..right
            },
            "Traceback:\n  a line\nZeroDivisionError",
        ),
    ];
    for (law, text) in cases {
        let fault = fault(&windows(vec![law.law()]), &[("tcp", "mine")]);
        assert!(fault.flow < 4 && fault.group == "tcp" && fault.text.starts_with(text), "{fault}");
        // The next acknowledgement arrives within a round trip.
        assert!((WRONG..WRONG + 0.1).contains(&fault.at.as_secs_f64()), "{fault}");
        let head = format!("flow {} (tcp), {} s: {text}", fault.flow, fault.at.as_secs_f64());
        assert!(fault.to_string().starts_with(&head), "{fault}");
    }
}

#[test]
fn repair_out_of_range_names_the_stream() {
    let cases: [(Packets, &str); 5] = [
        (|now| Ok(if now >= WRONG { f64::NAN } else { 8.0 }), "repair is NaN, expected 0 to 230 packets"),
        (|now| Ok(if now >= WRONG { f64::INFINITY } else { 8.0 }), "repair is inf, expected 0 to 230 packets"),
        (|now| Ok(if now >= WRONG { -1.0 } else { 8.0 }), "repair is -1, expected 0 to 230 packets"),
        // 25 source packets of a block leave a code of 255 symbols 230 for repair.
        (|now| Ok(if now >= WRONG { 231.0 } else { 8.0 }), "repair is 231, expected 0 to 230 packets"),
        (|now| if now >= WRONG { Err("KeyError".to_owned()) } else { Ok(8.0) }, "KeyError"),
    ];
    for (law, text) in cases {
        let fault = fault(&repairs(vec![Repaired::law(law)]), &[("scheme", "mine")]);
        assert_eq!((fault.flow, fault.group.as_str(), fault.text.as_str()), (4, "stream", text));
        assert!((WRONG..WRONG + 0.1).contains(&fault.at.as_secs_f64()), "{fault}");
    }
}

#[test]
fn a_law_that_is_never_right_fails_at_time_zero() {
    let unmade = Window::new("mine", |flow| Err(format!("no law for flow {}", flow.flow)));
    let still = Scripted { gap: Some(Span::ZERO), ..Scripted::default() }.law();
    for (law, text) in [(unmade, "no law for flow 0"), (still, "gap is 0, expected a time above 0, or none")] {
        let found = fault(&windows(vec![law]), &[("tcp", "mine")]);
        assert_eq!(found, Fault { flow: 0, group: "tcp".to_owned(), at: Time::ZERO, text: text.to_owned() });
    }
}

#[test]
fn the_first_of_two_faults_counts() {
    let window = |seconds: fn(Time) -> Reply| Scripted { cwnd: seconds, ..Scripted::default() }.law();
    let wrong: fn(Time) -> Reply = |now| Ok(if is_wrong(now) { 0.0 } else { 10.0 });
    let repair = Repaired::law(|now| Ok(if now >= WRONG - 0.02 { -1.0 } else { 8.0 }));
    let both = Laws::new(vec![window(wrong)], vec![repair]).expect("one name, two kinds");
    let fault = fault(&both, &[("tcp", "mine"), ("scheme", "mine")]);
    assert_eq!((fault.group.as_str(), fault.text.as_str()), ("stream", "repair is -1, expected 0 to 230 packets"));
}

#[test]
fn a_fault_ends_no_other_run() {
    let fails_under_seed_1 = Window::new("mine", |flow| {
        let mut rng = flow.rng.clone();
        let first = thalweg_core::rng::Rng::new(1).fork("tcp").fork("2").fork("law").u64();
        if rng.u64() == first { Err("of all flows this one".to_owned()) } else { Ok(Box::new(Scripted::default())) }
    });
    let laws = windows(vec![fails_under_seed_1]);
    let results: Vec<_> = (1..=3)
        .map(|seed| Run::new(&dumbbell(&laws, &[("tcp", "mine")], seed), seed).expect("possible").finish())
        .collect();
    let fault = Fault { flow: 2, group: "tcp".to_owned(), at: Time::ZERO, text: "of all flows this one".to_owned() };
    assert_eq!(results[0], Err(Failure::Law(fault)));
    assert!(results[1..].iter().all(Result::is_ok));
}
