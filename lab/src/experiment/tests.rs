//! One video on the paper's testbed: 100 Mb/s, a round trip of 30 ms (TCP Stream §5.2); a hop without a queue;
//! refusals.

use super::{Outcome, Run};
use crate::scenario::Blueprint;

fn run(settings: &[(&str, &str)]) -> Outcome {
    let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let text = include_str!("../../../scenarios/papers/tcp-stream-s2.toml");
    let blueprint = Blueprint::parse("tcp-stream-s2.toml", text, &settings, &mut |file| Err(format!("no {file}")));
    let experiment = blueprint.expect("a scenario").experiment(1).expect("possible");
    Run::new(&experiment, 1).expect("possible").finish().expect("conservation")
}

/// Goodput of video and background, Mb/s, from the start of the background on: nothing before it is counted.
fn beside(video: &[(&str, &str)]) -> (f64, f64) {
    let short = [("background_s", "0"), ("duration_s", "20")];
    let outcome = run(&[video, &short].concat());
    let video = outcome.value("video_goodput_mbps");
    (video, outcome.value("tcp_goodput_mbps") - video)
}

#[test]
fn a_clamped_video_has_its_playback_rate_and_no_more() {
    let outcome = run(&[("tcp", "clamp"), ("background_s", "19"), ("duration_s", "20"), ("queue_packets", "250")]);
    let goodput = outcome.value("video_goodput_mbps");
    // ceil(3.6 Mb/s x 30 ms / 1460 bytes) = 10 segments, and their transmission times on the links.
    assert!((3.6..=10.0 * 1460.0 * 8.0 / 0.030 / 1e6).contains(&goodput), "{goodput}");
    assert_eq!((outcome.value("video_stalls"), outcome.value("video_stalled_s")), (0.0, 0.0));
    assert!(outcome.value("video_start_up_s") < 2.1, "{}", outcome.value("video_start_up_s"));
}

#[test]
fn alone_tcp_stream_has_far_more_than_its_playback_rate() {
    for thresholds in ["paper", "vegas"] {
        let outcome =
            run(&[("thresholds", thresholds), ("queue_packets", "250"), ("background_s", "14"), ("duration_s", "15")]);
        // The window grows from 10 segments by one each round trip; 250 and more fill the link after about 8 s.
        let goodput = outcome.value("video_goodput_mbps");
        assert!((50.0..97.4).contains(&goodput), "{thresholds}: {goodput}");
        assert_eq!(outcome.value("video_stalls"), 0.0);
        assert!(outcome.value("video_start_up_s") < 2.0);
    }
}

#[test]
fn beside_cubic_tcp_stream_takes_less_than_cubic_and_still_plays() {
    let (cubic, left_by_cubic) = beside(&[("tcp", "cubic"), ("queue_packets", "250")]);
    for thresholds in ["paper", "vegas"] {
        let (video, left) = beside(&[("thresholds", thresholds), ("queue_packets", "250")]);
        assert!(video < cubic && left > left_by_cubic, "{thresholds}: {video} and {left}, {cubic} and {left_by_cubic}");
    }
}

/// A thousand packets a second over a hop that loses a tenth of them and has no queue.
const WITHOUT_A_QUEUE: &str = r#"
run = { duration = "11s", warmup = "1s" }
access = { rate = "1gbit", near = "1ms", far = "1ms" }
[[hop]]
forward = [{ kind = "loss", rate = 0.1 }, { kind = "wire", delay = "10ms" }]
backward = [{ kind = "wire", delay = "10ms" }]
[[flow]]
kind = "stream"
rate = "12mbit"
scheme = "udp"
"#;

fn parse(text: &str) -> Result<Blueprint, String> {
    let blueprint = Blueprint::parse("test.toml", text, &[], &mut |file| Err(format!("no {file}")));
    blueprint.map_err(|error| error.to_string())
}

#[test]
fn a_hop_without_a_queue_counts_what_comes_to_its_entrance() {
    let experiment = parse(WITHOUT_A_QUEUE).expect("a scenario").experiment(1).expect("possible");
    let outcome = Run::new(&experiment, 1).expect("possible").finish().expect("conservation");
    assert!((10_990..=11_001).contains(&outcome.packets), "{}", outcome.packets);
    // Five standard errors of a loss of a tenth among ten thousand packets.
    let loss = outcome.value("link_loss");
    assert!((loss - 0.1).abs() < 5.0 * 0.003, "{loss}");
    // All packets belong to the only flow.
    assert_eq!((outcome.flows[0].offered, outcome.value("packet_loss")), (outcome.hops[0].offered, loss));
    // There is no TCP flow, so none of these quantities has a value.
    for none in ["tcp_loss", "tcp_goodput_mbps", "tcp_throughput_mbps", "tcp_timeouts", "transfers"] {
        assert!(outcome.value(none).is_nan(), "{none}");
    }
}

#[test]
fn flows_that_may_start_behind_the_warm_up_are_known() {
    let late = |from: &str, to: &str| {
        let experiment = parse(&WITHOUT_A_QUEUE.replace(from, to)).expect(to).experiment(1).expect(to);
        experiment.late().map(|(group, start)| (group.name.clone(), start.to_string()))
    };
    let stream = |start: &str| Some(("stream".to_owned(), start.to_owned()));
    assert_eq!(late("\"udp\"", "\"udp\"\nstart = \"1s\""), None);
    assert_eq!(late("\"udp\"", "\"udp\"\nstart = [\"0s\", \"2s\"]"), stream("2s"));
    assert_eq!(late("\"udp\"", "\"udp\"\ncount = 3\nevery = \"1s\""), stream("2s"));
    // A run without a warm-up measures the starts on purpose, and a video has an end.
    assert_eq!(late("warmup = \"1s\" }", "warmup = \"0s\" }\n#"), None);
    let video = "kind = \"tcp\"\nplayback = \"1mbit\"\nvideo = 1e6\nstart = \"3s\"\n#";
    assert_eq!(late("kind = \"stream\"\nrate = \"12mbit\"\nscheme = \"udp\"", video), None);
}

/// A second stream, under TFRC; and background traffic alone on a second hop, which loses everything.
const AND_BACKGROUND: &str = r#"
hops = 1
[[flow]]
kind = "tfrc"
rate = "12mbit"
hops = 1
[[hop]]
forward = [{ kind = "loss", rate = 1.0 }]
backward = [{ kind = "wire", delay = "1ms" }]
[[flow]]
kind = "cbr"
rate = "1mbit"
packet = 500
hops = 2
[[flow]]
kind = "poisson"
rate = "1mbit"
packet = 500
hops = 2
[[flow]]
kind = "on_off"
rate = "1mbit"
packet = 500
on = "1s"
off = "1s"
hops = 2
"#;

#[test]
fn the_losses_of_streams_are_those_of_media_and_of_no_background() {
    let experiment = parse(&format!("{WITHOUT_A_QUEUE}{AND_BACKGROUND}")).expect("a scenario").experiment(1);
    let experiment = experiment.expect("possible");
    let outcome = Run::new(&experiment, 1).expect("possible").finish().expect("conservation");
    for name in ["packet_loss", "residual_loss"] {
        let loss = outcome.value(name);
        assert!((loss - 0.1).abs() < 0.03, "{name}: {loss}");
    }
    // `stream_loss` is the loss of all flows that are not TCP.
    assert!(outcome.value("stream_loss") > 0.13, "{}", outcome.value("stream_loss"));
}

#[test]
fn what_no_session_would_do_is_refused_before_it_runs() {
    for (from, to, expected) in [
        ("udp", "static255", "10 source and 255 repair packets"),
        // GENEVA has at most 60 repair packets, which leaves 195 source packets, 234 Mb/s.
        ("12mbit\"\nscheme = \"udp", "235mbit\"\nscheme = \"geneva", "196 source and 60 repair packets"),
        ("scheme = \"udp\"", "scheme = \"none\"\nstart = \"12s\"", "a flow of 'stream' starts at 12s or later"),
        (
            "scheme = \"udp\"",
            "scheme = \"none\"\ncount = 3\nevery = \"6s\"",
            "a flow of 'stream' starts at 12s or later",
        ),
        ("11s", "1000001s", "a run of 1000001s, expected at most 1000000s"),
    ] {
        let why = parse(&WITHOUT_A_QUEUE.replace(from, to)).expect_err(to);
        assert!(why.contains(expected), "{why}");
    }
    assert!(parse(&WITHOUT_A_QUEUE.replace("12mbit\"\nscheme = \"udp", "234mbit\"\nscheme = \"geneva")).is_ok());
    assert!(parse(&WITHOUT_A_QUEUE.replace("udp", "cbr800")).is_ok(), "the rate of static repair has no blocks");
    assert!(parse(&WITHOUT_A_QUEUE.replace("11s", "1000000s")).is_ok());
    assert!(
        parse(&WITHOUT_A_QUEUE.replace("= \"udp\"", "= \"udp\"\nstart = \"11s\"")).is_ok(),
        "one starts at the end"
    );
}
