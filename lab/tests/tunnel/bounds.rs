//! The configured limits of an endpoint.

use thalweg_core::rng::Rng;
use thalweg_core::session::tunnel::Config;
use thalweg_core::units::Rate;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::path::Path;

use crate::tunnel::story::{CLIENT, SERVER, Story, config, wire};

fn lossy(millis: u64, eps: f64, seed: u64) -> Path {
    wire(millis).then("loss", Loss::independent(eps, Rng::new(seed)))
}

/// The size of IPv4 and UDP headers.
const HEADERS: u64 = 28;

/// Both directions at once, so that acknowledgements leave beside data, retransmissions and repair; 8 Mb/s are a
/// million bytes a second.
#[test]
fn all_that_leaves_stays_below_the_highest_rate() {
    // A window that losses never fill.
    let config = Config { stream: Config::default().stream, max_rate: Some(Rate::from_mbps(8)), ..config(50) };
    let mut story = Story::new(config, lossy(20, 0.1, 1), lossy(20, 0.1, 2));
    story.answer = (64 << 20, true);
    let id = story.open(64 << 20, true);
    let mut before = [0; 2];
    for second in 1..=10 {
        story.until(second * 1000);
        for side in [CLIENT, SERVER] {
            let (count, bytes) = story.sides[side].sent;
            let left = bytes + count * HEADERS - std::mem::replace(&mut before[side], bytes + count * HEADERS);
            // Two milliseconds may be made up for, and a quarter of one accumulates; two packets are on either edge.
            assert!(left <= 1_000_000 + 2_250 + 2 * 1228, "second {second}, side {side}: {left} bytes");
            assert!(second == 1 || left >= 950_000, "second {second}, side {side}: {left} bytes");
        }
    }
    assert!([SERVER, CLIENT].iter().all(|side| story.app(*side, id).read > 5_000_000));
}

/// 10 x 1000 bytes every 267 ms; useless packets are counted at the receiving end. One end of a burst in 44 is
/// retransmitted in vain, with the packets that were to follow it.
#[test]
fn what_is_useless_stays_below_the_highest_overhead() {
    for bound in [0.0, 0.1, 0.5] {
        let config = Config { max_overhead: bound, ..config(50) };
        let mut story = Story::new(config, lossy(75, 0.15, 3), lossy(75, 0.15, 4));
        let id = story.open(0, false);
        for nth in 0..300 {
            story.until(1000 + nth * 267);
            story.say(CLIENT, id, 10_000);
        }
        story.until(1000 + 300 * 267 + 5000);
        assert_eq!(story.app(SERVER, id).read, 3_000_000);
        let came = story.end(SERVER).links().next().expect("a link").received();
        let useless = (came.redundant + came.duplicate) as f64 / came.innovative as f64;
        assert!(useless < bound + 0.02, "{useless} with a bound of {bound}");
        let measured = story.end(CLIENT).links().next().and_then(|link| link.measured().u).expect("something came");
        assert!((measured - useless).abs() < 0.01, "{measured} measured, {useless} true");
    }
}
