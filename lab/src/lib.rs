//! Thalweg's lab: a deterministic packet-level network simulator that runs the objects of `thalweg-core` themselves.
//!
//! `thalweg lab` is built on this crate, and programs can use it the same way: a [`scenario::Blueprint`] reads a
//! description, an [`experiment::Experiment`] is a description as a plain value, and an [`experiment::Run`] executes
//! one with a seed.
//!
//! ```
//! use thalweg_lab::experiment::Run;
//! use thalweg_lab::scenario::Blueprint;
//!
//! let text = r#"
//!     [run]
//!     duration = "3s"
//!     warmup = "1s"
//!
//!     [[hop]]
//!     rate = "10mbit"
//!     queue = 50
//!     delay = "9ms"
//!
//!     [access]
//!     rate = "1gbit"
//!     near = "1ms"
//!     far = "1ms"
//!
//!     [[flow]]
//!     name = "lone"
//!     kind = "tcp"
//!     tcp = "cubic"
//! "#;
//! let blueprint = Blueprint::parse("lone.toml", text, &[], &mut |_| Err("no files here".to_owned()))?;
//!
//! let seed = 1;
//! let outcome = Run::new(&blueprint.experiment(seed)?, seed)?.finish()?;
//!
//! // 1460 of every 1500 bytes are payload, and a queue this long keeps the link busy.
//! let goodput = outcome.value("tcp_goodput_mbps");
//! assert!((goodput - 10.0 * 1460.0 / 1500.0).abs() < 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A congestion window or a law of repair of a program's own runs beside those of `thalweg_core`: see [`own`].
//!
//! An endpoint, a link or a source of another kind is a [`node::Node`]: it accepts packets, reports the time of its
//! next event and emits packets. An [`engine::Engine`] moves the packets of any nodes; one line in `network/part.rs`
//! makes such a node available to a [`network::Network`], with its hops and flows.
#![forbid(unsafe_code)]

pub mod check;
pub mod end;
pub mod engine;
pub mod experiment;
pub mod network;
pub mod node;
pub mod own;
pub mod packet;
pub mod path;
pub mod scenario;
pub mod statistics;
pub mod stream;
pub mod tcp;
pub mod tfrc;
pub mod traffic;

/// The example of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
