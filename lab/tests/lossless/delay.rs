//! The purpose of repair: bytes wait less for those before them than with retransmission alone.

use thalweg_core::law::schedule::Schedule;
use thalweg_core::law::schedule::arq::Arq;
use thalweg_core::session::stream::Config;
use thalweg_core::units::Rate;

use crate::lossless::bursts::{Link, Trade, trade};
use crate::lossless::story::{cost_based, ms};

/// A run over 150 ms and 5 % loss in each direction, in the paper's packets and window.
fn run<S: Schedule>(schedule: impl Fn() -> S, rate: Rate, seed: u64) -> Trade {
    let config = Config { frame: 1000 + 15, window: 128, overhead: 0, ..Config::default() };
    trade(config, schedule, Link { rate, rtt: ms(150), eps: 0.05, back: 0.05 }, seed)
}

/// At 400 kb/s the bursts nearly fill the link (the paper's experiment 4); at 1 Mb/s they leave most of it free.
#[test]
fn in_order_delivery_waits_less_than_with_retransmission_alone() {
    for rate in [Rate::from_bps(400_000), Rate::from_mbps(1)] {
        for seed in 1..=3 {
            let [ours, arq] = [run(cost_based, rate, seed), run(|| Arq, rate, seed)];
            let what = format!("{rate}, seed {seed}");
            assert!(ours.mean() < arq.mean(), "{what}: {} ms against {} ms", ours.mean(), arq.mean());
            let [tail, than] = [&ours, &arq].map(|trade| trade.percentile(95));
            assert!(tail < than, "{what}: {tail} against {than}");
            assert!(ours.delays[0] >= ms(75) && arq.delays[0] >= ms(75), "nothing is faster than the path");
        }
    }
}
