//! A receiver's counters and metrics.

use core::fmt;

use hdrhistogram::Histogram;

use super::Receiver;
use crate::metric::{Metric, counter, gauge};
use crate::probe::{Probe, Visitor};
use crate::session::live::interval_stats::Counters;
use crate::time::Span;

/// Counters since the start, over all streams.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Counts {
    pub(super) media_packets: u64,
    pub(super) media_bytes: u64,
    pub(super) sources: u64,
    pub(super) repairs: u64,
    pub(super) wire_bytes: u64,
    pub(super) recovered: u64,
    /// Those of them that a resend recovered.
    pub(super) resend_recovered: u64,
    pub(super) residual: u64,
    pub(super) duplicates: u64,
    pub(super) late: u64,
    pub(super) early: u64,
    pub(super) rejected: u64,
    pub(super) stray: u64,
}

impl Counts {
    /// Source packets lost before repair.
    fn lost(&self) -> u64 {
        self.recovered + self.residual
    }

    /// Source packets whose outcome is known.
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
            resend_recovered: self.resend_recovered - earlier.resend_recovered,
            residual: self.residual - earlier.residual,
            duplicates: self.duplicates - earlier.duplicates,
            late: self.late - earlier.late,
            early: self.early - earlier.early,
            rejected: self.rejected - earlier.rejected,
            stray: self.stray - earlier.stray,
        }
    }
}

/// Latencies from input to output of the stream that began last, in microseconds.
#[derive(Clone, PartialEq)]
pub(super) struct Latencies(Histogram<u64>);

impl Latencies {
    /// The longest latency that is recorded; longer ones count as this one. A minute in microseconds. Ours: six times
    /// the greatest latency of `thalweg send`.
    const LONGEST: u64 = 60_000_000;

    pub(super) fn new() -> Latencies {
        Latencies(Histogram::new_with_bounds(1, Latencies::LONGEST, 3).expect("the bounds are in order"))
    }

    pub(super) fn record(&mut self, latency: Span) {
        self.0.saturating_record(latency.as_micros().max(1));
    }

    /// Forgets all latencies.
    pub(super) fn clear(&mut self) {
        self.0.reset();
    }

    /// A quantile; none before the first packet.
    pub(super) fn quantile(&self, quantile: f64) -> Option<Span> {
        (!self.0.is_empty()).then(|| Span::from_micros(self.0.value_at_quantile(quantile)))
    }
}

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Latencies of {} packets", self.0.len())
    }
}

/// Metrics in the order of the probe.
pub(super) const METRICS: [Metric; 23] = [
    counter("media_packets_total", "Media datagrams delivered to the outputs"),
    counter("media_bytes_total", "Bytes of the media datagrams delivered to the outputs"),
    counter("source_packets_total", "Source packets received"),
    counter("repair_packets_total", "Repair packets received"),
    counter("wire_bytes_total", "Bytes of the stream received, with RTCP, IP and UDP headers"),
    counter("lost_packets_total", "Source packets that did not arrive in time, before repair"),
    counter("recovered_packets_total", "Lost source packets that repair recovered: the repaired loss of RFC 7509"),
    counter("resend_recovered_packets_total", "Lost source packets that were recovered by a resend, not a combination"),
    counter("residual_lost_packets_total", "Source packets lost after repair: the post-repair loss of RFC 7509"),
    counter("duplicate_packets_total", "Duplicates of source packets received"),
    counter("late_packets_total", "Source packets that arrived after they were given up or recovered"),
    counter("early_packets_total", "Media datagrams delivered before their playout time because the buffer was full"),
    counter(
        "rejected_datagrams_total",
        "Datagrams rejected: invalid, unauthenticated or from a sender that is not allowed",
    ),
    counter("stray_datagrams_total", "Datagrams of the stream from another address than the peer's"),
    gauge("loss_before_repair_ratio", "Share of the source packets lost before repair, in the last second"),
    gauge("loss_after_repair_ratio", "Share of the source packets lost after repair, in the last second (RFC 7509)"),
    gauge("overhead_ratio", "Bytes received over media bytes delivered, minus 1, in the last second"),
    gauge("latency_p50_seconds", "Median latency from input to output, of the last stream"),
    gauge("latency_p99_seconds", "99th percentile of the latency from input to output, of the last stream"),
    gauge("latency_max_seconds", "Maximum latency from input to output, of the last stream"),
    gauge("media_rate_bps", "Rate of the media delivered, in the last second"),
    gauge("wire_rate_bps", "Rate of the bytes received, in the last second"),
    gauge("latency_bound_seconds", "Latency from input to output that both ends keep"),
];

impl Probe for Receiver {
    fn probe(&self, visit: &mut Visitor<'_>) {
        let counts = &self.counts;
        let latency = |quantile| self.latencies.quantile(quantile).map_or(f64::NAN, Span::as_secs_f64);
        let values: [f64; METRICS.len()] = [
            counts.media_packets as f64,
            counts.media_bytes as f64,
            counts.sources as f64,
            counts.repairs as f64,
            counts.wire_bytes as f64,
            counts.lost() as f64,
            counts.recovered as f64,
            counts.resend_recovered as f64,
            counts.residual as f64,
            counts.duplicates as f64,
            counts.late as f64,
            counts.early as f64,
            counts.rejected as f64,
            counts.stray as f64,
            self.interval.ratio(Counts::lost, Counts::expected),
            self.interval.ratio(|change| change.residual, Counts::expected),
            self.interval.ratio(|change| change.wire_bytes, |change| change.media_bytes) - 1.0,
            latency(0.5),
            latency(0.99),
            latency(1.0),
            self.interval.rate(|change| change.media_bytes),
            self.interval.rate(|change| change.wire_bytes),
            self.latency().as_secs_f64(),
        ];
        for (metric, value) in METRICS.iter().zip(values) {
            visit(metric.name, value);
        }
    }
}
