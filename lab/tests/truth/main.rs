//! What queueing theory and physics say of every run.

mod bounds;
mod intervals;
mod queues;
