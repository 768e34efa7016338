//! Tests of shedding.

mod ffmpeg;
mod packets;
mod pictures;

use thalweg_core::session::live::sender::MediaBudget;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::Shedder;
use crate::source::{LoopMode, TsSource};

/// A link that carries a constant rate, with a queue of at most `wait`.
struct Link {
    rate: Rate,
    wait: Span,
    queued: Bytes,
    drained: Time,
    longest: Bytes,
}

impl Link {
    fn budget(&mut self, now: Time) -> MediaBudget {
        let Bytes(left) = self.rate.bytes_in(now.since(self.drained));
        self.queued = Bytes(self.queued.0.saturating_sub(left));
        self.drained = now;
        MediaBudget { rate: self.rate, longest_wait: self.wait, queued: self.queued }
    }

    fn push(&mut self, bytes: usize) {
        self.queued += Bytes(bytes as u64);
        self.longest = self.longest.max(self.queued);
    }
}

/// The media that a link has carried.
struct Outcome {
    stream: Vec<u8>,
    pictures: u64,
    /// The longest wait in the queue.
    wait: Span,
}

/// The datagrams of a live source, with their due times.
fn datagrams(stream: &[u8]) -> Vec<(Span, Vec<u8>)> {
    let mut source = TsSource::new(LoopMode::Once);
    let mut datagrams = Vec::new();
    for chunk in stream.chunks(10_000) {
        while !source.wants() {
            datagrams.push(source.poll().map(|(due, bytes)| (due, bytes.to_vec())).unwrap());
        }
        source.push(chunk).unwrap();
    }
    source.finish().unwrap();
    while let Some((due, bytes)) = source.poll() {
        datagrams.push((due, bytes.to_vec()));
    }
    datagrams
}

/// Sheds `stream` on a link of `share` of its rate.
fn shed(stream: &[u8], share: f64, wait: Span) -> Outcome {
    let datagrams = datagrams(stream);
    let lasted = datagrams.last().unwrap().0;
    let rate = Rate::of(Bytes((stream.len() as f64 * share) as u64), lasted);
    let mut link = Link { rate, wait, queued: Bytes(0), drained: Time::ZERO, longest: Bytes(0) };
    let (mut shedder, mut left) = (Shedder::new(), Vec::new());
    for (due, datagram) in datagrams {
        let now = Time::ZERO + due;
        let kept = shedder.pass(now, &datagram, Some(&link.budget(now)));
        link.push(kept.len());
        left.extend_from_slice(kept);
    }
    Outcome { pictures: shedder.pictures(), wait: rate.time_for(link.longest), stream: left }
}

/// The datagrams that a link of `share` of the rate of `stream` carries, if those that would be late are dropped.
fn drop_late(stream: &[u8], share: f64, wait: Span) -> Vec<u8> {
    let datagrams = datagrams(stream);
    let lasted = datagrams.last().unwrap().0;
    let rate = Rate::of(Bytes((stream.len() as f64 * share) as u64), lasted);
    let mut link = Link { rate, wait, queued: Bytes(0), drained: Time::ZERO, longest: Bytes(0) };
    let mut left = Vec::new();
    for (due, datagram) in datagrams {
        let budget = link.budget(Time::ZERO + due);
        if budget.queued.0 + datagram.len() as u64 <= budget.capacity().0 {
            link.push(datagram.len());
            left.extend_from_slice(&datagram);
        }
    }
    left
}
