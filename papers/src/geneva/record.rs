//! The record of a run.

use serde::{Deserialize, Serialize};
use thalweg_lab::experiment::{Group, Kind, Outcome};

use super::trace::Trace;

/// The duration of the paper's runs, in seconds; its numbers of bursty events are per run.
const PAPER_SECONDS: f64 = 180.0;

/// The numbers of a run from which figures and tables are made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Dropped packets over offered packets at the bottleneck queue.
    pub link_loss: f64,
    /// The mean TCP throughput, Mb/s: the goodput of a long-lived flow, or size over duration of a completed transfer.
    pub tcp_mbps: f64,
    /// The goodput of all TCP flows together, Mb/s.
    pub tcp_aggregate_mbps: f64,
    /// Every stream, in the order of the scenario.
    pub streams: Vec<StreamRecord>,
    /// Windows and link loss over time, if a figure traces them.
    pub trace: Option<Trace>,
}

/// One stream of a run; NaN for values that its scheme does not have.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamRecord {
    /// The media rate, Mb/s.
    pub rate_mbps: f64,
    /// The goodput, Mb/s.
    pub goodput_mbps: f64,
    /// The ratio of source packets lost after repair to source packets sent.
    pub residual_loss: f64,
    /// The ratio of lost to sent packets, source and repair.
    pub packet_loss: f64,
    /// The number of runs of more than three consecutive lost packets (§4.1), scaled to 180 s.
    pub bursty_events: f64,
    /// The time average of Fwnd.
    pub fwnd: f64,
    /// The time average of W_tot.
    pub w_tot: f64,
    /// The share of time with Fwnd = 60.
    pub widest: f64,
}

impl Record {
    /// The record of an outcome.
    pub(super) fn of(outcome: &Outcome, groups: &[Group], trace: Option<Trace>) -> Record {
        let streams = outcome.flows.iter().filter_map(|flow| {
            let media = match &groups[flow.group].kind {
                Kind::Stream(stream) => stream.media,
                Kind::Tfrc(media, _) => *media,
                Kind::Live(live) => live.media,
                Kind::Tcp(_) | Kind::Transfers(..) | Kind::Tunnel(_) | Kind::Stored(_) | Kind::Open(_) => return None,
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

    /// The mean of a value over the streams.
    pub fn mean(&self, of: impl Fn(&StreamRecord) -> f64) -> f64 {
        mean(self.streams.iter().map(of))
    }

    /// The mean of a value over the streams of one media rate.
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
