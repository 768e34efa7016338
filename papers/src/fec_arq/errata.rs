//! Errors in the paper's text.

use crate::erratum::{Erratum, erratum};

/// All errors that were found.
pub const ERRATA: &[Erratum] = &[
    erratum(
        "§II-E, costs",
        "3.8838, 2.4255, 5.3622, 6.0465",
        "Eq. (6) gives 2.6721, 1.8700, 3.7913, 4.8243; the printed numbers need E - D one larger in the second term, as the \
         sentence behind Eq. (6) reads D. The decisions are the same (certain)",
    ),
    erratum("Eq. (5)", "(Q + l - D) / (1 - eps)", "(Q + l - D + 1) / (1 - eps); only then Eq. (6) follows (certain)"),
    erratum(
        "§II-B",
        "Q is the expected number of missing packets",
        "the expected rank deficiency: .0905 and .5000 of the example are (certain)",
    ),
    erratum("§IV", "S = PB / G", "S = P V / G (certain)"),
    erratum("§IV, W = 32", "since S > T", "since S > R (certain)"),
    erratum(
        "§IV, experiments 1 to 4",
        "Table IV",
        "Table II, and Table III for the fourth; the percentages fit (certain)",
    ),
    erratum(
        "§IV, experiment 4",
        "the cost function gains no advantage",
        "Table III has it worse at 90 % in the second row, .46 against .41, and better at 95 and 99 % (certain)",
    ),
    erratum(
        "§III-A, Eq. (9)",
        "FEC packets minus lost packets",
        "w + sum p is the expected number of useless packets; packets in flight that will be lost count as if they arrived \
         (certain)",
    ),
    erratum("§IV", "U_MAX = 10", "1000 %, which never binds; the text elsewhere counts in shares (certain)"),
    erratum(
        "Tables II, III",
        "the cost rows",
        "do not follow from Eq. (6) as its example has it: U is .1 higher; its second term times .2 fits (likely)",
    ),
    erratum(
        "Tables II, III, SDD",
        "delay to the receiver",
        "has the whole round trip in it: the bound of the first row is .15 + 9 T (certain)",
    ),
    erratum(
        "Table II, ARQ",
        "1.79, 2.55",
        "no multiples of 10 ms, so retransmissions keep to a timer that the paper does not tell (certain)",
    ),
];
