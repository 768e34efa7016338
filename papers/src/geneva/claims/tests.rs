use thalweg_core::law::redundancy::geneva::State;
use thalweg_lab::statistics::Verdict;

use super::*;
use crate::claim::{Finding, Qualification};
use crate::evaluation::judge;
use crate::geneva::{Job, Results, Setting};

/// Results in which every stream of every seed has the given number of bursty events, and windows of 8 packets.
fn results(bursts: impl Fn(Condition, Scheme, u64) -> f64) -> Results {
    let plan = Plan::quick();
    let mut results = Results::new(plan.clone());
    for job in plan.jobs() {
        let Job { condition, scheme, seed, .. } = job;
        let stream = StreamRecord {
            rate_mbps: 30.0,
            goodput_mbps: 30.0,
            residual_loss: 0.001,
            packet_loss: 0.01,
            bursty_events: bursts(condition, scheme, seed),
            fwnd: 8.0,
            w_tot: 99.0,
            widest: 0.0,
        };
        let record = Record {
            link_loss: 0.02,
            tcp_mbps: 5.0,
            tcp_aggregate_mbps: 500.0,
            streams: vec![stream; 10],
            trace: None,
        };
        results.insert(job, record);
    }
    results
}

fn verdict(results: &Results, id: &str) -> Verdict {
    let findings = judge(results, State::Integer);
    findings.iter().find(|finding| finding.claim.id == id).map(Finding::verdict).expect("a claim of that name")
}

/// Results in which GENEVA has `share` of the events of static repair, whose number grows with the number of TCP flows.
fn a_share(share: f64, noise: f64) -> Results {
    results(move |at, scheme, seed| {
        let all = f64::from(at.n_tcp().unwrap_or(100)) + noise * (seed as f64 - 2.0);
        if scheme == Scheme::GenevaInteger { share * f64::from(at.n_tcp().unwrap_or(100)) } else { all }
    })
}

#[test]
fn what_every_seed_shows_holds() {
    assert_eq!(verdict(&a_share(0.5, 1.0), "G-8b1"), Verdict::Holds);
    assert_eq!(verdict(&a_share(0.5, 1.0), "G-T1a"), Verdict::Holds);
}

#[test]
fn what_every_seed_denies_is_contradicted() {
    assert_eq!(verdict(&a_share(2.0, 1.0), "G-8b1"), Verdict::Contradicted);
}

#[test]
fn what_seeds_disagree_about_is_undecided() {
    assert_eq!(verdict(&a_share(0.9, 300.0), "G-T1a"), Verdict::Undecided);
}

#[test]
fn what_was_not_run_is_undecided() {
    let nothing = Results::new(Plan::quick());
    for finding in judge(&nothing, State::Real) {
        let expected = if finding.claim.gate == Gate::Exact { Verdict::Holds } else { Verdict::Undecided };
        assert_eq!(finding.verdict(), expected, "{}", finding.claim.id);
    }
}

#[test]
fn a_bar_that_was_computed_is_short() {
    let seen = [Wanted::Within(1.0, 1.223_418_181), Wanted::Within(0.000_3, 0.003), Wanted::Above(2.0 / 3.0)];
    assert_eq!(seen.map(|wanted| wanted.to_string()), ["1 to 1.2234", "0.0003 to 0.003", "above 0.6667"]);
}

#[test]
fn a_number_within_a_range_needs_its_whole_interval_there() {
    let part = |values: &[f64]| Part::new("n", values.to_vec(), Wanted::Within(0.58, 0.70)).verdict();
    assert_eq!(part(&[0.64, 0.65, 0.66]), Verdict::Holds);
    assert_eq!(part(&[0.40, 0.41, 0.42]), Verdict::Contradicted);
    assert_eq!(part(&[0.50, 0.65, 0.80]), Verdict::Undecided);
    assert_eq!(part(&[0.65]), Verdict::Undecided);
}

#[test]
fn a_slope_is_that_of_the_line() {
    // Two seeds: y = 2 x and y = 1 - x.
    let values: Vec<Vec<f64>> = [1.0, 2.0, 4.0].iter().map(|x| vec![2.0 * x, 1.0 - x]).collect();
    let slopes = slopes(&[1.0, 2.0, 4.0], &values);
    assert!((slopes[0] - 2.0).abs() < 1e-12 && (slopes[1] + 1.0).abs() < 1e-12);
}

#[test]
fn a_window_that_never_opens_and_a_stand_in_prove_nothing() {
    let findings = judge(&a_share(0.5, 1.0), State::Integer);
    let qualification =
        |id| findings.iter().find(|finding| finding.claim.id == id).and_then(|finding| finding.qualification);
    assert_eq!(["G-9d1", "G-9c2"].map(qualification), [Some(Qualification::Vacuous); 2]);
    assert_eq!(["G-8d2", "G-T1f"].map(qualification), [Some(Qualification::StandIn); 2]);
    // Claims about windows at 10 ms and about orders of losses are not affected.
    assert_eq!(["G-8d1", "G-9b1", "G-T1g", "G-M1"].map(qualification), [None; 4]);
}

#[test]
fn every_reading_is_judged_by_runs_of_its_own() {
    let plan = Plan::paper();
    let of = |wanted: fn(&Job) -> bool| plan.jobs().iter().filter(|job| wanted(job)).count();
    // 13 conditions with five schemes, and six round-trip times of Fig. 2 with TFRC and UDP.
    assert_eq!(of(|job| job.setting == Setting::SHORT_QUEUE), 3 * (13 * 5 + 6 * 2));
    assert_eq!(of(|job| job.setting == Setting::OF_NS2[4]), 3 * 13 * 5);
    let at = Condition::OneStream { rtt_ms: 50 };
    let job = Job { condition: at, setting: Setting::OF_NS2[3], scheme: Scheme::Tfrc, seed: 1 };
    let parameters = plan.parameters(&job).expect("it is possible");
    let value = |name: &str| {
        let found = parameters.iter().find(|parameter| parameter.name == name);
        found.map(|parameter| parameter.value.to_string()).expect("a parameter of that name")
    };
    assert_eq!(["queue_packets", "delayed_ack", "min_rto_s"].map(value), ["50", "false", "1"]);
}
