//! The groups of packets, each of which a flow control message has begun.

use std::collections::VecDeque;

use super::due::Due;
use crate::time::Span;
use crate::wire::stored::{GroupReport, Message};

/// The groups that each report describes: the newest, and those whose reports may have been lost.
const REPORTED: usize = 3;

/// A group of packets.
#[derive(Clone, PartialEq, Debug)]
struct Group {
    number: u32,
    before: Span,
    due: Span,
    first: u32,
    end: u32,
    sequences: Vec<[u8; 2]>,
}

/// The last groups, newest last.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Groups(VecDeque<Group>);

impl Groups {
    /// The number of the newest group; none before the first.
    pub(super) fn newest(&self) -> Option<u32> {
        self.0.back().map(|group| group.number)
    }

    /// Begins a group, with the next sequence number of each track.
    pub(super) fn begin(&mut self, number: u32, due: &Due, sequences: impl Iterator<Item = u16>) {
        let (before, first) = (due.media_time(), due.first_pending());
        let sequences = sequences.map(u16::to_be_bytes).collect();
        self.0.push_back(Group { number, before, due: before, first, end: due.next(), sequences });
        if self.0.len() > REPORTED {
            self.0.pop_front();
        }
    }

    /// Notes that the newest group includes all frames that are due now.
    pub(super) fn extend(&mut self, due: &Due) {
        if let Some(group) = self.0.back_mut() {
            (group.due, group.end) = (due.media_time(), due.next());
        }
    }

    /// The reports on the last groups, newest first, each as subtype and data of an APP packet.
    pub(super) fn reports(&self, due: &Due) -> impl Iterator<Item = (u8, Vec<u8>)> {
        self.0.iter().rev().map(|group| {
            let (first, frames) = due.described(group.first, group.end);
            let classes = GroupReport::classes_of(frames.iter().copied());
            let report = GroupReport {
                number: group.number,
                before: group.before,
                due: group.due,
                first,
                frames: frames.len() as u16,
                is_end: due.is_end() && group.end == due.next(),
                sequences: &group.sequences,
                classes: &classes,
            };
            Message::Report(report).emit()
        })
    }
}
