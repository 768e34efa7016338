//! A candidate, tried on a measured path in the lab.

use thalweg_core::time::Span;

use super::candidate::{Candidate, Media};
use super::measured::Measured;
use super::outcome::Outcome;
use super::world::World;
use crate::Error;
use crate::pool::Task;

/// The parts into which the time of a trial is divided. Ours: longer than most groups of losses, and enough of them.
const PARTS: usize = 100;

/// The time after the media in which its last packets arrive, beside the latency.
const AFTER: Span = Span::from_secs(1);

/// A stream over a measured path.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The path.
    pub path: &'a Measured,
    /// The media.
    pub media: Media,
    /// The seed of the sessions.
    pub seed: u64,
}

/// The trial of one candidate; it takes as long, in simulated time, as the measurement took.
#[derive(Debug)]
pub struct Trial {
    world: World,
    latency: Span,
    group: f64,
    done: usize,
}

impl Setting<'_> {
    /// The trial of `candidate`.
    ///
    /// # Errors
    /// The path file has a fault.
    pub fn trial(&self, candidate: &Candidate) -> Result<Trial, Error> {
        let paths = self.path.scenario(self.seed)?;
        let part = self.path.duration() / PARTS as u64;
        let world = World::new(paths, self.media, candidate, (part, PARTS));
        Ok(Trial { world, latency: candidate.latency, group: self.path.group(), done: 0 })
    }

    /// The length of each trial, for [`crate::pool::run`].
    pub const LENGTH: u64 = PARTS as u64 + 1;
}

impl Task for Trial {
    type Record = Outcome;
    type Error = Error;

    fn length(&self) -> u64 {
        Setting::LENGTH
    }

    fn done(&self) -> u64 {
        self.done as u64
    }

    fn advance(&mut self) -> Result<(), Error> {
        self.world.run_part(self.done);
        self.done += 1;
        Ok(())
    }

    fn finish(self) -> Result<Outcome, Error> {
        Ok(Outcome::of(&self.world.finish(self.latency + AFTER), self.group))
    }
}
