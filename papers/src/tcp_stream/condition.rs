//! The conditions that the paper varies, and those that it leaves open.

use core::fmt;

/// A path and the traffic that competes on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Condition {
    /// Fig. 3: ten videos, FTP and Poisson UDP of 30 Mb/s on a link of 100 Mb/s with a round-trip time of 100 to 140
    /// ms.
    Simulation {
        /// N: the number of FTP connections.
        n_ftp: u32,
        /// The queue in packets, which the paper does not state.
        queue: u32,
    },
    /// Fig. 5: one video on a link of 100 Mb/s with a round-trip time of 30 ms, beside one CUBIC connection from 30 s
    /// on.
    Testbed {
        /// The queue in packets, which the paper does not state.
        queue: u32,
    },
    /// Two videos on the path of Fig. 5; not in the paper.
    Pair {
        /// The queue in packets.
        queue: u32,
        /// The start of the second video, in seconds.
        second: u32,
        /// The end of the run, in seconds.
        end: u32,
    },
}

impl Condition {
    /// The scenario's name and text.
    pub(super) const fn scenario(self) -> (&'static str, &'static str) {
        macro_rules! scenario {
            ($file:literal) => {
                (concat!("papers/", $file), include_str!(concat!("../../../scenarios/papers/", $file)))
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
            Condition::Testbed { queue } => write!(f, "one video, queue of {queue}"),
            Condition::Pair { queue, second, .. } => write!(f, "two videos {second} s apart, queue of {queue}"),
        }
    }
}
