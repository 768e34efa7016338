//! What the paper varies, and what it leaves open.

use core::fmt;

/// A path and what competes on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Condition {
    /// Fig. 3: ten films, FTP and Poisson UDP of 30 Mb/s on a link of 100 Mb/s with a round trip of 100 to 140 ms.
    Simulation {
        /// N: connections for FTP.
        n_ftp: u32,
        /// The queue, which the paper does not tell; packets.
        queue: u32,
    },
    /// Fig. 5: one film on a link of 100 Mb/s with a round trip of 30 ms, beside one CUBIC connection from 30 s on.
    Testbed {
        /// The queue, which the paper does not tell; packets.
        queue: u32,
    },
    /// Two films on the path of Fig. 5, which the paper does not have.
    Pair {
        /// The queue, packets.
        queue: u32,
        /// When the second starts, s.
        second: u32,
        /// When the run ends, s.
        end: u32,
    },
}

impl Condition {
    /// The scenario: its name, and its text.
    pub(super) const fn scenario(self) -> (&'static str, &'static str) {
        macro_rules! scenario {
            ($file:literal) => {
                (concat!("papers/", $file), include_str!(concat!("../../../../scenarios/papers/", $file)))
            };
        }
        match self {
            Condition::Simulation { .. } => scenario!("tcp-stream-s1.toml"),
            Condition::Testbed { .. } => scenario!("tcp-stream-s2.toml"),
            Condition::Pair { .. } => scenario!("tcp-stream-pair.toml"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Simulation { n_ftp, queue } => write!(f, "{n_ftp} FTP, queue of {queue}"),
            Condition::Testbed { queue } => write!(f, "one film, queue of {queue}"),
            Condition::Pair { queue, second, .. } => write!(f, "two films {second} s apart, queue of {queue}"),
        }
    }
}
