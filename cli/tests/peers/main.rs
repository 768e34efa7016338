//! Real peers: ffmpeg, GStreamer, VLC, Wireshark and another decoder of RFC 6865 against the binary as its users run it.
//!
//! They send and take pictures in real time, one test after the other, each with a margin that a busy machine does not
//! use up. All of them run with `THALWEG_TEST_ALL=1` only.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../core/tests/wire/pcap.rs"]
mod pcap;

mod clip;
mod lab;
mod lines;
mod lossy;
mod plain;
mod program;
mod routes;
mod soak;
mod stage;
mod tap;
mod wire;
