//! The live profile in experiments: beside TCP on a shared link.

use std::path::Path;

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Ended, Experiment, Outcome, Run};
use thalweg_lab::scenario::Blueprint;

/// A scenario of the folder `scenarios`.
fn scenario(file: &str, set: &[(&str, &str)], seed: u64) -> Experiment {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios").join(file);
    let set: Vec<_> = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let described = Blueprint::open(&file, &set).and_then(|blueprint| blueprint.experiment(seed));
    described.unwrap_or_else(|error| panic!("{error}"))
}

fn finished(experiment: &Experiment, seed: u64) -> Outcome {
    let run = Run::new(experiment, seed).expect("a possible run");
    run.finish().expect("in = out + dropped + queued")
}

/// Ten TCP flows and a stream of 30 Mb/s through 100 Mb/s.
fn dumbbell(scheme: &str, seed: u64) -> Experiment {
    let set = [("scheme", scheme), ("n_tcp", "10"), ("duration_s", "14"), ("warmup_s", "6")];
    scenario("lab/dumbbell.toml", &set, seed)
}

fn outcome(scheme: &str, seed: u64) -> Outcome {
    finished(&dumbbell(scheme, seed), seed)
}

#[test]
fn live_stream_has_its_rate_and_its_repair() {
    for (scheme, repair) in [("live-static8", 8.0), ("live-none", 0.0)] {
        let outcome = outcome(scheme, 1);
        let stream = outcome.flows.last().expect("the stream is the last flow");
        let Ended::Stream { packet, sent, received } = &stream.ended else { panic!("{stream:?}") };
        // 1400 bytes of media, RTP, UDP and IP, and the payload ID that repair needs.
        assert_eq!(packet.0, if repair > 0.0 { 1_446 } else { 1_440 });
        let rate = sent.source as f64 * packet.0 as f64 * 8.0 / outcome.window.as_secs_f64();
        assert!((rate / 30e6 - 1.0).abs() < 1e-3, "{scheme}: {rate} b/s");
        assert_eq!(sent.mean_window(), repair, "{scheme}");
        // 26 source packets in 10 ms, the interval of the law.
        let share = sent.repair as f64 / sent.source as f64;
        assert!((share - repair / 26.0).abs() < 0.02, "{scheme}: {share}");
        // The sender detects a loss later than the receiver: losses of the last milliseconds lie beyond the end of the
        // run.
        let unsettled = received.source - received.packets.min(received.source);
        assert!(received.residual() <= received.lost + unsettled, "{scheme}: {received:?}");
        assert!(outcome.value("tcp_goodput_mbps") > 20.0, "{scheme} leaves TCP nothing");
    }
}

#[test]
fn repair_by_the_law_leaves_less_lost_than_none() {
    let all = |scheme| (1..=6).map(|seed| outcome(scheme, seed)).collect::<Vec<_>>();
    let (geneva, none) = (all("live"), all("live-none"));
    for (geneva, none) in geneva.iter().zip(&none) {
        assert!(geneva.value("fwnd_mean") >= 8.0, "{}", geneva.value("fwnd_mean"));
        assert!(none.value("residual_loss") > 0.0, "TCP fills the queue");
        // The competitors are the same: their starts and paths are drawn independently of the streams.
        assert_eq!(geneva.flows.len(), none.flows.len());
    }
    // A dozen losses per run, in a few runs of losses: only the sum over several runs is significant.
    let residual = [&geneva, &none].map(|runs| runs.iter().map(|run| run.value("residual_loss")).sum::<f64>());
    assert!(residual[0] < residual[1], "{residual:?}");
}

#[test]
fn sessions_are_the_same_to_the_bit_however_a_run_is_cut() {
    let experiment = dumbbell("live", 5);
    let mut pieces = Run::new(&experiment, 5).expect("a possible run");
    let (mut now, mut rng) = (Time::ZERO, Rng::new(7));
    while now < pieces.end() {
        now += Span::from_nanos(rng.below(500_000_000));
        pieces.until(now);
    }
    assert_eq!(pieces.finish().expect("in = out + dropped + queued"), outcome("live", 5));
}

/// The goodput of TCP in GENEVA's first scenario (Figs. 8 and 9), ten streams beside `flows` of TCP.
fn tcp_beside(scheme: &str, (round_trip, flows): (u32, u32), times: &[(&str, &str)]) -> f64 {
    let (round_trip, flows) = (round_trip.to_string(), flows.to_string());
    let set = [&[("scheme", scheme), ("rtt_ms", &round_trip), ("n_tcp", &flows)], times].concat();
    finished(&scenario("papers/geneva-s1.toml", &set, 1), 1).value("tcp_goodput_mbps")
}

/// One point and four seconds in the short run.
#[test]
fn tcp_keeps_as_much_beside_repair_by_its_worth_as_beside_geneva() {
    let all = [(10, 100), (10, 150), (10, 200), (10, 250), (100, 400), (100, 500), (100, 600), (100, 700)];
    let is_long = std::env::var_os("THALWEG_TEST_ALL").is_some();
    let points = if is_long { &all[..] } else { &all[2..3] };
    for &point in points {
        let times: &[_] = match point {
            (10, _) if !is_long => &[("warmup_s", "10"), ("duration_s", "14")],
            (10, _) => &[("duration_s", "24")],
            _ => &[("duration_s", "30")],
        };
        let [auto, geneva] = ["live-auto", "live-geneva"].map(|scheme| tcp_beside(scheme, point, times));
        println!("{point:?}: {auto:.1} Mb/s, {geneva:.1} Mb/s");
        assert!(auto >= 0.97 * geneva, "{point:?}: {auto} Mb/s, beside GENEVA {geneva}");
    }
}
