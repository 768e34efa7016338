//! A GStreamer pipeline whose encoder follows a rate: the other end of `thalweg send --input exec:`.
//!
//! The file of a pipeline is written as for `gst-launch-1.0`. By the convention of belacoder, the encoder of the video
//! has the name `venc_bps` or `venc_kbps`, after the unit of its property `bitrate`, and the pipeline ends in
//! `appsink name=appsink`, which gets MPEG-TS. [`run`] writes that to standard output, reads rates from standard input
//! ([`lines`]), measures what else the stream carries ([`budget`]), and sets the encoder ([`follower`]).
//!
//! [`run`] needs the feature `gstreamer`. Without it the interface is the same, and [`run`] fails with
//! [`Error::NotBuilt`].
#![forbid(unsafe_code)]

pub mod budget;
mod error;
pub mod follower;
pub mod lines;

#[cfg(feature = "gstreamer")]
mod encoder;
#[cfg(not(feature = "gstreamer"))]
#[path = "absent.rs"]
mod encoder;
#[cfg(feature = "gstreamer")]
mod output;
#[cfg(feature = "gstreamer")]
mod pipeline;
#[cfg(feature = "gstreamer")]
mod remedy;

pub use encoder::run;
pub use error::Error;

/// The example of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
