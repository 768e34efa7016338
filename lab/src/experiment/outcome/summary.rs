//! The main results of a run, each under a stable name.

use thalweg_core::law::playback::Outcome as Played;
use thalweg_core::session::stream::sender::Counts;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_core::video::Kind;

use super::{Ended, FlowOutcome, Outcome, TransferOutcome};
use crate::end::stored::Playback;
use crate::node::drop_tail::Offered;
use crate::tcp::Playing;

/// A result of a run: its name and its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Its name, in tables and files.
    pub name: &'static str,
    /// Its meaning, with its unit.
    pub what: &'static str,
    of: Of,
}

type Of = fn(&Outcome) -> f64;

/// The results in [`Outcome::summary`], in this order. A result that a run does not have is NaN.
pub const QUANTITIES: &[Quantity] = &[
    quantity("link_loss", "share of the packets offered to the first hop that it dropped", |run| {
        loss(run.hops.iter().take(1).map(|hop| hop.offered))
    }),
    quantity("tcp_loss", "share of the TCP packets that the hops on their path lost", |run| {
        loss(run.of_tcp().map(|flow| flow.offered))
    }),
    quantity("stream_loss", "share of the packets of all other flows that the hops on their path lost", |run| {
        loss(run.flows.iter().filter(|flow| !flow.is_tcp()).map(|flow| flow.offered))
    }),
    quantity("tcp_goodput_mbps", "payload that all TCP flows delivered together, Mb/s", |run| {
        run.if_tcp(run.mbps(run.of_tcp().map(FlowOutcome::delivered).sum()))
    }),
    quantity(
        "tcp_throughput_mbps",
        "mean of long flows' goodput, or of finished transfers' size / duration, Mb/s",
        |run| mean(run.of_tcp().filter_map(|flow| run.throughput(flow))),
    ),
    quantity("tcp_timeouts", "retransmission timeouts per TCP flow", |run| {
        mean(run.of_tcp().map(|flow| if let Ended::Tcp { timeouts, .. } = flow.ended { timeouts as f64 } else { 0.0 }))
    }),
    quantity(
        "stream_goodput_mbps",
        "bytes that a flow other than TCP and tunnels delivered, headers included, mean of these flows, Mb/s",
        |run| mean(run.of_others().map(|flow| run.mbps(flow.delivered()))),
    ),
    quantity(
        "packet_loss",
        "share of the source and repair packets of a stream that were lost, mean of the streams",
        |run| run.mean_of_streams(|flow| loss([flow.offered].into_iter())),
    ),
    quantity(
        "residual_loss",
        "share of the source packets of a stream that were lost after repair, mean of the streams",
        |run| run.mean_of_streams(FlowOutcome::residual_loss),
    ),
    quantity("bursty_events", "runs of four or more lost packets, per stream", |run| {
        run.mean_of_streams(FlowOutcome::bursty_events)
    }),
    quantity("fwnd_mean", "repair packets per block, time average", |run| run.mean_of_streams(FlowOutcome::fwnd)),
    quantity("w_mean", "W_tot, time average", |run| run.mean_of_streams(FlowOutcome::w_tot)),
    quantity("fwnd_widest", "share of time with the largest window", |run| run.mean_of_streams(FlowOutcome::widest)),
    quantity("transfers", "finite transfers that ended within the measuring window", |run| {
        let ended = |flow: &&FlowOutcome| run.throughput(flow).is_some() && flow.transfer().is_some();
        run.if_tcp(run.of_tcp().filter(ended).count() as f64)
    }),
    quantity(
        "video_goodput_mbps",
        "goodput of a video over TCP until it has arrived, mean of the videos, Mb/s",
        |run| mean(run.of_tcp().filter_map(|flow| run.video_mbps(flow))),
    ),
    quantity(
        "video_start_up_s",
        "time until a video could start: `rebuffer` of it has arrived, mean of the videos, s",
        |run| run.mean_of_videos(|video| video.start_up.map_or(f64::NAN, Span::as_secs_f64)),
    ),
    quantity("video_stalls", "stalls of a video because its buffer was empty, mean of the videos", |run| {
        run.mean_of_videos(|video| f64::from(video.stalls))
    }),
    quantity("video_stalled_s", "time that a video was stalled, mean of the videos, s", |run| {
        run.mean_of_videos(|video| video.stalled.as_secs_f64())
    }),
    quantity("video_delay_s", "minimum playout delay without a stall, mean of the videos, s", |run| {
        run.mean_of_videos(|video| video.needed_delay.as_secs_f64())
    }),
    quantity("tunnel_goodput_mbps", "bytes that a tunnel delivered in order, mean of the tunnels, Mb/s", |run| {
        run.mean_of_tunnels(|flow| run.mbps(flow.delivered()))
    }),
    quantity("tunnel_delay_mean_ms", "delay from a write to its delivery in order, mean of the tunnels, ms", |run| {
        run.mean_of_tunnels(|flow| flow.delays().map_or(f64::NAN, |delays| delays.mean() * 1e3))
    }),
    quantity("tunnel_delay_p50_ms", "the same, median of a tunnel's writes", |run| run.mean_delay(0.5)),
    quantity("tunnel_delay_p95_ms", "the same, 95th percentile of a tunnel's writes", |run| run.mean_delay(0.95)),
    quantity("tunnel_delay_p99_ms", "the same, 99th percentile of a tunnel's writes", |run| run.mean_delay(0.99)),
    quantity(
        "tunnel_overhead",
        "packets that arrived and were not innovative, for each one that was, mean of the tunnels",
        |run| run.mean_of_tunnels(FlowOutcome::overhead),
    ),
    quantity("tunnel_new", "packets with new data, per tunnel", |run| run.mean_choice(|sent| sent.new)),
    quantity("tunnel_repair", "packets with combinations of earlier data, per tunnel", |run| {
        run.mean_choice(|sent| sent.repair)
    }),
    quantity("tunnel_resent", "packets with data that was sent before, per tunnel", |run| {
        run.mean_choice(|sent| sent.resent)
    }),
    quantity("tunnel_idle", "opportunities that the schedule left unused, per tunnel", |run| {
        run.mean_choice(|sent| sent.idle)
    }),
    quantity("playback", "share of the frames of a stored video that were playable, mean of the videos", |run| {
        run.mean_of_stored(|video| or_nan(video.tally.performance()))
    }),
    quantity("playback_i", "the same of I frames", |run| run.mean_playback(Kind::I)),
    quantity("playback_p", "the same of P frames", |run| run.mean_playback(Kind::P)),
    quantity("playback_b", "the same of B frames", |run| run.mean_playback(Kind::B)),
    quantity("skipped", "share of the frames that the sender skipped", |run| run.mean_outcome(Played::Skipped)),
    quantity("broken", "share of the frames of which a packet never arrived", |run| run.mean_outcome(Played::Broken)),
    quantity("late", "share of the frames that were complete after their time", |run| run.mean_outcome(Played::Late)),
    quantity("orphan", "share of the frames that were complete in time, without their references", |run| {
        run.mean_outcome(Played::Orphan)
    }),
    quantity("p_mean", "loss p of a flow control period, mean of the periods and the videos", |run| {
        run.mean_of_stored(|video| or_nan(video.totals.loss_mean()))
    }),
    quantity("p_max", "greatest p of a stored video, mean of the videos", |run| {
        run.mean_of_stored(|video| video.totals.loss_max)
    }),
    quantity("requested_kbps", "requested rate rho, mean over time and the videos, kb/s", |run| {
        run.mean_of_stored(|video| video.kbps(or_nan(video.totals.rho_mean())))
    }),
    quantity("received_kbps", "received rate, retransmissions excluded, mean over time and the videos, kb/s", |run| {
        run.mean_of_stored(|video| video.kbps(or_nan(video.totals.received_mean())))
    }),
    quantity("rate_cv", "coefficient of variation of rho by period, mean of the videos", |run| {
        run.mean_of_stored(|video| or_nan(video.totals.rho_variation()))
    }),
    quantity("delay_ms", "one-way delay of a packet of a TFRC or GCA stream, mean of the streams, ms", |run| {
        run.mean_of_streams(|flow| flow.transit().map_or(f64::NAN, |transit| transit.delay() * 1e3))
    }),
    quantity("jitter_ms", "mean difference of two consecutive such delays, mean of the streams, ms", |run| {
        run.mean_of_streams(|flow| flow.transit().map_or(f64::NAN, |transit| transit.jitter() * 1e3))
    }),
    quantity("satisfaction", "rate delivered over `need`, mean of the flows that have one", |run| {
        mean(run.satisfactions())
    }),
    quantity("satisfaction_spread", "largest satisfaction less the smallest", |run| {
        let (least, largest) = (run.satisfactions().reduce(f64::min), run.satisfactions().reduce(f64::max));
        or_nan(largest.zip(least).map(|(largest, least)| largest - least))
    }),
    quantity("packets", "packets offered to the first hop in the whole run", |run| run.packets as f64),
];

const fn quantity(name: &'static str, what: &'static str, of: Of) -> Quantity {
    Quantity { name, what, of }
}

impl Outcome {
    /// The values of all [`QUANTITIES`], by name.
    pub fn summary(&self) -> impl Iterator<Item = (&'static str, f64)> {
        QUANTITIES.iter().map(|quantity| (quantity.name, (quantity.of)(self)))
    }

    /// The value of one of [`QUANTITIES`]; NaN if there is none of that name.
    pub fn value(&self, name: &str) -> f64 {
        let found = QUANTITIES.iter().find(|quantity| quantity.name == name);
        found.map_or(f64::NAN, |quantity| (quantity.of)(self))
    }

    fn of_tcp(&self) -> impl Iterator<Item = &FlowOutcome> {
        self.flows.iter().filter(|flow| flow.is_tcp())
    }

    /// A sum over TCP flows; NaN, not zero, if there are none.
    fn if_tcp(&self, sum: f64) -> f64 {
        self.of_tcp().next().map_or(f64::NAN, |_| sum)
    }

    /// Flows other than TCP, tunnels and stored videos.
    fn of_others(&self) -> impl Iterator<Item = &FlowOutcome> {
        self.flows.iter().filter(|flow| !flow.is_tcp() && flow.delays().is_none() && flow.playback().is_none())
    }

    fn mean_of_tunnels(&self, of: impl Fn(&FlowOutcome) -> f64) -> f64 {
        let tunnels = self.flows.iter().filter(|flow| flow.delays().is_some());
        mean(tunnels.map(of).filter(|value| !value.is_nan()))
    }

    /// A quantile of the delays of in-order delivery in ms, mean of the tunnels.
    fn mean_delay(&self, quantile: f64) -> f64 {
        self.mean_of_tunnels(|flow| flow.delays().map_or(f64::NAN, |delays| delays.quantile(quantile) * 1e3))
    }

    /// A count of the packets of a tunnel, mean of the tunnels.
    fn mean_choice(&self, of: impl Fn(&Counts) -> u64) -> f64 {
        self.mean_of_tunnels(
            |flow| if let Ended::Tunnel { sent, .. } = &flow.ended { of(sent) as f64 } else { f64::NAN },
        )
    }

    /// Media streams with a receiver; sources that only fill the links are excluded.
    fn of_streams(&self) -> impl Iterator<Item = &FlowOutcome> {
        self.of_others().filter(|flow| !matches!(flow.ended, Ended::Open { .. }))
    }

    fn mean_of_streams(&self, of: impl Fn(&FlowOutcome) -> f64) -> f64 {
        mean(self.of_streams().map(of).filter(|value| !value.is_nan()))
    }

    fn mean_of_stored(&self, of: impl Fn(&Playback) -> f64) -> f64 {
        let videos = self.flows.iter().filter_map(|flow| flow.playback().map(&of));
        mean(videos.filter(|value| !value.is_nan()))
    }

    fn mean_playback(&self, kind: Kind) -> f64 {
        self.mean_of_stored(|video| or_nan(video.tally.performance_of(kind)))
    }

    fn mean_outcome(&self, outcome: Played) -> f64 {
        self.mean_of_stored(|video| or_nan(video.tally.share(outcome)))
    }

    fn mean_of_videos(&self, of: impl Fn(&Playing) -> f64) -> f64 {
        let videos = self.of_tcp().filter_map(|flow| flow.playing().map(|playing| of(&playing)));
        mean(videos.filter(|value| !value.is_nan()))
    }

    /// The goodput of a video within the window until its transfer was complete; none if that was before the window.
    fn video_mbps(&self, flow: &FlowOutcome) -> Option<f64> {
        let video = flow.transfer().filter(|_| flow.playing().is_some())?;
        let until = video.completed.unwrap_or(self.end);
        let under_way = until.since(self.from().max(video.start));
        (under_way > Span::ZERO).then(|| Rate::of(flow.delivered(), under_way).as_mbps_f64())
    }

    /// The satisfaction of each flow that has a need.
    fn satisfactions(&self) -> impl Iterator<Item = f64> {
        self.flows.iter().filter_map(|flow| self.satisfaction(flow))
    }

    /// The rate that a flow delivered over that which satisfies it, if there is one.
    pub fn satisfaction(&self, flow: &FlowOutcome) -> Option<f64> {
        Some(self.mbps(flow.delivered()) / flow.need?.as_mbps_f64())
    }

    /// A rate over the window, in Mb/s.
    pub fn mbps(&self, delivered: Bytes) -> f64 {
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

pub(super) fn loss(offered: impl Iterator<Item = Offered>) -> f64 {
    let Offered { packets, dropped } = offered.sum();
    dropped as f64 / packets as f64
}

/// A value, or NaN if there is none.
fn or_nan(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}
