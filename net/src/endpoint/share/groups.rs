//! The groups of streams: measurements of their laws in one direction, parameters in the other.

use std::collections::{BTreeMap, VecDeque};

use thalweg_core::law::rate::share::{Coupling, Event, Group, MEASUREMENT_INTERVAL, MOST, Norm};
use thalweg_core::time::Time;

use super::stream::{Stream, of_stream};
use crate::report::Report;

/// Each group by its name.
#[derive(Debug)]
pub(super) struct Groups {
    coupling: Coupling,
    norm: Norm,
    groups: BTreeMap<String, Group>,
    /// The time of the next measurement.
    next: Time,
}

impl Groups {
    pub(super) fn new(coupling: Coupling, norm: Norm) -> Groups {
        Groups { coupling, norm, groups: BTreeMap::new(), next: Time::ZERO }
    }

    /// Changes the coupling of all groups; they begin anew if it is another one.
    pub(super) fn set(&mut self, now: Time, coupling: Coupling, norm: Norm, streams: &[Stream]) {
        if (coupling, norm) != (self.coupling, self.norm) {
            *self = Groups { next: self.next, ..Groups::new(coupling, norm) };
            streams.iter().filter(|stream| !stream.is_leaving()).for_each(|stream| self.join(now, stream));
        }
    }

    /// Adds a stream to its group, or changes its need.
    pub(super) fn join(&mut self, now: Time, stream: &Stream) {
        let Groups { coupling, norm, groups, .. } = self;
        let planned = &stream.planned;
        let group = groups.entry(planned.group.clone()).or_insert_with(|| Group::new(now, *coupling, *norm));
        // The plan has only needs above 0.
        let _ = group.handle_need(now, stream.id, planned.need, planned.most);
    }

    /// Removes a stream from its group. A group ends with its last stream.
    pub(super) fn leave(&mut self, now: Time, stream: &Stream) {
        if let Some(group) = self.groups.get_mut(&stream.planned.group) {
            group.handle_departure(now, stream.id);
        }
        self.groups.retain(|_, group| group.poll_timeout().is_some());
    }

    /// The time at which [`Groups::couple`] has work to do.
    pub(super) fn next(&self) -> Option<Time> {
        self.groups.values().filter_map(Group::poll_timeout).chain([self.next]).min()
    }

    /// Passes measurements to the groups, and the parameters that result to the streams.
    pub(super) fn couple(&mut self, now: Time, streams: &mut [Stream], reports: &mut VecDeque<Report>) {
        let is_due = now >= self.next;
        if is_due {
            self.next = now + MEASUREMENT_INTERVAL;
        }
        for stream in streams.iter_mut() {
            let Some(group) = self.groups.get_mut(&stream.planned.group) else { continue };
            let Some(state) = stream.session().gca() else { continue };
            if is_due {
                group.handle_measurement(now, stream.id, state.rtt, state.p);
            }
            if stream.allowed != Some(state.allowed) {
                stream.allowed = Some(state.allowed);
                group.handle_rate(stream.id, state.allowed);
            }
        }
        for group in self.groups.values_mut() {
            group.handle_timeout(now);
            while let Some(event) = group.poll_event() {
                apply(event, streams, reports);
            }
        }
    }
}

/// Applies an event to its stream, and reports it to people.
fn apply(event: Event, streams: &mut [Stream], reports: &mut VecDeque<Report>) {
    let (Event::Changed(id, _)
    | Event::Rate(id, _)
    | Event::Bounded(id, _)
    | Event::Unbounded(id)
    | Event::Apart(id)
    | Event::Together(id)) = event
    else {
        return;
    };
    let Some(stream) = streams.iter_mut().find(|stream| stream.id == id) else { return };
    let report = match event {
        Event::Changed(_, greediness) => return stream.set_greediness(greediness),
        Event::Rate(_, rate) => {
            stream.endpoint.set_allowed_rate(rate);
            stream.allowed = stream.session().gca().map(|state| state.allowed);
            return;
        }
        Event::Bounded(_, wanted) => {
            let text = format!("needs {wanted:.1} times the rate of a TCP, and gets at most {MOST}");
            Report::new("bounded", text).with_number("multiplier", wanted)
        }
        Event::Unbounded(_) => Report::new("unbounded", ""),
        Event::Apart(_) => Report::new("apart", "does not share the path of the others; it runs as gca:1"),
        Event::Together(_) => Report::new("together", "shares the path of the others again"),
        _ => return,
    };
    reports.push_back(of_stream(report, &stream.planned.name));
}
