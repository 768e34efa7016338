//! Endpoints around the sessions of `thalweg-core`, as nodes.
//!
//! [`session::End`] calls the five methods of any session; an [`session::Application`] above it produces what the
//! session sends and takes what it delivers.

pub mod body;
pub mod bytes;
pub mod live;
pub mod lossless;
pub mod session;
pub mod stored;
pub mod tunnel;
