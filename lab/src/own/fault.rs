//! The failure of a law of one's own.

use core::fmt;

use thalweg_core::time::Time;

/// The first failure of a law: an error that a call returned, or a value out of range. It ends the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The number of the flow, from 0.
    pub flow: u32,
    /// The name of the flow's group.
    pub group: String,
    /// The simulated time; zero if the law's constructor failed.
    pub at: Time,
    /// The error as the law gave it, of one line or several, or the value and its range.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { flow, group, at, text } = self;
        write!(f, "flow {flow} ({group}), {} s: {text}", at.as_secs_f64())
    }
}

impl std::error::Error for Fault {}
