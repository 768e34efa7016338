//! Thalweg's workbench: experiments of the lab with many settings and seeds, on all processors, and their results.
//!
//! `thalweg lab` is built on this crate, and programs can use it the same way: a [`source::Source`] is a scenario, a
//! [`campaign::Campaign`] has its variants and seeds, and [`run::run`] performs it. An [`output::Output`] writes the
//! results in the order of the runs, whatever the order in which they end. A [`sweep::Sweep`] keeps each run in a file of
//! its own ([`part`]), so that it can be interrupted, and divided among machines.
//!
//! ```
//! use thalweg_workbench::campaign::Campaign;
//! use thalweg_workbench::output::Output;
//! use thalweg_workbench::pool::Pool;
//! use thalweg_workbench::run;
//! use thalweg_workbench::source::Source;
//!
//! let settings = [("n_tcp", "3"), ("duration_s", "4"), ("warmup_s", "3")];
//! let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
//! let blueprint = Source::find("dumbbell")?.blueprint(&settings)?;
//! let campaign = Campaign { variants: vec![("geneva".to_owned(), blueprint)], seeds: vec![1, 2] };
//! let results = run::run(&campaign, &Output::none(), Pool::of(2))?;
//!
//! let goodput = results.of(0).map(|run| run.value("tcp_goodput_mbps"));
//! assert!(goodput.into_iter().all(|mbps| mbps > 1.0));
//! # Ok::<(), thalweg_workbench::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod advise;
pub mod campaign;
mod error;
pub mod frame;
pub mod intervals;
pub mod output;
pub mod part;
pub mod pool;
pub mod record;
pub mod replay;
pub mod run;
pub mod source;
pub mod sweep;

pub use self::error::{Error, FileError};
