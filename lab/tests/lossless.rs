//! Lossless streams over the lab's paths: whatever happens to packets, the bytes arrive, in order and once.

mod bursts;
mod delay;
mod faults;
mod idle;
mod late;
mod overhead;
mod story;
mod trade;
