//! What queueing theory and physics say of every run.

mod bounds;
mod digest;
mod intervals;
mod queues;
