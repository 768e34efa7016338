use thalweg_lab::statistics::Verdict;

use super::*;
use crate::claim::Finding;
use crate::evaluation::judge;
use crate::tcp_stream::{Job, Results, Windows};

const READING: Reading = Reading { ours: Carrier::Printed, queue: 1000 };

/// Results of Fig. 3 in which every run has the loss that `loss` returns, and all other values are equal.
fn results(loss: impl Fn(u32, Carrier, u64) -> f64) -> Results {
    let plan = Plan::quick();
    let mut results = Results::new(plan.clone());
    for job in plan.jobs() {
        let Job { condition: Condition::Simulation { n_ftp, .. }, carrier, seed } = job else { continue };
        let windows = Windows { lwnd: 30.0, dwnd: 1.0, cap: 36.0, diff: 2.0, delay_on: 1.0 };
        let record = Record {
            video_mbps: 4.0,
            ftp_mbps: 30.0,
            loss: loss(n_ftp, carrier, seed),
            video_loss: 0.0,
            delivered: 1.0,
            stalls: 0.0,
            stalled_s: 0.0,
            start_up_s: 1.0,
            delay_s: 1.0,
            timeouts: 0.0,
            end_s: 100.0,
            windows,
            series: None,
        };
        results.insert(job, record);
    }
    results
}

fn verdict(results: &Results, id: &str) -> Verdict {
    let findings = judge(results, READING);
    findings.iter().find(|finding| finding.claim.id == id).map(Finding::verdict).expect("a claim of that name")
}

#[test]
fn without_runs_arithmetic_holds_and_the_rest_is_open() {
    for finding in judge(&Results::new(Plan::quick()), READING) {
        let expected = if finding.claim.gate == Gate::Exact { Verdict::Holds } else { Verdict::Undecided };
        assert_eq!(finding.verdict(), expected, "{}", finding.claim.id);
    }
}

#[test]
fn less_loss_in_every_pair_holds_and_more_in_one_crowd_is_contradicted() {
    // TCP Stream loses slightly less than NewReno with the same seed; seeds differ much more.
    let less = |carrier: Carrier, seed: u64| seed as f64 - if carrier == Carrier::Printed { 0.1 } else { 0.0 };
    assert_eq!(verdict(&results(|_, carrier, seed| less(carrier, seed)), "T-3c"), Verdict::Holds);
    let more_at_two = |n_ftp, carrier, seed| match (n_ftp, carrier) {
        (2, Carrier::Printed) => seed as f64 + 0.1,
        _ => less(carrier, seed),
    };
    assert_eq!(verdict(&results(more_at_two), "T-3c"), Verdict::Contradicted);
}

#[test]
fn where_the_two_are_one_a_tenth_is_no_difference() {
    let above = |share: f64| {
        move |n_ftp: u32, carrier: Carrier, _: u64| match carrier {
            Carrier::Printed if n_ftp > 8 => share,
            Carrier::Printed => 0.5,
            _ => 1.0,
        }
    };
    assert_eq!(verdict(&results(above(1.05)), "T-3c"), Verdict::Holds);
    assert_eq!(verdict(&results(above(1.2)), "T-3c"), Verdict::Contradicted);
}
