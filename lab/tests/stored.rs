//! Stored videos on the lab's networks: the session that skips frames, and its baselines. The expected values are those
//! of an independent packet model (spec of R3CP+, 3.17), and of the paper.

use thalweg_lab::experiment::{Outcome, Run};
use thalweg_lab::scenario::Blueprint;

/// The outcome of `scenarios/papers/r3cp-s1.toml` with `settings`.
fn outcome(seed: u64, settings: &[(&str, &str)]) -> Outcome {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/papers/r3cp-s1.toml");
    let settings: Vec<(String, String)> =
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let experiment = Blueprint::open(file.as_ref(), &settings).and_then(|scenario| scenario.experiment(seed));
    Run::new(&experiment.expect("the scenario"), seed).expect("possible").finish().expect("no packet forgotten")
}

/// The mean of a quantity over three seeds.
fn mean(quantity: &str, settings: &[(&str, &str)]) -> f64 {
    let seconds = [&[("duration_s", "120")], settings].concat();
    (1..=3).map(|seed| outcome(seed, &seconds).value(quantity)).sum::<f64>() / 3.0
}

#[test]
fn store_in_the_target_ends_the_skipping_on_an_idle_path() {
    // Model: 37 % of the frames skipped and a playback of .50 without a store; 1.000 with 2 s. The rate's variation is .2.
    let skipped = mean("skipped", &[]);
    assert!((0.25..0.5).contains(&skipped), "{skipped}");
    let settings = [("store_s", "2")];
    assert!(mean("playback", &settings) > 0.995);
    let variation = mean("rate_cv", &settings);
    assert!((0.1..0.3).contains(&variation), "{variation}");
}

#[test]
fn requested_rate_is_the_videos_where_nothing_is_lost() {
    // R-7a: R3CP+ settles at what it needs, 378 kb/s and the resending of nothing.
    let rate = mean("received_kbps", &[("store_s", "2")]);
    assert!((rate / 378.0 - 1.0).abs() < 0.05, "{rate}");
}

#[test]
fn random_loss_is_congestion_by_the_papers_thresholds_and_not_behind_the_gate() {
    // Model, 5 % of random loss: .47 to .81 without a gate, .98 to 1.0 with one of 30 ms.
    let lossy = |gate| [("loss", "0.05"), ("store_s", "2"), ("gate", gate)];
    let (paper, gated) = (mean("playback", &lossy("0")), mean("playback", &lossy("30")));
    assert!(gated > 0.97 && paper < gated - 0.05, "{paper}, {gated}");
}

#[test]
fn thresholds_of_a_lossy_path_are_high() {
    // Model, the path of Table 3 with 12.7 % of loss: .12 of the frames at .02/.04, .83 at .15/.30 (the paper: .91).
    let at = |low, high| mean("playback", &[("loss", "0.127"), ("store_s", "2"), ("p_low", low), ("p_high", high)]);
    let (low, high) = (at("0.02", "0.04"), at("0.15", "0.30"));
    assert!(low < 0.35 && high > 0.8, "{low}, {high}");
}

#[test]
fn overload_costs_frames_by_choice_and_not_by_breaking_them() {
    // R3CP+ has the fewest broken frames. Four videos need 1.51 Mb/s of 1.5 and their headers.
    let at = |control| {
        let settings = [("videos", "4"), ("store_s", "2"), ("control", control)];
        (mean("playback", &settings), mean("broken", &settings))
    };
    let [ours, r3cp, tfcc, none] = ["r3cp+", "r3cp", "tfcc", "none"].map(at);
    for (name, other) in [("r3cp", r3cp), ("tfcc", tfcc), ("none", none)] {
        assert!(ours.0 > other.0 && ours.1 < other.1, "{name}: {other:?}, {ours:?}");
    }
}

#[test]
fn tcp_keeps_what_the_video_leaves() {
    // TCP's goodput beside R3CP+ is that of the rest of the link. 1.5 Mb/s less 378 kb/s and headers of 76 bytes a
    // packet, and of that the payload of segments.
    let rest = (1500.0 - 378.0 * (1008.0 + 76.0) / 1008.0) * 1460.0 / 1500.0 / 1e3;
    for flows in ["1", "2"] {
        let goodput = mean("tcp_goodput_mbps", &[("tcp_flows", flows), ("store_s", "2")]);
        assert!(goodput > 0.95 * rest, "{flows}: {goodput} of {rest}");
    }
}

#[test]
fn two_videos_share_evenly() {
    // .8 to 1.25.
    let run = outcome(1, &[("videos", "2"), ("cbr_kbps", "909"), ("store_s", "2"), ("duration_s", "120")]);
    let received: Vec<f64> =
        run.flows.iter().filter_map(|flow| flow.playback()).map(|video| video.totals.arrived as f64).collect();
    let ratio = received[0] / received[1];
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
}

#[test]
fn same_seed_gives_the_same_run() {
    let settings = [("tcp_flows", "2"), ("loss", "0.02"), ("duration_s", "30")];
    assert_eq!(outcome(7, &settings), outcome(7, &settings));
}
