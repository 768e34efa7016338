//! Every claim, in the order of the paper, with its judge.

use super::{Claim, Gate, arithmetic, cells};

/// The paper's claims about numbers; "accept" gives the tolerance that the project allows.
pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "C-M1",
        gate: Gate::Exact,
        source: "§IV",
        text: "Eq. (2) at alpha = 1, beta = .5 is Eq. (1), with b = 1 and RTO = 4 RTT",
        judge: arithmetic::default_is_tfrc,
    },
    Claim {
        id: "C-M2",
        gate: Gate::Exact,
        source: "Fig. 3",
        text: "X grows with the square root of alpha, for every p",
        judge: arithmetic::grows_with_the_root_of_alpha,
    },
    Claim {
        id: "C-M3",
        gate: Gate::Exact,
        source: "Fig. 5",
        text: "alpha = .5, beta = .25 gives about half of TFRC (accept .52 to .56)",
        judge: arithmetic::first_pair_is_half,
    },
    Claim {
        id: "C-M4",
        gate: Gate::Exact,
        source: "Fig. 5",
        text: "alpha = 1.5, beta = .75 gives almost twice as much (accept 1.75 to 1.875)",
        judge: arithmetic::last_pair_is_almost_double,
    },
    Claim {
        id: "C-M5",
        gate: Gate::Exact,
        source: "Fig. 4",
        text: "X grows with beta",
        judge: arithmetic::grows_with_beta,
    },
    Claim {
        id: "C-T2a",
        gate: Gate::Hard,
        source: "Table II",
        text: "under TFRC clients 1 and 2 get alike (accept 10 %), and client 3 its 3 Mb/s (accept 10 % less)",
        judge: cells::first_two_are_equal,
    },
    Claim {
        id: "C-T2b",
        gate: Gate::Hard,
        source: "Table II",
        text: "under TFRC client 1 is less satisfied than client 2, and client 2 less than client 3",
        judge: cells::satisfaction_is_unequal,
    },
    Claim {
        id: "C-T2c",
        gate: Gate::Soft,
        source: "Table II",
        text: "under TFRC the background gets less than clients 1 and 2, but not far less (accept a third)",
        judge: cells::background_gets_less,
    },
    Claim {
        id: "C-T3a",
        gate: Gate::Hard,
        source: "Table III",
        text: "GCA brings the rates near 3 : 2 : 1 (accept 2.4 to 3.6 and 1.7 to 2.4; paper 2.82 : 2.08 : 1)",
        judge: cells::rates_follow_needs,
    },
    Claim {
        id: "C-T3b",
        gate: Gate::Hard,
        source: "Table III",
        text: "GCA brings the spread of satisfaction below .15, and below that of TFRC (paper .083 and .517)",
        judge: cells::satisfaction_is_even,
    },
    Claim {
        id: "C-T3c",
        gate: Gate::Hard,
        source: "Tables II, III",
        text: "from TFRC to GCA clients 1 and 2 rise, client 3 and the background fall",
        judge: cells::changes_have_their_directions,
    },
    Claim {
        id: "C-T3d",
        gate: Gate::Soft,
        source: "Tables II, III",
        text: "delay and jitter are alike for all clients, under both (accept 10 % and .2 ms)",
        judge: cells::delay_and_jitter_are_alike,
    },
    Claim {
        id: "C-T3e",
        gate: Gate::Hard,
        source: "Tables II, III",
        text: "PSNR is more even under GCA than under TFRC (by the estimate)",
        judge: cells::psnr_is_even,
    },
    Claim {
        id: "C-T3f",
        gate: Gate::Soft,
        source: "Table III",
        text: "GCA does not starve the background (accept 5 % of the cell; paper 7.1 %)",
        judge: cells::background_is_not_starved,
    },
];
