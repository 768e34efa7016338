//! Errors in the paper's text.

use crate::erratum::{Erratum, erratum};

/// All errors that were found.
pub const ERRATA: &[Erratum] = &[
    erratum("§5.1, delay of the access links", "between 5 s and 15 s", "between 5 ms and 15 ms (certain)"),
    erratum(
        "§5.1, enumeration of Fig. 3",
        "(b) packet loss probability, (c) total throughput for FTP",
        "(b) throughput, (c) loss: so the captions and the discussion have it (certain)",
    ),
    erratum(
        "Eq. (1)",
        "ceil(Rate RTT / MSS), Rate in Mbit/s, packets in bytes",
        "MSS in bits, or Rate RTT / (8 MSS) (certain)",
    ),
    erratum(
        "reference [18], of TCP Vegas",
        "Gerla, Sanadidi, Wang, Zanella, Casetti, Mascolo",
        "Brakmo, O'Malley, Peterson; the names are those of TCP Westwood's authors (certain)",
    ),
    erratum(
        "Eq. (4) against §4",
        "alpha and beta above the ceiling, and dwnd that becomes almost zero beside NewReno",
        "with them Diff may reach the ceiling, and by delay alone the rate settles at Rate RTT / (RTT - tau): only losses \
         bring dwnd to zero. With 2 and 4, as Vegas has them, the text comes true (certain)",
    ),
];
