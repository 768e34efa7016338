//! The metrics of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use thalweg_core::metric::{Metric, counter, gauge};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::units::Rate;

/// The transport of requests and answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Carrier {
    /// HTTP/1.1 over plain TCP.
    Tcp,
    /// HTTP/1.1 under TLS.
    Tls,
    /// HTTP/3.
    Quic,
}

/// Counters of one transport.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    pub(crate) connections: AtomicU64,
    pub(crate) requests: AtomicU64,
}

/// Counters shared by all connections.
#[derive(Debug, Default)]
pub struct Ledger {
    pub(crate) connections: AtomicU64,
    pub(crate) accepted: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) bad: AtomicU64,
    pub(crate) sent: AtomicU64,
    pub(crate) sent_bps: AtomicU64,
    pub(crate) playing: AtomicU64,
    pub(crate) playing_bps: AtomicU64,
    pub(crate) downloads: AtomicU64,
    pub(crate) paced: AtomicU64,
    pub(crate) changed: AtomicU64,
    pub(crate) stalled: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) displaced: AtomicU64,
    pub(crate) videos: AtomicU64,
    pub(crate) handshakes: AtomicU64,
    pub(crate) tls: Carried,
    pub(crate) quic: Carried,
}

impl Ledger {
    /// Every metric that [`Probe::probe`] shows.
    pub const METRICS: [Metric; 21] = [
        gauge("connections", "Open connections"),
        counter("connections_total", "Connections accepted"),
        counter("requests_total", "Requests answered"),
        counter("refused_requests_total", "Requests answered with an error, 4xx or 5xx"),
        counter("bad_requests_total", "Invalid or overlong requests; over TCP, each of them ended its connection"),
        counter("sent_bytes_total", "Bytes of videos and pages passed to TCP or QUIC"),
        gauge("sent_rate_bps", "Rate of the bytes passed to TCP or QUIC, in the last second"),
        gauge("playing", "Videos, or parts of them, that are being sent"),
        gauge("playing_rate_bps", "Sum of the playback rates of the videos that are being sent"),
        gauge("downloads", "Downloads in progress"),
        gauge("paced", "Connections paced by this program, not by the kernel"),
        counter("changed_files_total", "Responses aborted because their file changed or could not be read"),
        counter(
            "stalled_connections_total",
            "Connections, and requests over QUIC, ended because the client did not read",
        ),
        counter("dropped_frames_total", "Frames over RTSP dropped because the client read more slowly than they play"),
        counter("displaced_connections_total", "Connections closed in favour of an address that had fewer"),
        gauge("videos", "Videos in the folder"),
        counter("failed_handshakes_total", "Connections whose TLS handshake failed or did not complete in time"),
        gauge("tls_connections", "Connections under TLS over TCP"),
        counter("tls_requests_total", "Requests answered under TLS over TCP"),
        gauge("quic_connections", "Connections of HTTP/3 over QUIC"),
        counter("quic_requests_total", "Requests answered over HTTP/3"),
    ];

    /// The counters of a transport of its own; plain TCP is the rest.
    pub(crate) fn of(&self, carrier: Carrier) -> Option<&Carried> {
        match carrier {
            Carrier::Tcp => None,
            Carrier::Tls => Some(&self.tls),
            Carrier::Quic => Some(&self.quic),
        }
    }

    pub(crate) fn add(counter: &AtomicU64, more: u64) {
        counter.fetch_add(more, Ordering::Relaxed);
    }
}

impl Probe for Ledger {
    fn probe(&self, visit: &mut Visitor<'_>) {
        let values = [
            &self.connections,
            &self.accepted,
            &self.requests,
            &self.refused,
            &self.bad,
            &self.sent,
            &self.sent_bps,
            &self.playing,
            &self.playing_bps,
            &self.downloads,
            &self.paced,
            &self.changed,
            &self.stalled,
            &self.dropped,
            &self.displaced,
            &self.videos,
            &self.handshakes,
            &self.tls.connections,
            &self.tls.requests,
            &self.quic.connections,
            &self.quic.requests,
        ];
        for (metric, value) in Ledger::METRICS.iter().zip(values) {
            visit(metric.name, value.load(Ordering::Relaxed) as f64);
        }
    }
}

/// A condition that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct GaugeGuard {
    ledger: Arc<Ledger>,
    counter: fn(&Ledger) -> &AtomicU64,
    amount: u64,
}

impl GaugeGuard {
    pub(crate) fn new(ledger: &Arc<Ledger>, amount: u64, counter: fn(&Ledger) -> &AtomicU64) -> GaugeGuard {
        Ledger::add(counter(ledger), amount);
        GaugeGuard { ledger: ledger.clone(), counter, amount }
    }

    /// Counts a video and its rate for as long as it is played.
    pub(crate) fn playing(ledger: &Arc<Ledger>, rate: Rate) -> [GaugeGuard; 2] {
        [
            GaugeGuard::new(ledger, 1, |ledger| &ledger.playing),
            GaugeGuard::new(ledger, rate.as_bps(), |ledger| &ledger.playing_bps),
        ]
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        (self.counter)(&self.ledger).fetch_sub(self.amount, Ordering::Relaxed);
    }
}
