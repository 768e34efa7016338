//! The controls of the three streams.

use crate::figure;
use crate::page::Tone;

/// A control of the streams.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Contender {
    /// TFRC: alpha of 1 and beta of 1/2 for all.
    Tfrc,
    /// GCA with alpha = M² and beta = 1/2, where M is the need over the mean need.
    Squares,
    /// GCA on the line beta = alpha / 2, on which the paper's examples lie, with values that fit Table III.
    Diagonal,
    /// GCA with parameters that are solved anew each second: `thalweg share` with `coupling = "measured"`.
    Measured,
    /// The same with `norm = "max"`: no stream is greedier than a TCP.
    MeasuredMax,
    /// The same with `norm = "min"`: none is less greedy than a TCP.
    MeasuredMin,
    /// TFRC with rates coupled by RFC 8699, and needs as priorities.
    Rfc8699,
    /// NADA, RFC 8698, with needs as priorities.
    Nada,
}

impl Contender {
    /// All of them.
    pub const ALL: [Contender; 8] = [
        Contender::Tfrc,
        Contender::Squares,
        Contender::Diagonal,
        Contender::Measured,
        Contender::MeasuredMax,
        Contender::MeasuredMin,
        Contender::Rfc8699,
        Contender::Nada,
    ];
    /// The settings of GCA under which claims are judged.
    pub const OURS: [Contender; 3] = [Contender::Squares, Contender::Diagonal, Contender::Measured];

    /// The parameters of the scenario that it sets.
    pub(super) const fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Contender::Tfrc => &[],
            Contender::Squares => &[("alpha1", "2.25"), ("alpha2", "1"), ("alpha3", "0.25")],
            Contender::Diagonal => &[
                ("alpha1", "1.4"),
                ("beta1", "0.7"),
                ("alpha2", "1.2"),
                ("beta2", "0.6"),
                ("alpha3", "0.6"),
                ("beta3", "0.3"),
            ],
            Contender::Measured => &[("coupling", "measured")],
            Contender::MeasuredMax => &[("coupling", "measured"), ("norm", "max")],
            Contender::MeasuredMin => &[("coupling", "measured"), ("norm", "min")],
            Contender::Rfc8699 => &[("coupling", "rfc8699")],
            Contender::Nada => &[("nada", "true")],
        }
    }
}

impl figure::Subject for Contender {
    fn name(self) -> &'static str {
        match self {
            Contender::Tfrc => "TFRC",
            Contender::Squares => "GCA, squares",
            Contender::Diagonal => "GCA, diagonal",
            Contender::Measured => "GCA, measured",
            Contender::MeasuredMax => "GCA, measured, max",
            Contender::MeasuredMin => "GCA, measured, min",
            Contender::Rfc8699 => "RFC 8699",
            Contender::Nada => "NADA",
        }
    }

    fn tone(self) -> Tone {
        Tone(match self {
            Contender::Tfrc => 1,
            Contender::Squares | Contender::Diagonal => 3,
            Contender::Measured | Contender::MeasuredMax | Contender::MeasuredMin => 2,
            Contender::Rfc8699 => 5,
            Contender::Nada => 0,
        })
    }
}
