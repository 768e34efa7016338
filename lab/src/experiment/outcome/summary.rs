//! The numbers of a run that people ask for first, each under a name that stays.

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use super::{Ended, FlowOutcome, Outcome, TransferOutcome};
use crate::node::drop_tail::Offered;
use crate::tcp::Playing;

/// A number of a run: its name, and what it is.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Its name, in tables and files.
    pub name: &'static str,
    /// What it is, with its unit.
    pub what: &'static str,
    of: Of,
}

type Of = fn(&Outcome) -> f64;

/// What [`Outcome::summary`] shows, in this order. What a run has none of is NaN.
pub const QUANTITIES: &[Quantity] = &[
    quantity("link_loss", "share of the packets offered to the first hop that it dropped", |run| {
        loss(run.hops.iter().take(1).map(|hop| hop.offered))
    }),
    quantity("tcp_loss", "share of TCP's packets that the hops on their way lost", |run| {
        loss(run.of_tcp().map(|flow| flow.offered))
    }),
    quantity("stream_loss", "the same of the packets of all other flows", |run| {
        loss(run.of_others().map(|flow| flow.offered))
    }),
    quantity("tcp_goodput_mbps", "payload that all TCP flows delivered, Mb/s", |run| {
        run.if_tcp(run.mbps(run.of_tcp().map(FlowOutcome::delivered).sum()))
    }),
    quantity(
        "tcp_throughput_mbps",
        "mean of long flows' goodput, or of finished transfers' size / duration, Mb/s",
        |run| mean(run.of_tcp().filter_map(|flow| run.throughput(flow))),
    ),
    quantity("tcp_timeouts", "expiries of retransmission timers, per TCP flow", |run| {
        mean(run.of_tcp().map(|flow| if let Ended::Tcp { timeouts, .. } = flow.ended { timeouts as f64 } else { 0.0 }))
    }),
    quantity("stream_goodput_mbps", "what each other flow delivered, headers included, Mb/s", |run| {
        mean(run.of_others().map(|flow| run.mbps(flow.delivered())))
    }),
    quantity("packet_loss", "packets of a stream that were lost, source and repair, mean of the streams", |run| {
        run.mean_of_streams(|flow| loss([flow.offered].into_iter()))
    }),
    quantity("residual_loss", "source packets of a stream that were lost for good, mean of the streams", |run| {
        run.mean_of_streams(FlowOutcome::residual_loss)
    }),
    quantity("bursty_events", "runs of four or more lost packets, per stream", |run| {
        run.mean_of_streams(FlowOutcome::bursty_events)
    }),
    quantity("fwnd_mean", "repair packets of a block, time average", |run| run.mean_of_streams(FlowOutcome::fwnd)),
    quantity("w_mean", "W_tot, time average", |run| run.mean_of_streams(FlowOutcome::w_tot)),
    quantity("fwnd_widest", "share of time with the largest window", |run| run.mean_of_streams(FlowOutcome::widest)),
    quantity("transfers", "finite transfers that ended within the measuring window", |run| {
        let ended = |flow: &&FlowOutcome| run.throughput(flow).is_some() && flow.transfer().is_some();
        run.if_tcp(run.of_tcp().filter(ended).count() as f64)
    }),
    quantity("film_goodput_mbps", "payload of a film over TCP until it is there, mean of the films, Mb/s", |run| {
        mean(run.of_tcp().filter_map(|flow| run.film_mbps(flow)))
    }),
    quantity("film_start_up_s", "until a film could begin: `rebuffer` of it is there, s", |run| {
        run.mean_of_films(|film| film.start_up.map_or(f64::NAN, Span::as_secs_f64))
    }),
    quantity("film_stalls", "how often a film's buffer ran dry, mean of the films", |run| {
        run.mean_of_films(|film| f64::from(film.stalls))
    }),
    quantity("film_stalled_s", "how long a film stood still for that, s", |run| {
        run.mean_of_films(|film| film.stalled.as_secs_f64())
    }),
    quantity("film_delay_s", "least playout delay without a stall, s", |run| {
        run.mean_of_films(|film| film.needed_delay.as_secs_f64())
    }),
    quantity("packets", "packets offered to the first hop in the whole run", |run| run.packets as f64),
];

const fn quantity(name: &'static str, what: &'static str, of: Of) -> Quantity {
    Quantity { name, what, of }
}

impl Outcome {
    /// Every one of [`QUANTITIES`], by name.
    pub fn summary(&self) -> impl Iterator<Item = (&'static str, f64)> {
        QUANTITIES.iter().map(|quantity| (quantity.name, (quantity.of)(self)))
    }

    /// One of [`QUANTITIES`]; NaN if there is none of that name.
    pub fn value(&self, name: &str) -> f64 {
        let found = QUANTITIES.iter().find(|quantity| quantity.name == name);
        found.map_or(f64::NAN, |quantity| (quantity.of)(self))
    }

    fn of_tcp(&self) -> impl Iterator<Item = &FlowOutcome> {
        self.flows.iter().filter(|flow| matches!(flow.ended, Ended::Tcp { .. }))
    }

    /// A sum over TCP, which without any is not zero: there is none.
    fn if_tcp(&self, sum: f64) -> f64 {
        self.of_tcp().next().map_or(f64::NAN, |_| sum)
    }

    fn of_others(&self) -> impl Iterator<Item = &FlowOutcome> {
        self.flows.iter().filter(|flow| !matches!(flow.ended, Ended::Tcp { .. }))
    }

    /// Media with somebody who receives it: what only fills the links is none.
    fn of_streams(&self) -> impl Iterator<Item = &FlowOutcome> {
        self.of_others().filter(|flow| !matches!(flow.ended, Ended::Open { .. }))
    }

    fn mean_of_streams(&self, of: impl Fn(&FlowOutcome) -> f64) -> f64 {
        mean(self.of_streams().map(of).filter(|value| !value.is_nan()))
    }

    fn mean_of_films(&self, of: impl Fn(&Playing) -> f64) -> f64 {
        let films = self.of_tcp().filter_map(|flow| flow.playing().map(|playing| of(&playing)));
        mean(films.filter(|value| !value.is_nan()))
    }

    /// What a film got within the window, as long as it was under way; nothing if it was there before.
    fn film_mbps(&self, flow: &FlowOutcome) -> Option<f64> {
        let film = flow.transfer().filter(|_| flow.playing().is_some())?;
        let until = film.completed.unwrap_or(self.end);
        let under_way = until.since(self.from().max(film.start));
        (under_way > Span::ZERO).then(|| Rate::of(flow.delivered(), under_way).as_mbps_f64())
    }

    pub(super) fn mbps(&self, delivered: Bytes) -> f64 {
        Rate::of(delivered, self.window).as_mbps_f64()
    }

    /// Goodput of a long flow; size over duration of a transfer that ended within the window.
    fn throughput(&self, flow: &FlowOutcome) -> Option<f64> {
        match flow.transfer() {
            None => Some(self.mbps(flow.delivered())),
            Some(TransferOutcome { start, size, completed }) => {
                let completed = completed.filter(|at| *at > self.from())?;
                Some(Rate::of(size, completed.since(start)).as_mbps_f64())
            }
        }
    }
}

impl FlowOutcome {
    /// What arrived within the window: payload of TCP, packets of others with their headers.
    pub fn delivered(&self) -> Bytes {
        match &self.ended {
            Ended::Tcp { delivered, .. } | Ended::Tfrc { delivered, .. } | Ended::Open { delivered } => *delivered,
            Ended::Stream { packet, received, .. } => *packet * (received.packets - received.lost),
        }
    }

    /// The transfer, if it is a finite one.
    pub fn transfer(&self) -> Option<TransferOutcome> {
        if let Ended::Tcp { transfer, .. } = self.ended { transfer } else { None }
    }

    /// The playback, if it is a film.
    pub fn playing(&self) -> Option<Playing> {
        if let Ended::Tcp { playing, .. } = self.ended { playing } else { None }
    }

    /// Source packets lost for good over source packets, under TFRC of all packets; NaN if the flow is no stream.
    pub fn residual_loss(&self) -> f64 {
        match &self.ended {
            Ended::Stream { received, .. } => received.residual_rate(),
            Ended::Tfrc { sent, lost, .. } => *lost as f64 / *sent as f64,
            Ended::Open { .. } | Ended::Tcp { .. } => f64::NAN,
        }
    }

    /// Runs of four or more lost packets; NaN if the flow is no stream.
    pub fn bursty_events(&self) -> f64 {
        if let Ended::Stream { received, .. } = &self.ended { received.bursts as f64 } else { f64::NAN }
    }

    /// Time average of Fwnd; NaN if the flow has no blocks.
    pub fn fwnd(&self) -> f64 {
        if let Ended::Stream { sent, .. } = &self.ended { sent.mean_window() } else { f64::NAN }
    }

    /// Time average of W_tot; NaN if the flow has none.
    pub fn w_tot(&self) -> f64 {
        if let Ended::Stream { sent, .. } = &self.ended { sent.mean_w() } else { f64::NAN }
    }

    /// Share of time with the largest window; NaN if the flow has no blocks.
    pub fn widest(&self) -> f64 {
        if let Ended::Stream { sent, .. } = &self.ended { sent.share_widest() } else { f64::NAN }
    }
}

pub(super) fn loss(offered: impl Iterator<Item = Offered>) -> f64 {
    let Offered { packets, dropped } = offered.sum();
    dropped as f64 / packets as f64
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}
