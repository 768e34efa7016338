//! One film on the paper's testbed: 100 Mb/s, a round trip of 30 ms (TCP Stream §5.2).

use super::{Outcome, Run};
use crate::scenario::Blueprint;

fn run(settings: &[(&str, &str)]) -> Outcome {
    let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let text = include_str!("../../../scenarios/papers/tcp-stream-s2.toml");
    let blueprint = Blueprint::parse("tcp-stream-s2.toml", text, &settings, &mut |file| Err(format!("no {file}")));
    let experiment = blueprint.expect("a scenario").experiment(1).expect("possible");
    Run::new(&experiment, 1).expect("possible").finish().expect("conservation")
}

/// Goodput of film and background, Mb/s, from the start of the background on: nothing before is counted.
fn beside(film: &[(&str, &str)]) -> (f64, f64) {
    let short = [("background_s", "0"), ("duration_s", "20")];
    let outcome = run(&[film, &short].concat());
    let film = outcome.value("film_goodput_mbps");
    (film, outcome.value("tcp_goodput_mbps") - film)
}

#[test]
fn a_clamped_film_has_its_playback_rate_and_no_more() {
    let outcome = run(&[("tcp", "clamp"), ("background_s", "19"), ("duration_s", "20"), ("queue_packets", "250")]);
    let goodput = outcome.value("film_goodput_mbps");
    // ceil(3.6 Mb/s x 30 ms / 1460 bytes) = 10 segments, and their own time on the links.
    assert!((3.6..=10.0 * 1460.0 * 8.0 / 0.030 / 1e6).contains(&goodput), "{goodput}");
    assert_eq!((outcome.value("film_stalls"), outcome.value("film_stalled_s")), (0.0, 0.0));
    assert!(outcome.value("film_start_up_s") < 2.1, "{}", outcome.value("film_start_up_s"));
}

#[test]
fn alone_tcp_stream_has_far_more_than_its_playback_rate() {
    for thresholds in ["paper", "vegas"] {
        let outcome =
            run(&[("thresholds", thresholds), ("queue_packets", "250"), ("background_s", "14"), ("duration_s", "15")]);
        // From 10 segments on by one a round trip, 250 and more fill the link after about 8 s.
        let goodput = outcome.value("film_goodput_mbps");
        assert!((50.0..97.4).contains(&goodput), "{thresholds}: {goodput}");
        assert_eq!(outcome.value("film_stalls"), 0.0);
        assert!(outcome.value("film_start_up_s") < 2.0);
    }
}

#[test]
fn beside_cubic_tcp_stream_takes_less_than_cubic_and_still_plays() {
    let (cubic, left_by_cubic) = beside(&[("tcp", "cubic"), ("queue_packets", "250")]);
    for thresholds in ["paper", "vegas"] {
        let (film, left) = beside(&[("thresholds", thresholds), ("queue_packets", "250")]);
        assert!(film < cubic && left > left_by_cubic, "{thresholds}: {film} and {left}, {cubic} and {left_by_cubic}");
    }
}
