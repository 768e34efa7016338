//! The server from outside.

mod catalog;
mod common;
mod frames;
mod http;
mod http3;
mod rtsp;
mod tls;
