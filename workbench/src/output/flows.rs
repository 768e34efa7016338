//! `flows.csv` and `flows.jsonl`: a row for each flow of each run, within the measuring window.

use serde_json::Value;
use thalweg_core::probe::Probe as _;
use thalweg_core::time::Time;
use thalweg_lab::experiment::{Ended, FlowOutcome};

use super::csv::{cell, object, quoted};
use crate::campaign::Finished;

pub(super) const HEADER: &str = "scheme,seed,flow,group,kind,offered_packets,dropped_packets,delivered_bytes,\
                                 retransmitted_packets,timeouts,transfer_start_s,transfer_bytes,transfer_end_s,\
                                 source_packets,repair_packets,lost_packets,residual_packets,bursty_events,fwnd_mean,\
                                 w_mean,fwnd_widest,residual_loss,new_packets,resent_packets,idle_opportunities,\
                                 overhead,delay_mean_s,delay_p50_s,delay_p95_s,delay_p99_s,jitter_s\n";

pub(super) fn rows(scheme: &str, run: &Finished) -> String {
    let mut text = String::new();
    for (number, flow) in run.outcome.flows.iter().enumerate() {
        let group = run.group_of(flow);
        let start = format!("{},{},{number},{}", quoted(scheme), run.seed, quoted(group));
        text += &format!("{start},{}\n", cells(flow).join(","));
    }
    text
}

/// The rows as JSON; a value that a flow does not have is null.
pub(crate) fn objects(scheme: &str, run: &Finished) -> impl Iterator<Item = Value> {
    run.outcome.flows.iter().enumerate().map(move |(number, flow)| {
        let group = run.group_of(flow);
        let mut cells = cells(flow).into_iter();
        let kind = cells.next().unwrap_or_default();
        let head = vec![scheme.into(), run.seed.into(), number.into(), group.into(), kind.into()];
        object(HEADER, head, cells)
    })
}

/// The cells after the group, in the order of the header.
fn cells(flow: &FlowOutcome) -> Vec<String> {
    let kind = kind(&flow.ended).to_owned();
    [kind].into_iter().chain(numbers(flow).into_iter().map(cell)).collect()
}

/// The names of [`numbers`].
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    HEADER.trim_end().split(',').skip(5)
}

/// The values after the kind, in the order of the header; NaN where a flow does not have one.
pub(crate) fn numbers(flow: &FlowOutcome) -> Vec<f64> {
    let mut shown = Vec::new();
    flow.probe(&mut |name, value| shown.push((name, value)));
    if let Some(transfer) = flow.transfer() {
        shown.push(("transfer_start_s", transfer.start.as_secs_f64()));
        shown.push(("transfer_bytes", transfer.size.0 as f64));
        shown.push(("transfer_end_s", transfer.completed.map_or(f64::NAN, Time::as_secs_f64)));
    }
    let value = |name| shown.iter().find(|(shown, _)| *shown == name).map_or(f64::NAN, |(_, value)| *value);
    names().map(value).collect()
}

/// The kind of a flow.
pub(crate) fn kind(ended: &Ended) -> &'static str {
    match ended {
        Ended::Tcp { transfer: None, .. } => "tcp",
        Ended::Tcp { transfer: Some(_), .. } => "transfer",
        Ended::Stream { .. } => "stream",
        Ended::Tfrc { .. } => "tfrc",
        Ended::Tunnel { .. } => "tunnel",
        Ended::Stored(_) => "stored",
        Ended::Open { .. } => "open",
    }
}
