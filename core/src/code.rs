//! Erasure codes.

pub mod reed_solomon;
pub mod rlc;
