//! Paths with heavy loss in both directions.

use thalweg_core::law::rate::Choice;
use thalweg_core::rng::Rng;
use thalweg_core::session::tunnel::Config;
use thalweg_core::units::Rate;
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Path;

use crate::tunnel::story::{SERVER, Story, ms};

const LINE: Rate = Rate::from_mbps(100);

/// One direction of a line with a round trip of 20 ms, which loses `eps` of the packets that it has carried.
fn path(eps: f64, seed: u64) -> Path {
    Path::default()
        .then("link", DropTail::new(LINE, Limit::Packets(1000)))
        .then("wire", Wire::new(ms(10)))
        .then("loss", Loss::independent(eps, Rng::new(seed)))
}

/// The rate in bits per second of a program over a line that loses `eps`, from the fourth second to the eighth.
fn carried(rate: Choice, eps: f64) -> f64 {
    let mut story = Story::new(Config { rate: rate.clone(), ..Config::default() }, path(eps, 1), path(eps, 2));
    let id = story.open(1 << 30, true);
    let [before, after] = [4_000, 8_000].map(|until| {
        story.until(until);
        story.sides[SERVER].apps.get(&id).map_or(0, |app| app.read)
    });
    let carried = (after - before) as f64 * 8.0 / 4.0;
    println!("{rate}, {eps}: {:.1} Mb/s", carried * 1e-6);
    carried
}

/// Loss that does not depend on the sending rate does not slow the default law down: of the `1 - eps` that a line
/// leaves, most is payload and neither headers nor useless repair. At 50 % lost acknowledgements and lost credit limit
/// a sender of a fixed rate as well.
#[test]
fn heavy_loss_leaves_most_of_the_rest_of_the_line() {
    for (eps, least) in [(0.2, 0.7), (0.35, 0.7), (0.4, 0.6), (0.5, 0.4)] {
        let [copa, fixed] = [Choice::default(), Choice::Fixed(LINE)].map(|rate| carried(rate, eps));
        let whole = (1.0 - eps) * LINE.as_bps() as f64;
        assert!(copa > least * whole && copa > 0.7 * fixed, "{eps}: {copa} beside {fixed} of {whole}");
    }
}
