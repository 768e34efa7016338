//! The result of a trial.

use thalweg_core::time::Span;

use super::estimate::{Interval, Loss};

/// The result of a stream: predicted, or measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Media packets.
    pub packets: u64,
    /// Those that were not delivered.
    pub lost: u64,
    /// Their share.
    pub loss: Loss,
    /// Bytes on the wire over bytes of media, minus 1.
    pub overhead: Interval,
    /// The 99th percentile of the latency from input to output, in seconds.
    pub p99: Interval,
}

/// Equal parts of the time, for intervals of bytes and latency. Ours: fewer have wide intervals, more are not independent.
const PARTS: usize = 10;

/// The media and the bytes of a part of the time.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Part {
    /// Media packets, and those of them that were lost.
    pub(super) packets: u64,
    pub(super) lost: u64,
    /// Bytes of media, and on the wire.
    pub(super) media: u64,
    pub(super) wire: u64,
    /// The latencies of the packets that were delivered.
    pub(super) latencies: Vec<Span>,
}

impl Part {
    fn overhead(&self) -> f64 {
        self.wire as f64 / self.media as f64 - 1.0
    }

    /// The 99th percentile of the latencies, in seconds; NaN without packets.
    fn p99(&self) -> f64 {
        let mut latencies = self.latencies.clone();
        let nth = latencies.len() * 99 / 100;
        if nth >= latencies.len() {
            return f64::NAN;
        }
        latencies.select_nth_unstable(nth).1.as_secs_f64()
    }

    fn add(&mut self, other: &Part) {
        self.packets += other.packets;
        self.lost += other.lost;
        self.media += other.media;
        self.wire += other.wire;
        self.latencies.extend_from_slice(&other.latencies);
    }
}

impl Outcome {
    /// The result of a stream, from equal parts of its time; where nothing is lost, losses would come in groups of `group`.
    pub(super) fn of(parts: &[Part], group: f64) -> Outcome {
        let mut whole = Part::default();
        let mut tenths = vec![Part::default(); PARTS];
        for (nth, part) in parts.iter().enumerate() {
            whole.add(part);
            tenths[nth * PARTS / parts.len()].add(part);
        }
        let losses: Vec<u64> = parts.iter().map(|part| part.lost).collect();
        Outcome {
            packets: whole.packets,
            lost: whole.lost,
            loss: Loss::of(whole.packets, &losses, group),
            overhead: Interval::of(whole.overhead(), tenths.iter().map(Part::overhead)),
            p99: Interval::of(whole.p99(), tenths.iter().map(Part::p99)),
        }
    }
}
