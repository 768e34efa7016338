//! Metrics of a tunnel's endpoint, over all its links, ended ones included.

use std::collections::BTreeMap;

use thalweg_core::metric::{Metric, counter, gauge};
use thalweg_core::probe::Visitor;
use thalweg_core::session::stream::sender::Steps;
use thalweg_core::session::tunnel::{Tunnel, View};
use thalweg_core::time::{Span, Time};

use crate::histogram::Histogram;

/// Interval between samples.
const PERIOD: Span = Span::from_secs(1);

/// All metrics that [`Ledger::probe`] shows.
pub(super) const METRICS: [Metric; 28] = [
    gauge("links", "Connected peers"),
    gauge("connections", "Open connections"),
    counter("connections_total", "Connections opened"),
    counter("broken_connections_total", "Connections aborted by either end, or lost with their link"),
    counter("refused_connections_total", "Connections refused: no peer, no target, or too many"),
    counter("rejected_hellos_total", "Handshakes rejected: another key or another protocol version"),
    counter("carried_out_bytes_total", "Bytes read from local programs"),
    counter("carried_in_bytes_total", "Bytes written to local programs"),
    gauge("carried_out_rate_bps", "Rate read from local programs, in the last second"),
    gauge("carried_in_rate_bps", "Rate written to local programs, in the last second"),
    counter("new_packets_total", "Packets sent with new data"),
    counter("repair_packets_total", "Packets sent with a coded combination"),
    counter("resent_packets_total", "Packets sent with retransmitted data"),
    counter("idle_opportunities_total", "Opportunities to send left unused"),
    counter("lost_packets_total", "Packets declared lost"),
    counter("late_packets_total", "Packets that arrived after they were declared lost"),
    counter("silences_total", "Silences of the peer of 15 s or more"),
    counter("innovative_packets_total", "Packets received with new information"),
    counter("redundant_packets_total", "Packets received without new information"),
    counter("duplicate_packets_total", "Duplicate packets received"),
    gauge("loss_ratio", "Expected loss rate of the busiest link"),
    gauge("gilbert_loss_ratio", "Long-run loss rate of the busiest link, by a fitted Gilbert model"),
    gauge("loss_burst_packets", "Mean length of a loss burst on the busiest link, by a fitted Gilbert model"),
    gauge("rtt_seconds", "Smoothed round-trip time of the busiest link"),
    gauge("delay_p50_seconds", "Median delay of in-order delivery on the busiest link, from write to arrival"),
    gauge("delay_p99_seconds", "99th percentile of the delay of in-order delivery on the busiest link"),
    gauge("delay_max_seconds", "Maximum delay of in-order delivery on the busiest link"),
    gauge(
        "useless_ratio",
        "u of FEC-ARQ's Eq. (9) on the busiest link: packets without new information per packet with it",
    ),
];

/// Counts of one link, in the order of [`METRICS`] from `new_packets_total` on.
type Counts = [u64; 10];

/// Gauges of one link, by name.
type Gauges = [(&'static str, f64); 8];

/// Counts and delays of one link, or of several.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    counts: Counts,
    delays: Steps,
}

/// The sums over all links, and the latest sample of each.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Bytes from local programs, and to them.
    pub(super) carried: [u64; 2],
    gone: Entry,
    known: BTreeMap<u64, Entry>,
    /// Gauges of the link that went down last.
    last: Option<Gauges>,
    sampled: Time,
    before: [u64; 2],
    rates: [f64; 2],
}

fn counts(view: &View<'_>) -> Counts {
    let (sent, received) = (view.sent(), view.received());
    [
        sent.new,
        sent.repair,
        sent.resent,
        sent.idle,
        sent.lost,
        sent.late,
        sent.silences,
        received.innovative,
        received.redundant,
        received.duplicate,
    ]
}

fn gauges(view: &View<'_>) -> Option<Gauges> {
    let (measured, delays) = (view.measured(), view.delays()?);
    let delay = |quantile| delays.quantile(quantile).map(Span::as_secs_f64);
    let gauges = [
        ("loss_ratio", measured.eps),
        ("gilbert_loss_ratio", measured.gilbert_eps),
        ("loss_burst_packets", measured.burst),
        ("rtt_seconds", measured.rtt.map(Span::as_secs_f64)),
        ("delay_p50_seconds", delay(0.5)),
        ("delay_p99_seconds", delay(0.99)),
        ("delay_max_seconds", delay(1.0)),
        ("useless_ratio", measured.u),
    ];
    Some(gauges.map(|(name, value)| (name, value.unwrap_or(f64::NAN))))
}

fn entries(tunnel: &Tunnel) -> BTreeMap<u64, Entry> {
    tunnel.links().map(|view| (view.link(), Entry::of(&view))).collect()
}

impl Entry {
    fn of(view: &View<'_>) -> Entry {
        Entry { counts: counts(view), delays: view.delays().map(|delays| *delays.steps()).unwrap_or_default() }
    }

    fn plus(self, more: &Entry) -> Entry {
        let counts = std::array::from_fn(|nth| self.counts[nth] + more.counts[nth]);
        Entry { counts, delays: self.delays.plus(&more.delays) }
    }
}

impl Ledger {
    /// Samples all links, once per [`PERIOD`].
    pub(super) fn sample(&mut self, now: Time, tunnel: &Tunnel) {
        let passed = now.since(self.sampled);
        if passed < PERIOD {
            return;
        }
        self.sampled = now;
        for (rate, (now, before)) in self.rates.iter_mut().zip(self.carried.iter().zip(self.before)) {
            *rate = (now - before) as f64 * 8.0 / passed.as_secs_f64();
        }
        self.before = self.carried;
        let links = entries(tunnel);
        let gone = self.known.iter().filter(|(link, _)| !links.contains_key(link));
        self.gone = gone.fold(self.gone, |sum, (_, entry)| sum.plus(entry));
        self.known = links;
    }

    /// Samples a link that went down, before the tunnel forgets it: it counts nothing from now on.
    pub(super) fn note(&mut self, link: u64, tunnel: &Tunnel) {
        if let Some(view) = tunnel.links().find(|view| view.link() == link) {
            self.known.insert(link, Entry::of(&view));
            self.last = gauges(&view).or(self.last);
        }
    }

    /// The sums over all links since the start.
    fn sum(&self, tunnel: &Tunnel) -> Entry {
        let now = entries(tunnel);
        let gone = self.known.iter().filter(|(link, _)| !now.contains_key(link)).map(|(_, entry)| entry);
        now.values().chain(gone).fold(self.gone, Entry::plus)
    }

    /// Delays of in-order delivery over all links, as counts that only grow: these can be summed over endpoints and
    /// differenced in time.
    pub(super) fn delays(&self, tunnel: &Tunnel) -> Histogram {
        let Steps { counts, sum } = self.sum(tunnel).delays;
        let help = "Delay of in-order delivery on all links, from write to arrival";
        Histogram { name: "delay_seconds", help, bounds: &Steps::BOUNDS, counts: counts.into(), sum }
    }

    /// Shows all metrics; at the end, when no link is up any more, the gauges are those of the last link.
    pub(super) fn probe(&self, tunnel: &Tunnel, is_ending: bool, visit: &mut Visitor<'_>) {
        visit("links", tunnel.links().filter(View::is_up).count() as f64);
        visit("connections", tunnel.links().map(|view| view.connections()).sum::<usize>() as f64);
        for (name, value) in ["carried_out_bytes_total", "carried_in_bytes_total"].into_iter().zip(self.carried) {
            visit(name, value as f64);
        }
        for (name, value) in ["carried_out_rate_bps", "carried_in_rate_bps"].into_iter().zip(self.rates) {
            visit(name, value);
        }
        visit("rejected_hellos_total", tunnel.rejected() as f64);
        let counts = self.sum(tunnel).counts;
        for (metric, value) in METRICS.iter().skip_while(|metric| metric.name != "new_packets_total").zip(counts) {
            visit(metric.name, value as f64);
        }
        let busiest = tunnel
            .links()
            .filter(|view| view.is_up() || is_ending)
            .max_by_key(|view| view.sent().new + view.received().innovative);
        let gauges = busiest.as_ref().and_then(gauges).or(self.last.filter(|_| is_ending));
        for (name, value) in gauges.into_iter().flatten() {
            visit(name, value);
        }
    }
}
