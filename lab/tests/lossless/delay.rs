//! What repair is for: bytes wait less for those before them than retransmission alone makes them wait.

use thalweg_core::law::rate::fixed::Fixed;
use thalweg_core::law::schedule::Schedule;
use thalweg_core::law::schedule::arq::Arq;
use thalweg_core::rng::Rng;
use thalweg_core::session::stream::Config;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_lab::node::loss::Loss;

use crate::story::{Story, bytes, cost_based, ms, wire};

const BURST: usize = 10_000;
const EVERY: u64 = 267;
const BURSTS: u64 = 300;

/// The delays of all originals, sorted: 10 x 1000 bytes every 267 ms over 150 ms and 5 % loss each way.
fn delays<S: Schedule>(schedule: impl Fn() -> S, rate: Rate, seed: u64) -> Vec<Span> {
    let path = |way| wire(ms(75)).then("loss", Loss::independent(0.05, Rng::new(seed).fork(way)));
    let config = Config { frame: 1000 + 15, window: 128, overhead: 0, ..Config::default() };
    let law = || (schedule(), Fixed::new(rate, Span::ZERO));
    let mut story = Story::new(config, law, path("forward"), path("reverse"));
    for nth in 0..BURSTS {
        story.until(nth * EVERY).say(&bytes(BURST, nth), nth + 1 == BURSTS);
    }
    assert!(story.runs_to_its_end(BURSTS * EVERY + 20_000));
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
    delays
}

fn mean(delays: &[Span]) -> f64 {
    delays.iter().map(|span| span.as_secs_f64()).sum::<f64>() / delays.len() as f64
}

fn percentile(delays: &[Span], share: usize) -> Span {
    delays[delays.len() * share / 100]
}

/// At 400 kb/s the bursts nearly fill the line (the paper's experiment 4); at 1 Mb/s they leave half of it.
#[test]
fn in_order_delivery_waits_less_than_with_retransmission_alone() {
    for rate in [Rate::from_bps(400_000), Rate::from_mbps(1)] {
        for seed in 1..=3 {
            let [ours, arq] = [delays(cost_based, rate, seed), delays(|| Arq, rate, seed)];
            let what = format!("{rate}, seed {seed}");
            assert!(mean(&ours) < mean(&arq), "{what}: {} s against {} s", mean(&ours), mean(&arq));
            let [tail, than] = [&ours, &arq].map(|delays| percentile(delays, 95));
            assert!(tail < than, "{what}: {tail} against {than}");
            assert!(ours[0] >= ms(75) && arq[0] >= ms(75), "nothing is faster than the path");
        }
    }
}
