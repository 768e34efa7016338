//! The evaluations of the papers.

mod bulk;
mod pages;
mod rivals;
mod tcp_stream;
