//! Readings at regular intervals: the state of the endpoints of each flow and of the queues of each hop.

use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Place, Recorder, Run};

/// The shortest interval: no value changes more often than packets arrive.
pub const LEAST_INTERVAL: Span = Span::from_millis(1);

/// One value at the end of an interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reading<'a> {
    /// The simulated time.
    pub at: Time,
    /// The place at which the value is measured.
    pub place: Place,
    /// The name of the flow's group; empty for a hop.
    pub group: &'a str,
    /// The name of the value. docs/lab.md lists them.
    pub probe: &'static str,
    /// The value; counts are those since the last reading.
    pub value: f64,
}

/// The readings of one run.
#[derive(Clone, Debug)]
pub struct Intervals {
    every: Span,
    recorder: Recorder,
}

impl Intervals {
    /// Readings of `run` every `every` from now on, and at its end.
    pub fn new(every: Span, run: &Run) -> Intervals {
        Intervals { every, recorder: Recorder::new(run) }
    }

    /// The end of the interval in which `now` is.
    pub fn next(&self, now: Time) -> Time {
        Time::ZERO + self.every * (now.as_nanos() / self.every.as_nanos() + 1)
    }

    /// Visits the readings of a run that stands at `now`, unless that is within an interval.
    pub fn look(&mut self, now: Time, run: &Run, visit: &mut dyn FnMut(&Reading<'_>)) {
        if !now.as_nanos().is_multiple_of(self.every.as_nanos()) && now != run.end() {
            return;
        }
        self.recorder.look(run, &mut |place, probe, value| {
            let group = match place {
                Place::Flow(flow, _) => run.group_of(flow).map_or("", |group| run.groups()[group].name.as_str()),
                Place::Hop(..) => "",
            };
            visit(&Reading { at: now, place, group, probe, value });
        });
    }
}
