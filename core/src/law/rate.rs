//! How fast may I send? Answers to that question, one a folder.
//!
//! A law here is a pair of endpoints, one that sends and one that reports, since a rate is decided by both. There is no
//! trait above them: what one of these pairs says to its other half is its own.

pub mod tfrc;
