//! Every claim, in the order of the paper, with its judge.

use super::{Claim, Gate, arithmetic, sweeps, tables};

const fn claim(
    id: &'static str,
    gate: Gate,
    source: &'static str,
    text: &'static str,
    judge: fn(&super::Evaluator<'_>) -> Vec<super::Part>,
) -> Claim {
    Claim { id, gate, source, text, judge }
}

/// The paper's claims about numbers; "accept" gives the tolerance that the project allows around a number of the paper.
pub const CLAIMS: &[Claim] = &[
    claim(
        "F-M1",
        Gate::Exact,
        "§II-E",
        "p_l after a combination of four sent packets at eps .1: .9656 .9412 .9258 .9185",
        arithmetic::decodable,
    ),
    claim("F-M2", Gate::Exact, "§II-E", "Q after it .0905, after a new original .5000", arithmetic::missing),
    claim(
        "F-M3",
        Gate::Exact,
        "§II-E",
        "costs 3.8838 and 2.4255, 5.3622 and 6.0465 (the form of the example)",
        arithmetic::costs,
    ),
    claim(
        "F-M4",
        Gate::Exact,
        "§III",
        "110 packets for 95 originals at 5 % loss are an overhead of .10",
        arithmetic::overhead,
    ),
    claim(
        "F-3",
        Gate::Soft,
        "§II-D, Fig. 3",
        "the loss estimate follows the true rate (accept 15 % on average, windows of 100)",
        sweeps::estimate_follows,
    ),
    claim(
        "F-T2a",
        Gate::Hard,
        "§IV, Table II",
        "90 and 95 % of the delay: cost < no cost < ARQ in every row; cost at most 8 % from the table",
        tables::order,
    ),
    claim(
        "F-T2b",
        Gate::Hard,
        "§IV",
        "eps .15, D .40: the cost policy comes within 10 % of the bound at 90 and 95 %",
        tables::close_to_the_bound,
    ),
    claim(
        "F-T2c",
        Gate::Hard,
        "§IV",
        "first row: about 20 % of bursts at the full 500 kb/s under ARQ and no cost (accept .15 to .25), about 8 % under cost \
         (.05 to .11); at least 300 kb/s for 90 % of bursts under cost (.85 to .95), 70 % under no cost (.65 to .78)",
        tables::rates,
    ),
    claim(
        "F-W32",
        Gate::Hard,
        "§IV",
        "with W = 32 few combinations are sent (accept a tenth of all packets)",
        tables::wide,
    ),
    claim(
        "F-T3a",
        Gate::Hard,
        "§IV, Table III",
        "with S < R the cost policy has no advantage at 90 % over no cost (accept 7 %); both are near the bound at D .40 \
         (15 %)",
        tables::no_advantage,
    ),
    claim(
        "F-9",
        Gate::Hard,
        "§IV, Fig. 9",
        "delay falls as U_MAX grows, and the application's rate with it; U reaches about .39 (accept .34 to .44)",
        sweeps::bounds,
    ),
    claim(
        "F-T4",
        Gate::Soft,
        "§IV-A, Table IV",
        "on a recording with bursts: 99 % of the delay ARQ > no cost > cost > bound",
        tables::recorded,
    ),
    claim(
        "F-10",
        Gate::Hard,
        "§IV-B",
        "the gain of cost over no cost at 99 % grows with loss; no cost turns into ARQ (accept 90 % of its delay at 20 % loss)",
        sweeps::losses,
    ),
    claim("F-11", Gate::Hard, "§IV-C", "the gain grows with the length of a burst", sweeps::bursts),
];
