//! What a receiver counts and shows.

use core::fmt;

use hdrhistogram::Histogram;

use super::Receiver;
use crate::probe::{Probe, Visitor};
use crate::session::live::second::Counters;
use crate::session::live::{Metric, counter, gauge};
use crate::time::Span;

/// Since the start, over all streams.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Counts {
    pub(super) media_packets: u64,
    pub(super) media_bytes: u64,
    pub(super) sources: u64,
    pub(super) repairs: u64,
    pub(super) wire_bytes: u64,
    pub(super) recovered: u64,
    pub(super) residual: u64,
    pub(super) duplicates: u64,
    pub(super) late: u64,
    pub(super) early: u64,
    pub(super) rejected: u64,
    pub(super) stray: u64,
}

impl Counts {
    /// Source packets that did not come themselves.
    fn lost(&self) -> u64 {
        self.recovered + self.residual
    }

    /// Source packets whose fate is known.
    fn expected(&self) -> u64 {
        self.media_packets + self.residual
    }
}

impl Counters for Counts {
    fn since(&self, earlier: &Counts) -> Counts {
        Counts {
            media_packets: self.media_packets - earlier.media_packets,
            media_bytes: self.media_bytes - earlier.media_bytes,
            sources: self.sources - earlier.sources,
            repairs: self.repairs - earlier.repairs,
            wire_bytes: self.wire_bytes - earlier.wire_bytes,
            recovered: self.recovered - earlier.recovered,
            residual: self.residual - earlier.residual,
            duplicates: self.duplicates - earlier.duplicates,
            late: self.late - earlier.late,
            early: self.early - earlier.early,
            rejected: self.rejected - earlier.rejected,
            stray: self.stray - earlier.stray,
        }
    }
}

/// Latencies from input to output, in microseconds.
#[derive(Clone, PartialEq)]
pub(super) struct Latencies(Histogram<u64>);

impl Latencies {
    /// Longest latency told apart.
    const LONGEST: u64 = 60_000_000;

    pub(super) fn new() -> Latencies {
        Latencies(Histogram::new_with_bounds(1, Latencies::LONGEST, 3).expect("the bounds are in order"))
    }

    pub(super) fn record(&mut self, latency: Span) {
        self.0.saturating_record(latency.as_micros().max(1));
    }

    /// In seconds; NaN before the first packet.
    fn quantile(&self, quantile: f64) -> f64 {
        if self.0.is_empty() { f64::NAN } else { self.0.value_at_quantile(quantile) as f64 / 1e6 }
    }
}

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Latencies of {} packets", self.0.len())
    }
}

/// In the order of the probe.
pub(super) const METRICS: [Metric; 22] = [
    counter("media_packets_total", "media datagrams handed out"),
    counter("media_bytes_total", "bytes of these"),
    counter("source_packets_total", "source packets that came"),
    counter("repair_packets_total", "repair packets that came"),
    counter("wire_bytes_total", "bytes that came of the stream, with control, IP and UDP headers"),
    counter("lost_packets_total", "source packets that did not come in time themselves"),
    counter("recovered_packets_total", "lost source packets that repair brought back"),
    counter("residual_lost_packets_total", "source packets lost for good: the post-repair loss of RFC 7509"),
    counter("duplicate_packets_total", "source packets that came twice"),
    counter("late_packets_total", "source packets that came after they were given up or repaired"),
    counter("early_packets_total", "media datagrams handed out before their time, for want of memory"),
    counter("rejected_datagrams_total", "datagrams that were not understood or not believed"),
    counter("stray_datagrams_total", "datagrams of the stream from another address than the peer's"),
    gauge("loss_before_repair_ratio", "source packets lost before repair in the last second"),
    gauge("loss_after_repair_ratio", "source packets lost after repair in the last second (RFC 7509)"),
    gauge("overhead_ratio", "bytes that came over media bytes handed out, minus 1, in the last second"),
    gauge("latency_p50_seconds", "median latency from input to output"),
    gauge("latency_p99_seconds", "99th percentile of the latency from input to output"),
    gauge("latency_max_seconds", "greatest latency from input to output"),
    gauge("media_rate_bps", "media handed out in the last second"),
    gauge("wire_rate_bps", "bytes that came in the last second"),
    gauge("latency_bound_seconds", "latency from input to output that both ends keep"),
];

impl Probe for Receiver {
    fn probe(&self, visit: &mut Visitor<'_>) {
        let counts = &self.counts;
        let values: [f64; METRICS.len()] = [
            counts.media_packets as f64,
            counts.media_bytes as f64,
            counts.sources as f64,
            counts.repairs as f64,
            counts.wire_bytes as f64,
            counts.lost() as f64,
            counts.recovered as f64,
            counts.residual as f64,
            counts.duplicates as f64,
            counts.late as f64,
            counts.early as f64,
            counts.rejected as f64,
            counts.stray as f64,
            self.second.ratio(Counts::lost, Counts::expected),
            self.second.ratio(|change| change.residual, Counts::expected),
            self.second.ratio(|change| change.wire_bytes, |change| change.media_bytes) - 1.0,
            self.latencies.quantile(0.5),
            self.latencies.quantile(0.99),
            self.latencies.quantile(1.0),
            self.second.rate(|change| change.media_bytes),
            self.second.rate(|change| change.wire_bytes),
            self.latency().as_secs_f64(),
        ];
        for (metric, value) in METRICS.iter().zip(values) {
            visit(metric.name, value);
        }
    }
}
