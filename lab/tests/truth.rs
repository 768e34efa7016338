//! Predictions of queueing theory and physics for every run.

mod bounds;
mod digest;
mod intervals;
mod queues;
