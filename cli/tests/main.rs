//! The program, as its users run it.

mod advise;
mod calls;
mod commands;
mod common;
mod controls;
mod demo;
mod doctor;
mod emulate;
#[cfg(feature = "gstreamer")]
mod encode;
mod encoder;
mod encrypted;
mod faults;
mod keygen;
mod lab;
mod latency;
mod links;
mod media;
mod metrics;
mod peers;
mod play;
mod replay;
mod serve;
mod share;
mod stream;
mod toy;
mod tunnel;
mod usage;
