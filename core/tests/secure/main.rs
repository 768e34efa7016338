//! Secure associations over virtual time: two ends, a bad path, and people who mean no good.

mod attacks;
mod door;
mod ends;
mod world;
