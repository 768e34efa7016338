//! Interaction of a TCP sender and a TCP receiver over virtual time: one rule per story.

mod any_path;
mod basics;
mod dialect;
mod formulas;
mod pair;
mod repairs;
