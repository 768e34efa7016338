//! A sender's counters and metrics.

use super::Sender;
use super::guard::LossCause;
use crate::metric::{Metric, counter, gauge, states};
use crate::probe::{Probe, Visitor};
use crate::session::live::interval_stats::Counters;

/// Counters since the start.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Counts {
    pub(super) media_packets: u64,
    pub(super) media_bytes: u64,
    pub(super) unsent: u64,
    pub(super) sources: u64,
    /// Payload bytes of the source packets.
    pub(super) source_bytes: u64,
    pub(super) repairs: u64,
    pub(super) resent: u64,
    /// Losses after repair that the law expected, in millionths.
    pub(super) expected_lost: u64,
    pub(super) wire_bytes: u64,
    pub(super) lost: u64,
    pub(super) delivered: u64,
    /// Losses after repair, and losses that repair recovered, as the receiver counts them.
    pub(super) residual: u64,
    pub(super) recovered: u64,
    pub(super) rejected: u64,
    pub(super) stray: u64,
}

impl Counters for Counts {
    fn since(&self, earlier: &Counts) -> Counts {
        Counts {
            media_packets: self.media_packets - earlier.media_packets,
            media_bytes: self.media_bytes - earlier.media_bytes,
            unsent: self.unsent - earlier.unsent,
            sources: self.sources - earlier.sources,
            source_bytes: self.source_bytes - earlier.source_bytes,
            repairs: self.repairs - earlier.repairs,
            resent: self.resent - earlier.resent,
            expected_lost: self.expected_lost - earlier.expected_lost,
            wire_bytes: self.wire_bytes - earlier.wire_bytes,
            lost: self.lost - earlier.lost,
            delivered: self.delivered - earlier.delivered,
            residual: self.residual - earlier.residual,
            recovered: self.recovered - earlier.recovered,
            rejected: self.rejected - earlier.rejected,
            stray: self.stray - earlier.stray,
        }
    }
}

/// Metrics in the order of the probe.
pub(super) const METRICS: [Metric; 32] = [
    counter("media_packets_total", "Media datagrams from the input"),
    counter("media_bytes_total", "Bytes of the media datagrams from the input"),
    counter("unsent_packets_total", "Media datagrams not sent: no receiver, too long, or too late"),
    counter("source_packets_total", "Source packets sent"),
    counter("repair_packets_total", "Repair packets sent: combinations of several source packets"),
    counter("resent_packets_total", "Source packets sent again"),
    counter("wire_bytes_total", "Bytes sent, with RTCP, IP and UDP headers"),
    counter("lost_packets_total", "Source and repair packets reported lost"),
    counter("delivered_packets_total", "Source and repair packets reported delivered"),
    counter(
        "recovered_packets_total",
        "Lost source packets that repair recovered, as the receiver reports: the repaired loss of RFC 7509",
    ),
    counter(
        "residual_lost_packets_total",
        "Source packets lost after repair, as the receiver reports: the post-repair loss of RFC 7509",
    ),
    counter("bursty_events_total", "Runs of more than three consecutive losses in sending order"),
    gauge("loss_before_repair_ratio", "Share of the reported packets that were lost, in the last second"),
    gauge(
        "loss_after_repair_ratio",
        "Share of the source packets lost after repair, in the receiver's last report (RFC 7509)",
    ),
    gauge(
        "expected_loss_ratio",
        "Share of the source packets that repair by its worth expects to stay lost, in the last second",
    ),
    states("loss_cause", LossCause::NAMES, "Cause of the loss: the path's own loss, or a full queue"),
    gauge("overhead_ratio", "Bytes sent over media bytes sent, minus 1, in the last second"),
    gauge("repair_window_packets", "Repair packets per block of the repair law"),
    gauge("w_packets", "W_tot of GENEVA's Eq. (1): packets in flight"),
    gauge("ertt_seconds", "ERTT of GENEVA: smoothed round-trip time"),
    gauge("media_rate_bps", "Rate of the media from the input, in the last second"),
    gauge("wire_rate_bps", "Rate of the bytes sent, in the last second"),
    gauge("block_packets", "Source packets per block of the repair law"),
    gauge("repair_limit_packets", "Maximum repair window that the brake allows; NaN while the brake is off"),
    gauge(
        "wanted_rate_bps",
        "Media rate that the source should not exceed; NaN without a rate law while it need not reduce",
    ),
    gauge("tcp_multiple", "Rate that GCA allows over that of a TCP on the same path; NaN under another law"),
    gauge("breaker_open", "1 while RFC 8083 requires the session to end"),
    gauge("latency_bound_seconds", "Latency from input to output that both ends keep"),
    gauge("latency_p50_seconds", "Median latency from input to output, as the receiver reports"),
    gauge("latency_p99_seconds", "99th percentile of the latency from input to output, as the receiver reports"),
    counter("rejected_datagrams_total", "Datagrams rejected: invalid or unauthenticated"),
    counter("stray_datagrams_total", "Datagrams of the stream from another address than the peer's"),
];

impl Probe for Sender {
    fn probe(&self, visit: &mut Visitor<'_>) {
        let counts = &self.counts;
        let (mut w, mut ertt) = (f64::NAN, f64::NAN);
        self.protection.probe(&mut |name, value| match name {
            "w" => w = value,
            "ertt" => ertt = value,
            _ => {}
        });
        let reported = |count: u64| if self.post_repair.is_known() { count as f64 } else { f64::NAN };
        let values: [f64; METRICS.len()] = [
            counts.media_packets as f64,
            counts.media_bytes as f64,
            counts.unsent as f64,
            counts.sources as f64,
            counts.repairs as f64,
            counts.resent as f64,
            counts.wire_bytes as f64,
            counts.lost as f64,
            counts.delivered as f64,
            reported(counts.recovered),
            reported(counts.residual),
            self.history.bursts as f64,
            self.interval.ratio(|change| change.lost, |change| change.lost + change.delivered),
            self.post_repair.loss(),
            self.interval.ratio(|change| change.expected_lost, |change| change.sources) / 1e6,
            self.guard.loss_cause().map_or(f64::NAN, |cause| f64::from(cause as u8)),
            self.interval.ratio(|change| change.wire_bytes, |change| change.source_bytes) - 1.0,
            self.repair_window(),
            w,
            ertt,
            self.interval.rate(|change| change.media_bytes),
            self.interval.rate(|change| change.wire_bytes),
            self.protection.k().unwrap_or(f64::NAN),
            self.guard.limit().map_or(f64::NAN, |limit| self.protection.in_packets(limit)),
            self.wanted_rate().map_or(f64::NAN, |rate| rate.as_bps() as f64),
            self.gca().map_or(f64::NAN, |gca| gca.multiplier()),
            f64::from(u8::from(self.guard.is_open())),
            self.latency().as_secs_f64(),
            self.delivery.map_or(f64::NAN, |delivery| delivery.p50.as_secs_f64()),
            self.delivery.map_or(f64::NAN, |delivery| delivery.p99.as_secs_f64()),
            counts.rejected as f64,
            counts.stray as f64,
        ];
        for (metric, value) in METRICS.iter().zip(values) {
            visit(metric.name, value);
        }
    }
}
