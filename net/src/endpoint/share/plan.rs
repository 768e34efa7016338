//! The streams that a configuration asks for.

use std::fmt::Debug;

use thalweg_core::law::rate::share::{Coupling, Norm};
use thalweg_core::session::live::sender::Config;
use thalweg_core::units::Rate;

use crate::endpoint::{Retry, Shed};
use crate::error::Error;
use crate::media_url::MediaUrl;

/// The largest number of streams of a plan.
pub const MAX_STREAMS: usize = 32;

/// All streams, and their coupling.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The streams, 1 to [`MAX_STREAMS`], each with a name and a receiver of its own.
    pub streams: Vec<Planned>,
    /// The source of the parameters of each.
    pub coupling: Coupling,
    /// The greediness of all together.
    pub norm: Norm,
}

/// A stream of a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Planned {
    /// The name, unique in the plan.
    pub name: String,
    /// The name of the group, within which streams share.
    pub group: String,
    /// The average media rate that the stream needs.
    pub need: Rate,
    /// The highest media rate that the stream can use, at least [`Planned::need`].
    pub most: Rate,
    /// The source of the media.
    pub input: MediaUrl,
    /// The session, with a GCA law; its kind of media is that of the input.
    pub config: Config,
    /// The reaction to a failed session.
    pub retry: Retry,
    /// The media that is dropped where the input is faster than its share.
    pub shed: Shed,
}

impl Planned {
    /// True if a running stream of `other` need not begin anew.
    pub(super) fn is_same_stream(&self, other: &Planned) -> bool {
        (&self.input, &self.config, self.retry, self.shed) == (&other.input, &other.config, other.retry, other.shed)
    }
}

/// The source of plans.
pub trait Plans: Debug + Send {
    /// The next plan: at once the first, later a changed one; none while nothing has changed.
    fn poll(&mut self) -> Option<Result<Plan, Error>>;
}
