//! The test cases of RFC 8867, as `scenarios/rmcat` has them.

use std::path::Path;

use thalweg_core::probe::Probe;
use thalweg_core::time::{Span, Time};
use thalweg_lab::end;
use thalweg_lab::experiment::Run;
use thalweg_lab::network::Part;
use thalweg_lab::scenario::Blueprint;

fn run(name: &str, law: &str) -> Run {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../scenarios/rmcat/{name}.toml"));
    let blueprint = Blueprint::open(&file, &[("rate".to_owned(), law.to_owned())]);
    let experiment = blueprint.and_then(|blueprint| blueprint.experiment(1)).expect("the scenario");
    Run::new(&experiment, 1).expect("a possible run")
}

/// The media datagrams that each flow has delivered `seconds` after the start.
fn delivered(run: &mut Run, seconds: u64) -> Vec<f64> {
    run.until(Time::ZERO + Span::from_secs(seconds));
    let ends = (0..run.network().next_flow()).filter_map(|flow| run.network().ends(flow));
    let receivers = ends.filter_map(|(_, receiver)| match receiver {
        Part::LiveReceiver(receiver) => Some(receiver),
        _ => None,
    });
    let count = |receiver: &end::live::Receiver| {
        let mut found = f64::NAN;
        receiver.probe(&mut |name, value| {
            if name == "media_packets_total" {
                found = value;
            }
        });
        found
    };
    receivers.map(|receiver| count(receiver)).collect()
}

/// §5.1: 1, 2.5, 0.6 and 1 Mb/s, from 0, 40, 60 and 80 s on. The media has 1.5 Mb/s at most.
#[test]
fn media_follows_a_capacity_that_varies() {
    for law in ["gca", "tfrc", "nada"] {
        let mut run = run("rmcat-5.1", law);
        for (from, to, most) in [(20, 40, 1.0), (50, 60, 1.5), (70, 80, 0.6), (90, 100, 1.0)] {
            let before = delivered(&mut run, from)[0];
            let packets = delivered(&mut run, to)[0] - before;
            // Of 1040 bytes.
            let rate = packets * 1040.0 * 8e-6 / (to - from) as f64;
            assert!((0.6 * most..=1.01 * most).contains(&rate), "{law}: {rate} of {most} Mb/s from {from} s on");
        }
    }
}

/// §5.8: the second of three flows pauses from 40 to 60 s, and the others take what it leaves.
#[test]
fn flow_that_pauses_leaves_its_share_and_resumes() {
    for law in ["gca", "tfrc", "nada"] {
        let mut run = run("rmcat-5.8", law);
        let [playing, paused, until, resumed] = [38, 42, 59, 75].map(|seconds| delivered(&mut run, seconds));
        assert_eq!(paused[1], until[1], "{law}");
        let rate = |from: &[f64], to: &[f64], seconds: f64| (to[0] - from[0]) / seconds;
        assert!(rate(&paused, &until, 17.0) > 1.1 * playing[0] / 38.0, "{law}: {playing:?} {paused:?} {until:?}");
        assert!(resumed[1] > until[1] + 500.0, "{law}: {until:?} {resumed:?}");
    }
}

#[test]
fn keys_of_sessions_are_refused_elsewhere() {
    let text = |lines: &str| {
        format!(
            "run = {{ duration = '1s' }}\naccess = {{ rate = '1gbit', near = '1ms', far = '1ms' }}\n\
             hop = [{{ rate = '1mbit', queue = 9, delay = '1ms' }}]\n\
             [[flow]]\nkind = 'stream'\nrate = '1mbit'\n{lines}\n"
        )
    };
    let parse = |lines: &str| Blueprint::parse("a.toml", &text(lines), &[], &mut |_| Err("no files".into()));
    for key in ["follows = true", "pause = ['1s', '2s']", "max_rate = '1mbit'"] {
        assert!(parse(&format!("scheme = 'live'\n{key}")).is_ok(), "{key}");
        let error = parse(&format!("scheme = 'geneva'\n{key}")).map(|_| ()).expect_err(key).to_string();
        assert!(error.contains("need scheme = \"live\""), "{error}");
    }
}
