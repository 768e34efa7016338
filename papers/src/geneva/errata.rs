//! Errors in the paper's text.

use crate::erratum::{Erratum, erratum};

/// All errors that were found.
pub const ERRATA: &[Erratum] = &[
    erratum("§4.1, BDP", "1 Gbps x 0.1 s x (1500 x 8)", "a quotient; the value 8333.33 is right (certain)"),
    erratum("Eq. (8)", "the constant 2", "a, which is 2 here (certain)"),
    erratum("Eq. (6)", "a decrease without (1 - p)", "b (1 - p); Eq. (7) becomes b (1 - p) / p, 3 % at most (certain)"),
    erratum("Table 2, GENEVA, total data rate", "30.0", "42.9, as for the others (certain)"),
    erratum("Table 2, small static, total data loss", ".0039", ".0019 by its rows (they disagree for certain)"),
    erratum("Table 2, small static, total packet loss", ".016", ".017 by its rows (rounding)"),
    erratum(
        "Table 1, DP-FEC, packet loss",
        ".32, .23, .35, .25",
        "cannot stand beside a link loss of .024 to .030; per cent (likely)",
    ),
    erratum(
        "Table 2, W_tot",
        "143.75, 273.35, 413.25",
        "by Eq. (1) they need an ERTT of 32, 36 and 39 ms, where an RTT is 24 ms at most (they disagree for certain)",
    ),
    erratum("§4.2.2, DP-FEC at 100 ms", "TPindex lower by more than .49", "by .49 in one of the two cases (certain)"),
    erratum("Table 2, DP-FEC, TPindex", ".49", "its own windows leave TCP about .34 (likely)"),
    erratum(
        "§3.2.4",
        "i = 10 below 73 \"so as not to exceed\" half a TCP window",
        "i jumps from 10 to 15.37 at 73 and is above 10 until 76.9; the text is followed (certain)",
    ),
    erratum(
        "§3.2.3",
        "the window converges to W*",
        "above p_on = p_max - a SYN / ((8 + k)(ERTT + SYN)) it grows, and ten streams at Fwnd 60 overfill the link: a second \
         stable point (certain)",
    ),
    erratum("Fig. 11, caption", "p_tcp", "rho_tcp (certain)"),
];
