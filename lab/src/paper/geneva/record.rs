//! What is kept of a run.

use serde::{Deserialize, Serialize};

use super::trace::Trace;
use crate::experiment::{Group, Kind, Outcome};

/// How long the paper's runs are, s: it counts bursty events in these.
const PAPER_SECONDS: f64 = 180.0;

/// The numbers of a run that figures and tables are made of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Dropped over offered at the bottleneck queue.
    pub link_loss: f64,
    /// Mean TCP throughput, Mb/s: goodput of a long-lived flow, size over duration of a transfer that ended.
    pub tcp_mbps: f64,
    /// What all TCP flows delivered together, Mb/s.
    pub tcp_aggregate_mbps: f64,
    /// Every stream, in the order of the scenario.
    pub streams: Vec<StreamRecord>,
    /// Windows and link loss over time, where a figure traces them.
    pub trace: Option<Trace>,
}

/// One stream of a run; NaN for what its scheme does not have.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamRecord {
    /// Media rate, Mb/s.
    pub rate_mbps: f64,
    /// What arrived, Mb/s.
    pub goodput_mbps: f64,
    /// Source packets lost for good over source packets.
    pub residual_loss: f64,
    /// Lost over sent, source and repair packets alike.
    pub packet_loss: f64,
    /// Runs of more than three packets lost one behind the other (§4.1), as many as 180 s would have at this pace.
    pub bursty_events: f64,
    /// Time average of Fwnd.
    pub fwnd: f64,
    /// Time average of W_tot.
    pub w_tot: f64,
    /// Share of time with Fwnd = 60.
    pub widest: f64,
}

impl Record {
    /// What is kept of an outcome.
    pub(super) fn of(outcome: &Outcome, groups: &[Group], trace: Option<Trace>) -> Record {
        let streams = outcome.flows.iter().filter_map(|flow| {
            let media = match &groups[flow.group].kind {
                Kind::Stream(stream) => stream.media,
                Kind::Tfrc(media) => *media,
                Kind::Live(live) => live.media,
                Kind::Tcp(_) | Kind::Transfers(..) | Kind::Open(_) => return None,
            };
            let goodput = thalweg_core::units::Rate::of(flow.delivered(), outcome.window);
            Some(StreamRecord {
                rate_mbps: media.rate.as_mbps_f64(),
                goodput_mbps: goodput.as_mbps_f64(),
                residual_loss: flow.residual_loss(),
                packet_loss: flow.offered.dropped as f64 / flow.offered.packets as f64,
                bursty_events: flow.bursty_events() * (PAPER_SECONDS / outcome.window.as_secs_f64()),
                fwnd: flow.fwnd(),
                w_tot: flow.w_tot(),
                widest: flow.widest(),
            })
        });
        Record {
            link_loss: outcome.value("link_loss"),
            tcp_mbps: outcome.value("tcp_throughput_mbps"),
            tcp_aggregate_mbps: outcome.value("tcp_goodput_mbps"),
            streams: streams.collect(),
            trace,
        }
    }

    /// The mean of a number over the streams.
    pub fn mean(&self, of: impl Fn(&StreamRecord) -> f64) -> f64 {
        mean(self.streams.iter().map(of))
    }

    /// The mean of a number over the streams of one media rate.
    pub fn mean_at(&self, rate_mbps: f64, of: impl Fn(&StreamRecord) -> f64) -> f64 {
        mean(self.streams.iter().filter(|stream| stream.rate_mbps == rate_mbps).map(of))
    }

    /// The largest share of time that any stream spent with Fwnd = 60.
    pub fn widest(&self) -> f64 {
        self.streams.iter().map(|stream| stream.widest).fold(f64::NAN, f64::max)
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}
