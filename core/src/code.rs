//! Erasure codes.

pub mod reed_solomon;
