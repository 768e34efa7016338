//! What a tunnel's end counts: over all its links, those that are gone included.

use std::collections::BTreeMap;

use thalweg_core::probe::Visitor;
use thalweg_core::session::live::{Kind, Metric};
use thalweg_core::session::stream::sender::Steps;
use thalweg_core::session::tunnel::{Tunnel, View};
use thalweg_core::time::{Span, Time};

use crate::figures::Histogram;

/// How often it looks.
const PERIOD: Span = Span::from_secs(1);

const fn counter(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Counter, help }
}

const fn gauge(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Gauge, help }
}

/// All that [`Ledger::probe`] shows.
pub(super) const METRICS: [Metric; 28] = [
    gauge("links", "Other ends that are there"),
    gauge("connections", "Connections that are open"),
    counter("connections_total", "Connections that were opened"),
    counter("broken_connections_total", "Connections that were broken off, by either end"),
    counter("refused_connections_total", "Connections that were refused or turned away"),
    counter("rejected_hellos_total", "Hellos with another key, or of another version"),
    counter("carried_out_bytes_total", "Bytes that the tunnel took from programs here"),
    counter("carried_in_bytes_total", "Bytes that programs here took from the tunnel"),
    gauge("carried_out_rate_bps", "The same as a rate, over the last second"),
    gauge("carried_in_rate_bps", "The same as a rate, over the last second"),
    counter("new_packets_total", "Packets that left with something new"),
    counter("repair_packets_total", "Packets that left with a combination"),
    counter("resent_packets_total", "Packets that left with something again"),
    counter("idle_opportunities_total", "Opportunities to send that were left unused"),
    counter("lost_packets_total", "Packets that were taken for lost"),
    counter("late_packets_total", "Of these, that arrived after all"),
    counter("silences_total", "Times that nothing was heard for long"),
    counter("innovative_packets_total", "Packets that came and told something new"),
    counter("redundant_packets_total", "Packets that came and told nothing new"),
    counter("duplicate_packets_total", "Packets that came twice"),
    gauge("loss_ratio", "Loss rate that is expected, of the busiest link"),
    gauge("gilbert_loss_ratio", "Loss rate of the busiest link by Gilbert's model, which knows bursts"),
    gauge("loss_burst_packets", "Packets in a burst of losses by the same model, on average"),
    gauge("rtt_seconds", "Smoothed round trip of the busiest link"),
    gauge("delay_p50_seconds", "Delay of in-order delivery on the busiest link, from writing to arrival: median"),
    gauge("delay_p99_seconds", "The same, 99th percentile"),
    gauge("delay_max_seconds", "The same, the longest"),
    gauge(
        "useless_ratio",
        "u of FEC-ARQ, Eq. (9), of the busiest link: packets that told nothing new for each that did",
    ),
];

/// Counts of one link, in the order of [`METRICS`] from `new_packets_total` on.
type Counts = [u64; 10];

/// What one link shows that is no count, by its name.
type Gauges = [(&'static str, f64); 8];

/// What is known of one link, or of several.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    counts: Counts,
    delays: Steps,
}

/// The books.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Bytes from programs here, and to them.
    pub(super) carried: [u64; 2],
    gone: Entry,
    known: BTreeMap<u64, Entry>,
    /// Of the link that went down last.
    last: Option<Gauges>,
    looked: Time,
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
    /// Takes note of all links, once in a while.
    pub(super) fn look(&mut self, now: Time, tunnel: &Tunnel) {
        let passed = now.since(self.looked);
        if passed < PERIOD {
            return;
        }
        self.looked = now;
        for (rate, (now, before)) in self.rates.iter_mut().zip(self.carried.iter().zip(self.before)) {
            *rate = (now - before) as f64 * 8.0 / passed.as_secs_f64();
        }
        self.before = self.carried;
        let links = entries(tunnel);
        let gone = self.known.iter().filter(|(link, _)| !links.contains_key(link));
        self.gone = gone.fold(self.gone, |sum, (_, entry)| sum.plus(entry));
        self.known = links;
    }

    /// Takes note of a link that went down, before it is forgotten: what it counts from now on is nothing.
    pub(super) fn note(&mut self, link: u64, tunnel: &Tunnel) {
        if let Some(view) = tunnel.links().find(|view| view.link() == link) {
            self.known.insert(link, Entry::of(&view));
            self.last = gauges(&view).or(self.last);
        }
    }

    /// All links since the start.
    fn sum(&self, tunnel: &Tunnel) -> Entry {
        let now = entries(tunnel);
        let gone = self.known.iter().filter(|(link, _)| !now.contains_key(link)).map(|(_, entry)| entry);
        now.values().chain(gone).fold(self.gone, Entry::plus)
    }

    /// Delays of in-order delivery over all links: what only ever grows can be added up over many ends and differenced in time.
    pub(super) fn delays(&self, tunnel: &Tunnel) -> Histogram {
        let Steps { counts, sum } = self.sum(tunnel).delays;
        let help = "Delay of in-order delivery on all links, from writing to arrival";
        Histogram { name: "delay_seconds", help, bounds: &Steps::BOUNDS, counts: counts.into(), sum }
    }

    /// Shows the links, and what has passed; in the end, when no link is up any more, how the last one was.
    pub(super) fn probe(&self, tunnel: &Tunnel, is_parting: bool, visit: &mut Visitor<'_>) {
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
            .filter(|view| view.is_up() || is_parting)
            .max_by_key(|view| view.sent().new + view.received().innovative);
        let gauges = busiest.as_ref().and_then(gauges).or(self.last.filter(|_| is_parting));
        for (name, value) in gauges.into_iter().flatten() {
            visit(name, value);
        }
    }
}
