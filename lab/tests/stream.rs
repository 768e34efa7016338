//! GENEVA's pair of endpoints across a path.

mod bytes;
mod dumbbell;
mod experiment;
mod live;
mod network;
mod pair;
mod two_pairs;
