//! The kernel's own TCP through `thalweg emulate --tun`: two network namespaces, and a cable between them.
//!
//! They need root and /dev/net/tun, take real time, and run with `THALWEG_TEST_ALL=1` only.

#[path = "../common/mod.rs"]
mod common;

mod bulk;
mod cable;
mod dumbbell;
mod goodput;
mod namespace;
mod refusals;
