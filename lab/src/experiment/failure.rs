//! Runs without results.

use core::fmt;

use super::Kind;
use crate::check::Leak;
use crate::own::Fault;
use crate::stream::scheme::Scheme;
use crate::tcp;

/// The reason why a run has no results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// A law of one's own failed.
    Law(Fault),
    /// Packets were invented or forgotten: a fault of the lab.
    Leak(Leak),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Law(fault)
    }
}

impl From<Leak> for Failure {
    fn from(leak: Leak) -> Failure {
        Failure::Leak(leak)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Law(fault) => fault.fmt(f),
            Failure::Leak(leak) => leak.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl Kind {
    /// True if its flows run a law of one's own.
    pub(super) fn has_own_law(&self) -> bool {
        match self {
            Kind::Tcp(tcp) | Kind::Transfers(tcp, _) => matches!(tcp.law, tcp::Law::Own(_)),
            Kind::Stream(stream) => matches!(stream.scheme, Scheme::Own(_)),
            _ => false,
        }
    }
}
