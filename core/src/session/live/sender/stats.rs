//! What a sender counts and shows.

use super::Sender;
use crate::probe::{Probe, Visitor};
use crate::session::live::second::Counters;
use crate::session::live::{Metric, counter, gauge};

/// Since the start.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Counts {
    pub(super) media_packets: u64,
    pub(super) media_bytes: u64,
    pub(super) unsent: u64,
    pub(super) sources: u64,
    /// Payload of the source packets.
    pub(super) source_bytes: u64,
    pub(super) repairs: u64,
    pub(super) wire_bytes: u64,
    pub(super) lost: u64,
    pub(super) delivered: u64,
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
            wire_bytes: self.wire_bytes - earlier.wire_bytes,
            lost: self.lost - earlier.lost,
            delivered: self.delivered - earlier.delivered,
            rejected: self.rejected - earlier.rejected,
            stray: self.stray - earlier.stray,
        }
    }
}

/// In the order of the probe.
pub(super) const METRICS: [Metric; 23] = [
    counter("media_packets_total", "media datagrams that the source has given"),
    counter("media_bytes_total", "bytes of these"),
    counter("unsent_packets_total", "media datagrams that never left: nobody there, too long, or too late"),
    counter("source_packets_total", "source packets that left"),
    counter("repair_packets_total", "repair packets that left"),
    counter("wire_bytes_total", "bytes that left, with control, IP and UDP headers"),
    counter("lost_packets_total", "source and repair packets reported lost"),
    counter("delivered_packets_total", "source and repair packets reported delivered"),
    counter("bursty_events_total", "runs of more than three lost packets in sending order"),
    gauge("loss_before_repair_ratio", "lost of lost and delivered packets in the last second"),
    gauge("overhead_ratio", "bytes that left over those of media that left, minus 1, in the last second"),
    gauge("repair_window_packets", "repair packets for one block of the law"),
    gauge("w_packets", "W of GENEVA's Eq. 1: packets under way"),
    gauge("ertt_seconds", "ERTT of GENEVA: smoothed round trip"),
    gauge("media_rate_bps", "media in the last second"),
    gauge("wire_rate_bps", "bytes that left in the last second"),
    gauge("block_packets", "source packets in one block of the law"),
    gauge("repair_limit_packets", "greatest repair window that the brake allows; NaN when it is off"),
    gauge("wanted_rate_bps", "media rate that the source was asked to come down to; NaN while it need not"),
    gauge("breaker_open", "1 when RFC 8083 would have the session end"),
    gauge("latency_bound_seconds", "latency from input to output that both ends keep"),
    counter("rejected_datagrams_total", "datagrams that were not understood or not believed"),
    counter("stray_datagrams_total", "datagrams of the stream from another address than the peer's"),
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
        let values: [f64; METRICS.len()] = [
            counts.media_packets as f64,
            counts.media_bytes as f64,
            counts.unsent as f64,
            counts.sources as f64,
            counts.repairs as f64,
            counts.wire_bytes as f64,
            counts.lost as f64,
            counts.delivered as f64,
            self.history.bursts as f64,
            self.second.ratio(|change| change.lost, |change| change.lost + change.delivered),
            self.second.ratio(|change| change.wire_bytes, |change| change.source_bytes) - 1.0,
            self.repair_window(),
            w,
            ertt,
            self.second.rate(|change| change.media_bytes),
            self.second.rate(|change| change.wire_bytes),
            self.protection.k().unwrap_or(f64::NAN),
            self.brake.limit().map_or(f64::NAN, |limit| self.protection.in_packets(limit)),
            self.wishes.rate.map_or(f64::NAN, |rate| rate.as_bps() as f64),
            f64::from(u8::from(self.breaker_is_open())),
            self.latency().as_secs_f64(),
            counts.rejected as f64,
            counts.stray as f64,
        ];
        for (metric, value) in METRICS.iter().zip(values) {
            visit(metric.name, value);
        }
    }
}
