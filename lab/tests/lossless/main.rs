//! Lossless streams over the lab's paths: whatever happens to packets, the bytes arrive, in order and once.

mod delay;
mod faults;
mod story;
mod trade;
