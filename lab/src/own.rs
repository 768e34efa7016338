//! Laws of one's own: congestion windows and repair that a program brings, beside those of `thalweg_core::law`.
//!
//! A law is described by its name and its constructor ([`Law`]), so that an experiment stays a plain value. Each flow of
//! a run has a law of its own, which the constructor makes from the flow's [`Context`]. A scenario names the law in
//! `tcp = ...` or `scheme = ...` ([`crate::scenario::Laws`]).
//!
//! Each call of a law may fail with a text, and each value that a law gives is checked. The first failure of a law is
//! its [`Fault`]: the law is dropped, the sender stands still, and the run ends ([`crate::experiment::Run::fault`]).
//!
//! ```
//! use thalweg_core::law::window::Acked;
//! use thalweg_core::time::Time;
//! use thalweg_lab::experiment::Run;
//! use thalweg_lab::own::{Window, WindowLaw};
//! use thalweg_lab::scenario::{Blueprint, Laws};
//!
//! /// One more segment for each acknowledgement, half of them after a loss.
//! struct Halving {
//!     cwnd: f64,
//! }
//!
//! impl WindowLaw for Halving {
//!     fn on_ack(&mut self, acked: &Acked) -> Result<(), String> {
//!         self.cwnd += f64::from(acked.newly) / self.cwnd;
//!         Ok(())
//!     }
//!
//!     fn on_loss(&mut self, _now: Time, flight: u32) -> Result<(), String> {
//!         self.cwnd = (f64::from(flight) / 2.0).max(2.0);
//!         Ok(())
//!     }
//!
//!     fn on_recovered(&mut self, _now: Time) -> Result<(), String> {
//!         Ok(())
//!     }
//!
//!     fn on_timeout(&mut self, _now: Time, _flight: u32, _again: bool) -> Result<(), String> {
//!         self.cwnd = 1.0;
//!         Ok(())
//!     }
//!
//!     fn cwnd(&self) -> Result<f64, String> {
//!         Ok(self.cwnd)
//!     }
//!
//!     fn ssthresh(&self) -> Result<f64, String> {
//!         Ok(self.cwnd)
//!     }
//! }
//!
//! let halving = Window::new("halving", |flow| Ok(Box::new(Halving { cwnd: flow.config.start.iw.into() })));
//! let text = r#"
//!     run = { duration = "20s", warmup = "10s" }
//!     access = { rate = "1gbit", near = "1ms", far = "1ms" }
//!     hop = [{ rate = "10mbit", queue = 50, delay = "9ms" }]
//!     flow = [{ kind = "tcp", tcp = "halving" }]
//! "#;
//! let laws = Laws::new(vec![halving], Vec::new())?;
//! let blueprint = Blueprint::parse_with("mine.toml", text, &[], &mut |_| Err("no files here".to_owned()), &laws)?;
//! let outcome = Run::new(&blueprint.experiment(1)?, 1)?.finish()?;
//! // The queue is longer than the bandwidth-delay product, so half a window still fills the link.
//! assert!((outcome.value("tcp_goodput_mbps") - 10.0 * 1460.0 / 1500.0).abs() < 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fault;
mod repair;
mod running;
mod window;

use core::fmt;
use std::sync::Arc;

use thalweg_core::rng::Rng;

pub use self::fault::Fault;
pub use self::repair::{Amounts, Blocks, Repair, RepairLaw, RunningRepair};
pub use self::running::Running;
pub use self::window::{MOST_SEGMENTS, RunningWindow, Values, Window, WindowLaw};

/// The flow for which a law is made.
#[derive(Clone, PartialEq, Debug)]
pub struct Context<C> {
    /// The initial state that the flow gives its law.
    pub config: C,
    /// The number of the flow in its run, from 0.
    pub flow: u32,
    /// The name of the flow's group.
    pub group: String,
    /// The law's random numbers, which derive from the seed, the group's name and the flow's number.
    pub rng: Rng,
}

type Constructor<L, C> = dyn Fn(&Context<C>) -> Result<Box<L>, String> + Send + Sync;

/// A law of one's own before it runs: its name, and its constructor. Two are equal if they have the same name and the
/// very same constructor: one, and its clones.
pub struct Law<L: ?Sized, C> {
    name: String,
    constructor: Arc<Constructor<L, C>>,
}

impl<L: ?Sized, C> Law<L, C> {
    /// A law of this name. Each run calls `constructor` once for each flow that has the law; its failure is a fault of
    /// the flow at time zero.
    pub fn new(
        name: impl Into<String>,
        constructor: impl Fn(&Context<C>) -> Result<Box<L>, String> + Send + Sync + 'static,
    ) -> Law<L, C> {
        Law { name: name.into(), constructor: Arc::new(constructor) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<L: ?Sized, C> Clone for Law<L, C> {
    fn clone(&self) -> Law<L, C> {
        Law { name: self.name.clone(), constructor: Arc::clone(&self.constructor) }
    }
}

impl<L: ?Sized, C> PartialEq for Law<L, C> {
    fn eq(&self, other: &Law<L, C>) -> bool {
        let constructors = [self, other].map(|law| Arc::as_ptr(&law.constructor));
        self.name == other.name && core::ptr::addr_eq(constructors[0], constructors[1])
    }
}

impl<L: ?Sized, C> fmt::Debug for Law<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Law").field("name", &self.name).finish_non_exhaustive()
    }
}
