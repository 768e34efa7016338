//! What is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::live::{Kind, Metric};
use thalweg_core::units::Rate;

/// What carries requests and answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Carrier {
    /// HTTP/1.1 over TCP as it is.
    Tcp,
    /// HTTP/1.1 under TLS.
    Tls,
    /// HTTP/3.
    Quic,
}

/// What is counted of one carrier.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    pub(crate) connections: AtomicU64,
    pub(crate) requests: AtomicU64,
}

/// Numbers that all connections count into.
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
    pub(crate) displaced: AtomicU64,
    pub(crate) films: AtomicU64,
    pub(crate) handshakes: AtomicU64,
    pub(crate) tls: Carried,
    pub(crate) quic: Carried,
}

const fn metric(name: &'static str, kind: Kind, help: &'static str) -> Metric {
    Metric { name, kind, help }
}

impl Ledger {
    /// Every metric that [`Probe::probe`] shows.
    pub const METRICS: [Metric; 20] = [
        metric("connections", Kind::Gauge, "Connections that are open"),
        metric("connections_total", Kind::Counter, "Connections that were accepted"),
        metric("requests_total", Kind::Counter, "Requests that were answered"),
        metric("refused_requests_total", Kind::Counter, "Requests that were answered with an error, 4xx or 5xx"),
        metric(
            "bad_requests_total",
            Kind::Counter,
            "What came and was no request, or too long for one; over TCP it ended its connection",
        ),
        metric("sent_bytes_total", Kind::Counter, "Bytes of films and pages that were handed to TCP or QUIC"),
        metric("sent_rate_bps", Kind::Gauge, "The same, over the last second"),
        metric("playing", Kind::Gauge, "Films, or pieces of them, that are under way"),
        metric("playing_rate_bps", Kind::Gauge, "The playback rates of these together"),
        metric("downloads", Kind::Gauge, "Downloads that are under way"),
        metric("paced", Kind::Gauge, "Connections that are paced by this program, not by the kernel"),
        metric("changed_files_total", Kind::Counter, "Answers broken off because their file changed"),
        metric(
            "stalled_connections_total",
            Kind::Counter,
            "Connections, and requests over QUIC, that ended because nobody read",
        ),
        metric(
            "displaced_connections_total",
            Kind::Counter,
            "Connections that gave their place to one of an address that had fewer",
        ),
        metric("films", Kind::Gauge, "Films in the folder"),
        metric(
            "failed_handshakes_total",
            Kind::Counter,
            "Connections that asked for TLS in vain, or for something else",
        ),
        metric("tls_connections", Kind::Gauge, "Connections under TLS over TCP"),
        metric("tls_requests_total", Kind::Counter, "Requests that were answered over them"),
        metric("quic_connections", Kind::Gauge, "Connections of HTTP/3, over QUIC"),
        metric("quic_requests_total", Kind::Counter, "Requests that were answered over them"),
    ];

    /// What is counted of a carrier by itself; TCP as it is has the rest.
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
            &self.displaced,
            &self.films,
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

/// Something that is so until this is dropped: it is counted that long.
#[derive(Debug)]
pub(crate) struct While {
    ledger: Arc<Ledger>,
    counter: fn(&Ledger) -> &AtomicU64,
    amount: u64,
}

impl While {
    pub(crate) fn new(ledger: &Arc<Ledger>, amount: u64, counter: fn(&Ledger) -> &AtomicU64) -> While {
        Ledger::add(counter(ledger), amount);
        While { ledger: ledger.clone(), counter, amount }
    }

    /// For as long as a film is played.
    pub(crate) fn playing(ledger: &Arc<Ledger>, rate: Rate) -> [While; 2] {
        [
            While::new(ledger, 1, |ledger| &ledger.playing),
            While::new(ledger, rate.as_bps(), |ledger| &ledger.playing_bps),
        ]
    }
}

impl Drop for While {
    fn drop(&mut self) {
        (self.counter)(&self.ledger).fetch_sub(self.amount, Ordering::Relaxed);
    }
}
