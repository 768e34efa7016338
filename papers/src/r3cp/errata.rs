//! Errors in the paper's text.

use crate::erratum::{Erratum, erratum};

/// All errors that were found.
pub const ERRATA: &[Erratum] = &[
    erratum(
        "listing of TFCC",
        "max(throughput + INC, max_rate)",
        "min: with max the rate is never below max_rate (certain)",
    ),
    erratum(
        "Eqs. (4) to (6)",
        "gain and covariance with the vector that holds the new value",
        "the vector that made the prediction: with the printed one the error on an autoregressive series grows far above \
         the noise (certain)",
    ),
    erratum(
        "Eqs. (11) to (14)",
        "zeta_n, which depends on lambda_n, and twice",
        "zeta of the decisions already made (certain)",
    ),
    erratum(
        "Table 1, row UNLOADED",
        "lambda_max",
        "lambda_n, or a limit of the buffer: in Fig. 7 the flow takes what it needs, not its peak rate (likely)",
    ),
    erratum(
        "Table 1 against §3.2",
        "rates are reduced from the requested rate",
        "the text reduces the throughput, in two cells (open)",
    ),
    erratum("§4.2", "congestion at 8 s and 38 s", "8.5 and 38.5 s, as the figure has it (certain)"),
    erratum("§3.1", "an acknowledgement from the sender to the sender", "from the receiver (certain)"),
    erratum("§2", "Kalman filter", "recursive least squares (certain)"),
];
