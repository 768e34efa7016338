//! The congestion control law of a sender.

use core::fmt;

use thalweg_core::law::window::Choice;

use crate::own;

/// A law that is built in, or one of one's own.
#[derive(Clone, PartialEq, Debug)]
pub enum Law {
    /// A law of `thalweg_core::law::window`.
    BuiltIn(Choice),
    /// A law of one's own.
    Own(own::Window),
}

impl Default for Law {
    /// The law of RFC 5681.
    fn default() -> Law {
        Choice::default().into()
    }
}

impl From<Choice> for Law {
    fn from(choice: Choice) -> Law {
        Law::BuiltIn(choice)
    }
}

impl From<own::Window> for Law {
    fn from(own: own::Window) -> Law {
        Law::Own(own)
    }
}

impl fmt::Display for Law {
    /// The name, as in `tcp = ...` of scenarios.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Law::BuiltIn(choice) => choice.fmt(f),
            Law::Own(own) => f.pad(own.name()),
        }
    }
}
