//! The share of useless packets stays below its bound, also where acknowledgements are lost.

use thalweg_core::law::schedule::adaptive::{Adaptive, Parameters};
use thalweg_core::session::stream::Config;
use thalweg_core::units::Rate;

use crate::lossless::bursts::{Link, Trade, trade};
use crate::lossless::story::ms;

/// Bursts over 150 ms; at 50 Mb/s each ends before the next one begins.
fn run(u_max: f64, [eps, back]: [f64; 2], seed: u64) -> Trade {
    let ours = || Adaptive::new(Parameters { u_max, ..Parameters::default() }).expect("in range");
    let link = Link { rate: Rate::from_mbps(50), rtt: ms(150), eps, back };
    trade(Config::default(), ours, link, seed)
}

/// No packet is lost on the forward path, so all retransmissions are useless. The end of a burst, one packet in nine,
/// would be retransmitted for each lost acknowledgement of it: 0.15 / 9 is more than one in a hundred. Two
/// acknowledgements are both lost with 0.15².
#[test]
fn a_way_back_that_loses_acknowledgements_makes_for_little_that_is_in_vain() {
    for seed in 1..=3 {
        let ours = run(0.0, [0.0, 0.15], seed);
        assert!(ours.useless < 0.01, "seed {seed}: {} useless packets for each", ours.useless);
        assert!(ours.accounted < 0.01, "seed {seed}: {} accounted for", ours.accounted);
    }
}

#[test]
fn the_bound_on_what_is_useless_holds_with_losses_both_ways() {
    for u_max in [0.0, 0.1, 0.3] {
        for seed in 1..=3 {
            let ours = run(u_max, [0.15, 0.15], seed);
            assert!(ours.useless < u_max + 0.01, "seed {seed}: {} useless packets for each", ours.useless);
            assert!((ours.useless - ours.accounted).abs() < 0.01, "{} accounted for {}", ours.accounted, ours.useless);
        }
    }
}
