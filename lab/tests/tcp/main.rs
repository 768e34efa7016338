//! What a TCP sender and a TCP receiver do to each other over virtual time: one rule a story.

mod any_path;
mod basics;
mod dialect;
mod formulas;
mod pair;
mod repairs;
