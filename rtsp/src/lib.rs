//! RTSP 1.0 (RFC 2326) without I/O, for both ends of a connection.
//!
//! | module | contents |
//! |---|---|
//! | [`message`] | requests and responses |
//! | [`decoder`] | received bytes to requests, responses and interleaved packets |
//! | [`transport`] | the header `Transport` |
//! | [`r3cp`] | the header `R3CP` of sessions that R3CP+ controls |
//! | [`url`] | URLs |
//! | [`client`] | the client of a connection |

pub mod client;
pub mod decoder;
pub mod message;
pub mod r3cp;
pub mod transport;
pub mod url;

/// The example of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
