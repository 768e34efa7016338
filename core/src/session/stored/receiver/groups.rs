//! The groups of packets as the receiver knows them.

use std::collections::VecDeque;

use crate::session::stored::receiver::arrivals::Arrivals;
use crate::time::Span;
use crate::wire::stored::{GroupReport, MAX_TRACKS};

/// The groups that are remembered: the measured one, those after it, and as many that are reported late.
const REMEMBERED: usize = 8;

/// A group.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Group {
    number: u32,
    /// The media time due before it and with it, if a report arrived.
    pub(super) due: Option<(Span, Span)>,
    /// For each track the number of the group's first packet: as reported, or the least that arrived.
    first: [Option<u64>; MAX_TRACKS],
}

/// The last groups.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Groups(VecDeque<Group>);

impl Groups {
    /// The group `number`, if anything of it arrived.
    pub(super) fn get(&self, number: u32) -> Option<&Group> {
        self.0.iter().find(|group| group.number == number)
    }

    fn entry(&mut self, number: u32) -> &mut Group {
        if let Some(at) = self.0.iter().position(|group| group.number == number) {
            return &mut self.0[at];
        }
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(Group { number, due: None, first: [None; MAX_TRACKS] });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Takes a report.
    pub(super) fn report(&mut self, report: &GroupReport<'_>, arrivals: &mut [Arrivals]) {
        let group = self.entry(report.number);
        group.due = Some((report.before, report.due));
        for ((first, arrivals), sequence) in group.first.iter_mut().zip(arrivals).zip(report.first_sequences()) {
            *first = Some(arrivals.first_of_group(sequence));
        }
    }

    /// Takes a packet of a track.
    pub(super) fn packet(&mut self, number: u32, track: usize, sequence: u64) {
        let group = self.entry(number);
        // Once reported, the first packet is known, and this one is not before it.
        group.first[track] = Some(group.first[track].map_or(sequence, |first| first.min(sequence)));
    }

    /// The number of each track's first packet in the group `number`.
    pub(super) fn first_of(&self, number: u32) -> Option<[Option<u64>; MAX_TRACKS]> {
        self.get(number).map(|group| group.first)
    }

    /// The packets that were sent in the group before `number`, and those of them that arrived without being asked for.
    /// None without an account of both groups.
    pub(super) fn measured(&self, number: u32, arrivals: &[Arrivals]) -> Option<(u64, u64)> {
        let (of, next) = (self.first_of(number.checked_sub(1)?)?, self.first_of(number)?);
        let bounds = of.into_iter().zip(next).zip(arrivals);
        let ranges = bounds.filter_map(|((of, next), arrivals)| Some((of?..next?, arrivals)));
        let counted = ranges.fold((0, 0), |(sent, received), (range, arrivals)| {
            (sent + range.end.saturating_sub(range.start), received + arrivals.received(range))
        });
        (counted.0 > 0).then_some(counted)
    }
}
