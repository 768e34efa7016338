//! The middle floor: one published law a file.

pub mod breaker;
mod parameter;
pub mod rate;
pub mod redundancy;
pub mod schedule;
pub mod window;

pub use parameter::ParameterError;
pub(crate) use parameter::within;
