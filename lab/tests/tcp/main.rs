//! What a TCP sender and a TCP receiver do to each other over virtual time: one rule a story.

mod basics;
mod pair;
