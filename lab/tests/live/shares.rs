//! Live streams under a rate law beside TCP.

use thalweg_lab::experiment::{Outcome, Run};
use thalweg_lab::scenario::Blueprint;

/// Four live streams of more than their share, under the law `law`, and four TCP flows on 16 Mb/s, with a queue of one
/// round trip of 44 ms.
fn share(law: &str) -> Outcome {
    let text = format!(
        "run = {{ duration = '140s', warmup = '20s' }}
         access = {{ rate = '1gbit', near = '1ms', far = '1ms' }}
         [[hop]]
         rate = '16mbit'
         queue = 58
         delay = '20ms'
         [[flow]]
         kind = 'tcp'
         tcp = 'newreno'
         count = 4
         start = ['0s', '2s']
         [[flow]]
         kind = 'stream'
         count = 4
         start = ['0s', '2s']
         rate = '8mbit'
         scheme = 'live-none'
         latency = '300ms'
         rate_law = '{law}'"
    );
    let blueprint = Blueprint::parse("shares.toml", &text, &[], &mut |file| Err(format!("no {file}")))
        .unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::new(&blueprint.experiment(1).expect("it was read"), 1).expect("possible");
    run.until(run.end());
    run.finish().expect("in = out + dropped + queued")
}

/// RFC 5348 §1: within a factor of two of the rate of a TCP flow under the same conditions.
#[test]
fn live_streams_under_tfrc_share_with_tcp() {
    let outcome = share("tfrc");
    let (stream, tcp) = (outcome.value("stream_goodput_mbps"), outcome.value("tcp_goodput_mbps"));
    let ratio = stream / (tcp / 4.0);
    assert!((0.5..=2.0).contains(&ratio), "{stream} for each stream, {tcp} for four TCP flows");
    assert!(4.0 * stream + tcp > 0.9 * 16.0 * 1448.0 / 1500.0, "{stream}, {tcp}: the link is full");
}

#[test]
fn fixed_rate_of_a_scenario_is_kept() {
    let stream = share("fixed:2mbit").value("stream_goodput_mbps");
    assert!((1.9..=2.02).contains(&stream), "{stream}");
}
