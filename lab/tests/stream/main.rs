//! GENEVA's pair of end nodes across a path.

mod bytes;
mod dumbbell;
mod experiment;
mod live;
mod network;
mod pair;
