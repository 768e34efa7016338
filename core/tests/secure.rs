//! Secure associations over virtual time: two ends, a faulty path, and attackers.

mod acceptor;
mod association;
mod attacks;
mod network;
