//! Thalweg's lab: a deterministic packet-level network that runs the very objects of `thalweg-core`.
#![forbid(unsafe_code)]

pub mod check;
pub mod engine;
pub mod experiment;
pub mod network;
pub mod node;
pub mod packet;
pub mod paper;
pub mod path;
pub mod scenario;
pub mod statistics;
pub mod stream;
pub mod tcp;
pub mod tfrc;
pub mod traffic;
