//! A candidate, tried on a measured path in the lab.

use core::convert::Infallible;

use thalweg_core::time::{Span, Time};
use thalweg_lab::node::Node;
use thalweg_lab::packet::Packet;
use thalweg_lab::path::Path;
use thalweg_lab::scenario::Scenario;

use super::candidate::{Candidate, Media};
use super::measured::Measured;
use super::outcome::Outcome;
use super::world::World;
use crate::Error;
use crate::pool::Task;

/// The parts into which the time of a trial is divided. Ours: longer than most groups of losses, and enough of them.
const PARTS: usize = 100;

/// The number of packets that find the round trip of a path, and the time from one to the next. Ours: a packet every 10 ms for
/// 20 s, as the default measurement takes.
const PROBES: (u32, Span) = (2000, Span::from_millis(10));

/// The time after the media in which its last packets arrive, beside the latency.
const AFTER: Span = Span::from_secs(1);

/// A path, and the media that is to pass it.
#[derive(Clone, Debug)]
pub struct Setting {
    paths: Scenario,
    round_trip: Span,
    media: Media,
    time: Span,
    /// The number of packets that one event loses after repair.
    group: f64,
}

/// The trial of one candidate.
#[derive(Debug)]
pub struct Trial {
    world: World,
    latency: Span,
    group: f64,
    done: usize,
}

impl Setting {
    /// A path that was measured, for as long as that took.
    ///
    /// # Errors
    /// The path file has a fault.
    pub fn measured(path: &Measured, media: Media) -> Result<Setting, Error> {
        // Repair fails for a burst as a whole, and a delayed report delays the repair of all losses of a round trip.
        let group = path.group().max(path.lost_per_round_trip());
        Ok(Setting { paths: path.scenario()?, round_trip: path.round_trip(), media, time: path.duration(), group })
    }

    /// A path of any elements, without a Wi-Fi cell, for `time`.
    pub fn of(paths: Scenario, time: Span, media: Media) -> Setting {
        let round_trip = least(paths.forward.clone()) + least(paths.reverse.clone());
        Setting { paths, round_trip, media, time, group: 1.0 }
    }

    /// The simulated time of each trial.
    pub fn time(&self) -> Span {
        self.time
    }

    /// The smallest round trip of the path.
    pub fn round_trip(&self) -> Span {
        self.round_trip
    }

    /// The trial of `candidate`.
    pub fn trial(&self, candidate: &Candidate) -> Trial {
        let part = self.time / PARTS as u64;
        let world = World::new(self.paths.clone(), self.media, candidate, (part, PARTS));
        Trial { world, latency: candidate.latency, group: self.group, done: 0 }
    }

    /// The length of each trial, for [`crate::pool::run`].
    pub const LENGTH: u64 = PARTS as u64 + 1;
}

/// The smallest delay of a packet of [`PROBES`]; zero if none arrives.
fn least(mut path: Path) -> Span {
    let sent = |nth: u32| Time::ZERO + PROBES.1 * u64::from(nth);
    let mut least = None;
    for nth in 0..PROBES.0 {
        path.accept(sent(nth), Packet::datagram(nth, Vec::new()));
        while let Some(at) = path.next().filter(|at| *at < sent(nth + 1)) {
            let delay = path.poll(at).map(|packet| at.since(sent(packet.flow)));
            least = least.into_iter().chain(delay).min();
        }
    }
    least.unwrap_or_default()
}

impl Task for Trial {
    type Record = Outcome;
    type Error = Infallible;

    fn length(&self) -> u64 {
        Setting::LENGTH
    }

    fn done(&self) -> u64 {
        self.done as u64
    }

    fn advance(&mut self) -> Result<(), Infallible> {
        self.world.run_part(self.done);
        self.done += 1;
        Ok(())
    }

    fn finish(self) -> Result<Outcome, Infallible> {
        Ok(Outcome::of(&self.world.finish(self.latency + AFTER), self.group))
    }
}
