//! Real peers of the binary: ffmpeg, GStreamer, VLC, Wireshark and another decoder of RFC 6865.
//!
//! The tests send and receive video in real time, one after the other, each with a margin that a busy machine does not
//! use up. All of them run with `THALWEG_TEST_ALL=1` only.

#[path = "../../core/tests/wire/pcap.rs"]
mod pcap;

mod clip;
mod lab;
mod lines;
mod lossy;
mod plain;
mod program;
mod routes;
mod shared_path;
mod soak;
mod stage;
mod tap;
mod tunnels;
mod wire;
