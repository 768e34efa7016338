//! The paper's workload over real endpoints: 10 x 1000 bytes every 267 ms, losses in both directions.

use thalweg_core::law::rate::Allowance;
use thalweg_core::law::rate::fixed::Fixed;
use thalweg_core::law::schedule::Schedule;
use thalweg_core::rng::Rng;
use thalweg_core::session::stream::Config;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::path::Path;

use crate::lossless::story::{Story, bytes, ms, wire};

const BURST: usize = 10_000;
const EVERY: u64 = 267;
const BURSTS: u64 = 300;

/// A path with the same delay in each direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) rate: Rate,
    pub(crate) rtt: Span,
    /// The loss rates of the forward and of the return path.
    pub(crate) eps: f64,
    pub(crate) back: f64,
}

/// The result of a schedule on a link.
#[derive(Debug)]
pub(crate) struct Trade {
    /// In-order delays of all thousand bytes, sorted.
    pub(crate) delays: Vec<Span>,
    /// Bytes in frames sent by the near end, per byte written.
    pub(crate) bytes: f64,
    /// Packets that were not innovative at the far end, per innovative one; and the near end's estimate of that.
    pub(crate) useless: f64,
    pub(crate) accounted: f64,
}

/// Runs a schedule at the rate of the link; `config` is that of both ends.
pub(crate) fn trade<S: Schedule>(config: Config, schedule: impl Fn() -> S, link: Link, seed: u64) -> Trade {
    trade_under(config, || (schedule(), Fixed::new(link.rate, Span::ZERO)), link, seed)
}

/// Runs a schedule under a law that may have no rate.
pub(crate) fn trade_under<S: Schedule, A: Allowance>(
    config: Config,
    law: impl Fn() -> (S, A),
    link: Link,
    seed: u64,
) -> Trade {
    let path = |direction, eps| wire(link.rtt / 2).then("loss", Loss::independent(eps, Rng::new(seed).fork(direction)));
    run(config, law, path("forward", link.eps), path("reverse", link.back))
}

/// Runs a schedule at a fixed rate over two paths.
pub(crate) fn trade_over<S: Schedule>(
    config: Config,
    schedule: impl Fn() -> S,
    rate: Rate,
    forward: Path,
    reverse: Path,
) -> Trade {
    run(config, || (schedule(), Fixed::new(rate, Span::ZERO)), forward, reverse)
}

fn run<S: Schedule, A: Allowance>(config: Config, law: impl Fn() -> (S, A), forward: Path, reverse: Path) -> Trade {
    let mut story = Story::new(config, law, forward, reverse);
    for nth in 0..BURSTS {
        story.until(nth * EVERY).say(&bytes(BURST, nth), nth + 1 == BURSTS);
    }
    assert!(story.runs_to_its_end(BURSTS * EVERY + 60_000));
    assert_eq!(story.read, story.script);
    let mut arrivals = story.arrivals.iter().peekable();
    let mut delays: Vec<Span> = (1..=story.script.len() / 1000)
        .map(|nth| {
            while arrivals.next_if(|(_, end)| *end < nth * 1000).is_some() {}
            let (when, _) = arrivals.peek().expect("all came");
            when.since(Time::ZERO + ms((nth as u64 - 1) / 10 * EVERY))
        })
        .collect();
    delays.sort();
    let counts = story.far.receiver().counts();
    Trade {
        delays,
        bytes: story.sent_bytes as f64 / story.script.len() as f64,
        useless: (counts.redundant + counts.duplicate) as f64 / counts.innovative as f64,
        accounted: story.near.sender().queue().overhead().u(),
    }
}

impl Trade {
    /// Pools several runs into one.
    pub(crate) fn pool(runs: Vec<Trade>) -> Trade {
        let mean = |of: fn(&Trade) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        let [bytes, useless, accounted] = [mean(|run| run.bytes), mean(|run| run.useless), mean(|run| run.accounted)];
        let mut delays: Vec<_> = runs.into_iter().flat_map(|run| run.delays).collect();
        delays.sort();
        Trade { delays, bytes, useless, accounted }
    }

    pub(crate) fn percentile(&self, share: usize) -> Span {
        self.delays[self.delays.len() * share / 100]
    }

    pub(crate) fn mean(&self) -> f64 {
        self.delays.iter().map(|span| span.as_millis_f64()).sum::<f64>() / self.delays.len() as f64
    }
}
