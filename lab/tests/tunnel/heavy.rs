//! Paths that lose a large part of everything, both ways.

use thalweg_core::rng::Rng;
use thalweg_core::session::tunnel::Config;
use thalweg_core::units::Rate;
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Path;

use crate::story::{SERVER, Story, ms};

const LINE: Rate = Rate::from_mbps(100);

/// A line of 20 ms that loses `eps` of what it has carried.
fn path(eps: f64, seed: u64) -> Path {
    Path::default()
        .then("link", DropTail::new(LINE, Limit::Packets(1000)))
        .then("wire", Wire::new(ms(10)))
        .then("loss", Loss::independent(eps, Rng::new(seed)))
}

/// What a program gets of the line from the second second to the fifth, with the default law, in bits a second.
fn carried(eps: f64) -> f64 {
    let mut story = Story::new(Config::default(), path(eps, 1), path(eps, 2));
    let id = story.open(1 << 30, true);
    let mut read = [2_000, 5_000].map(|until| {
        story.until(until);
        story.sides[SERVER].apps.get(&id).map_or(0, |app| app.read)
    });
    read.reverse();
    let link = story.end(SERVER).links().next().expect("a link").received();
    println!("{eps}: {:.1} Mb/s, {link:?}", (read[0] - read[1]) as f64 * 8e-6 / 3.0);
    (read[0] - read[1]) as f64 * 8.0 / 3.0
}

/// What is lost whatever is sent does not slow the default law down: of a line that loses `eps` there is 1 - `eps`, and most of that is
/// payload and not headers, or repair in vain.
#[test]
fn a_third_of_everything_lost_leaves_most_of_the_rest_of_the_line() {
    for eps in [0.2, 0.35] {
        let whole = (1.0 - eps) * LINE.as_bps() as f64;
        assert!(carried(eps) > 0.7 * whole, "{eps}");
    }
}
