//! GENEVA's pair of end nodes across a path.

mod bytes;
mod network;
mod pair;
