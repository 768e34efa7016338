//! Thalweg's protocol: laws, codes, wire formats and sessions.
//!
//! This crate owns no socket, no clock, no thread and no global source of randomness. Time is a parameter, randomness a
//! forked [`rng::Rng`], and the same object runs in the lab and on the socket.
#![forbid(unsafe_code)]

pub mod code;
pub mod law;
pub mod probe;
pub mod rng;
pub mod rtt;
pub mod session;
pub mod time;
pub mod units;
pub mod wire;
