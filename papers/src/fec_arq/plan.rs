//! The runs of the evaluation.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::case::{Case, Path};
use super::channel::Channel;
use super::contender::{Contender, Strategy, Variant};
use super::outcome::Outcome;
use super::recording::Recording;
use super::session;
use super::slots::{self, Knowledge};
use super::ticks::{A_SECOND, SLOT};

/// The size of the evaluation.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Bursts per run.
    pub bursts: u64,
    /// The number of seeds, the same for every strategy: 1, 2, ...; [`Plan::fresh`] has as many.
    pub seeds: u64,
    /// The recordings that replace the paper's trace.
    pub recordings: Vec<Recording>,
}

/// Sessions run this share of the bursts of the slot model.
const SESSION_SHARE: u64 = 4;

/// No choice was made with seeds above this.
const UNSEEN: u64 = 100;

/// One run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Job {
    /// The conditions.
    pub case: Case,
    /// The strategy and its reading.
    pub contender: Contender,
    /// The seed of the losses; on a recording, the number from which the starting slot is computed.
    pub seed: u64,
}

impl Plan {
    /// The full evaluation: so many bursts that percentiles are stable to within a slot.
    pub fn paper(recordings: Vec<Recording>) -> Plan {
        Plan { bursts: 20_000, seeds: 5, recordings }
    }

    /// A quick run of everything.
    pub fn quick(recordings: Vec<Recording>) -> Plan {
        Plan { bursts: 1_000, seeds: 2, recordings }
    }

    /// The seeds of everything except [`Plan::fresh`].
    pub fn usual(&self) -> RangeInclusive<u64> {
        1..=self.seeds
    }

    /// The seeds on which Thalweg's own law is judged: they were not used or looked at while the law was developed.
    pub fn fresh(&self) -> RangeInclusive<u64> {
        UNSEEN + 1..=UNSEEN + self.seeds
    }

    /// All jobs that tables, figures and claims read, each once.
    pub fn jobs(&self) -> Vec<Job> {
        let mut pairs = BTreeSet::new();
        let mut add = |cases: &[Case], strategies: &[Strategy], variants: &[Variant]| {
            for (case, strategy) in cases.iter().flat_map(|case| strategies.iter().map(move |it| (*case, *it))) {
                pairs.extend(variants.iter().map(|variant| (case, Contender::new(strategy, *variant))));
            }
        };
        let all = [Strategy::Arq, Strategy::Opportunistic, Strategy::Cost, Strategy::Bound, Strategy::Ours];
        add(&Case::TABLE_2, &all, &Variant::ALL);
        add(&Case::TABLE_3, &all, &Variant::ALL);
        add(&Case::sessions(), &Strategy::SESSION, &[Variant::Session]);
        add(&Case::BOUNDS, &[Strategy::Cost, Strategy::Ours], &Variant::SHOWN);
        let compared = Strategy::PAPER.into_iter().chain([Strategy::Ours]).collect::<Vec<_>>();
        add(&Case::LOSSES, &compared, &Variant::SHOWN);
        add(&Case::BURSTS, &compared, &Variant::SHOWN);
        add(&[Case::WIDE], &[Strategy::Opportunistic, Strategy::Cost], &Variant::SHOWN);
        let recorded: Vec<Case> = (0..self.recordings.len()).map(Case::recorded).collect();
        add(&recorded, &all, &Variant::SHOWN);
        let of = |seed| pairs.iter().map(move |(case, contender)| Job { case: *case, contender: *contender, seed });
        self.usual().flat_map(of).chain(self.beside_the_bound()).collect()
    }

    /// The jobs that are read only for the comparison with the bound: Thalweg's own law on seeds that were not used to
    /// choose it, and with the overhead that a tunnel allows on all seeds.
    fn beside_the_bound(&self) -> Vec<Job> {
        let fresh = || self.fresh().filter(|seed| !self.usual().contains(seed));
        let of = |seed, cases: [Case; 6], contender| cases.map(|case| Job { case, contender, seed });
        let both = |seed| [Contender::BOUND, Contender::OURS].map(|contender| of(seed, Case::rows(), contender));
        let bounded = self.usual().chain(fresh()).map(|seed| of(seed, Case::tunnelled(), Contender::OURS));
        fresh().flat_map(both).chain(bounded).flatten().collect()
    }

    /// Runs a job.
    ///
    /// # Errors
    /// An error names the thing that the plan does not have.
    pub fn run(&self, job: &Job) -> Result<Outcome, String> {
        let Job { case, contender, seed } = job;
        if contender.variant == Variant::Session {
            return session::run(case, contender.strategy, *seed, self.bursts.div_ceil(SESSION_SHARE));
        }
        let refused = |error: &dyn core::fmt::Display| format!("{case}: {error}");
        let mut law = contender.law(case).map_err(|error| refused(&error))?;
        let (channel, knowledge) = match case.path {
            Path::Random { percent, rtt_ms } => {
                let channel =
                    Channel::Random { seed: *seed, eps: f64::from(percent) / 100.0, rtt: rtt_ms * A_SECOND / 1000 };
                (channel, Knowledge::Given)
            }
            Path::Shared { .. } => return Err(refused(&"a shared link is for sessions")),
            Path::Recorded(nth) => {
                let recording = self.recordings.get(nth).ok_or_else(|| refused(&"no such recording"))?;
                let trips = recording.trips.clone();
                // Each seed begins at a different slot.
                let offset = trips.len() as u64 * (seed - 1) / self.seeds.max(1);
                let knowledge = contender.knowledge().map_err(|error| refused(&error))?;
                (Channel::Recorded { trips, offset }, knowledge)
            }
        };
        let source = case.source(self.bursts_of(case));
        Ok(slots::run(source, &channel, contender.timeout(case), knowledge, &mut law))
    }

    /// The number of bursts. A recording is used at most twice over.
    fn bursts_of(&self, case: &Case) -> u64 {
        match case.path {
            Path::Random { .. } | Path::Shared { .. } => self.bursts,
            Path::Recorded(nth) => {
                let slots = self.recordings.get(nth).map_or(0, |it| it.trips.len() as u64);
                self.bursts.min(2 * slots * SLOT / case.gap())
            }
        }
    }
}
