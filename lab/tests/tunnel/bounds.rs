//! What an end was told not to exceed.

use thalweg_core::rng::Rng;
use thalweg_core::session::tunnel::Config;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::path::Path;

use crate::story::{CLIENT, SERVER, Story, config, wire};

fn lossy(millis: u64, eps: f64, seed: u64) -> Path {
    wire(millis).then("loss", Loss::independent(eps, Rng::new(seed)))
}

/// 10 x 1000 bytes every 267 ms; what the other end finds useless is counted there.
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
        assert!(useless < bound + 0.01, "{useless} with a bound of {bound}");
        let told = story.end(CLIENT).links().next().and_then(|link| link.overhead()).expect("a stream");
        assert!((told - useless).abs() < 0.01, "{told} is told, {useless} is true");
    }
}
