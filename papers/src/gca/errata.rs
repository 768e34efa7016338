//! Errors in the paper's text.

use crate::erratum::{Erratum, erratum};

/// All errors that were found.
pub const ERRATA: &[Erratum] = &[
    erratum(
        "§V-C",
        "rises of 69 and 24 %, falls of 21 and 56 %",
        "67.1, 21.3, 16.2 and 54.8 %, by Tables II and III (certain)",
    ),
    erratum("§V-B, §V-C", "starts from t = 0 s under TFRC, from 1 s under GCA", "the same for both (open)"),
    erratum(
        "§III-A",
        "of 18 Mb/s, equal shares give client 1 70 % of what it needs",
        "67 %; and shares limited by need satisfy all three, whose needs are 18 Mb/s together (certain)",
    ),
    erratum("Eq. (2)", "12", "3 RTO / RTT with RTO = 4 RTT, and b = 1, which is not said (certain)"),
    erratum(
        "§IV",
        "an exponential increase with beta",
        "at small p the square root of (1 + beta) / (1 - beta) (certain)",
    ),
    erratum("Table I", "32', 20' and 12', feet", "inches (certain)"),
    erratum(
        "§V-B",
        "an extremely poor PSNR of 40 dB",
        "40 dB between decoded pictures are good: the scale is not that of pictures (likely)",
    ),
];
