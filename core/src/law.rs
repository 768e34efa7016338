//! The middle floor: one published law a file.

pub mod breaker;
pub mod redundancy;
pub mod window;
