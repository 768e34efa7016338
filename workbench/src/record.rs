//! Runs whose results stay in memory, with the readings of their probes in columns.

use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{End, Place, Run};
use thalweg_lab::network::Direction;

use crate::campaign::{Campaign, Finished};
use crate::error::Error;
use crate::intervals::{Intervals, LEAST_INTERVAL, Reading};
use crate::pool::{self, Pool};
use crate::run::{Faulted, Observer, Running, millis};

/// A run and its readings.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    /// The name of its variant.
    pub variant: String,
    /// The run.
    pub run: Finished,
    /// The readings of its flows; empty without an interval.
    pub flows: Readings<End>,
    /// The readings of its hops.
    pub hops: Readings<Direction>,
}

/// Readings in columns, which are equally long.
#[derive(Clone, PartialEq, Debug)]
pub struct Readings<Side> {
    /// The time of each, in seconds.
    pub at: Vec<f64>,
    /// The number of its flow, from 0, or of its hop, from 1.
    pub number: Vec<u64>,
    /// The end of the flow, or the direction of the hop.
    pub side: Vec<Side>,
    /// The index of its probe in `probes`.
    pub probe: Vec<u16>,
    /// Its value.
    pub value: Vec<f64>,
    /// The names of the probes.
    pub probes: Vec<&'static str>,
}

impl<Side> Default for Readings<Side> {
    fn default() -> Readings<Side> {
        let (at, number, side, probe, value) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Readings { at, number, side, probe, value, probes: Vec::new() }
    }
}

impl<Side> Readings<Side> {
    fn push(&mut self, reading: &Reading<'_>, number: u64, side: Side) {
        let probe = self.index(reading.probe);
        self.probe.push(probe);
        self.at.push(reading.at.as_secs_f64());
        self.number.push(number);
        self.side.push(side);
        self.value.push(reading.value);
    }

    /// The index of a probe. Probes follow each other in the same order, interval by interval.
    fn index(&mut self, probe: &'static str) -> u16 {
        let next = self.probe.last().map_or(0, |last| usize::from(*last) + 1);
        if self.probes.get(next) == Some(&probe) {
            return next as u16;
        }
        let found = self.probes.iter().position(|known| *known == probe);
        found.unwrap_or_else(|| {
            self.probes.push(probe);
            self.probes.len() - 1
        }) as u16
    }
}

/// The observer of a run that is recorded.
struct Recorder<'a> {
    variant: &'a str,
    intervals: Option<Intervals>,
    flows: Readings<End>,
    hops: Readings<Direction>,
}

impl Observer for Recorder<'_> {
    type Record = Result<Recorded, Faulted>;

    fn next(&self, now: Time) -> Option<Time> {
        self.intervals.as_ref().map(|intervals| intervals.next(now))
    }

    fn look(&mut self, now: Time, run: &mut Run) -> Result<(), Error> {
        let Recorder { intervals, flows, hops, .. } = self;
        if let Some(intervals) = intervals {
            intervals.look(now, run, &mut |reading| match reading.place {
                Place::Flow(flow, end) => flows.push(reading, flow.into(), end),
                // Scenarios count hops from 1.
                Place::Hop(hop, direction) => hops.push(reading, hop as u64 + 1, direction),
            });
        }
        Ok(())
    }

    fn finish(self, run: Finished) -> Result<Self::Record, Error> {
        let Recorder { variant, flows, hops, .. } = self;
        Ok(Ok(Recorded { variant: variant.to_owned(), run, flows, hops }))
    }

    fn fault(self, run: Faulted) -> Result<Self::Record, Error> {
        Ok(Err(run))
    }

    fn abandon(self) {}
}

/// Performs all runs, by variant and seed, and records them; with an interval, also their readings. Returns them, and those
/// that a law of one's own has ended by a fault; runs that an interruption left out are missing.
///
/// # Errors
/// [`Error::Parameter`] if the interval is too short; a run is impossible or finds a fault of the lab.
pub fn record(
    campaign: &Campaign,
    interval: Option<Span>,
    pool: Pool<'_>,
) -> Result<(Vec<Recorded>, Vec<Faulted>), Error> {
    if interval.is_some_and(|interval| interval < LEAST_INTERVAL) {
        return Err(Error::Parameter(format!("an interval must be at least {LEAST_INTERVAL}")));
    }
    let durations: u64 = campaign.experiments()?.iter().map(|it| millis(it.duration)).sum();
    let jobs = campaign.jobs();
    let recorded = pool::run(&jobs, durations * campaign.seeds.len() as u64, pool, |_, &(seed, variant)| {
        let (name, blueprint) = &campaign.variants[variant];
        Running::begin((variant, name), blueprint, seed, |run| {
            let intervals = interval.map(|every| Intervals::new(every, run));
            Ok(Recorder { variant: name, intervals, flows: Readings::default(), hops: Readings::default() })
        })
    })?;
    let (mut runs, mut faults) = (Vec::new(), Vec::new());
    for (_, recorded) in recorded {
        match recorded {
            Ok(run) => runs.push(run),
            Err(fault) => faults.push(fault),
        }
    }
    runs.sort_by_key(|it| (it.run.variant, it.run.seed));
    Ok((runs, faults))
}
