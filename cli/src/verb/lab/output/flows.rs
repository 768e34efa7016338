//! `flows.csv` and `flows.jsonl`: a row for each flow of each run, within the measuring window.

use serde_json::{Map, Number, Value};
use thalweg_lab::experiment::{Ended, FlowOutcome};

use super::super::campaign::Finished;
use super::{cell, quoted};

pub(super) const HEADER: &str = "scheme,seed,flow,group,kind,offered_packets,dropped_packets,delivered_bytes,\
                                 retransmitted_packets,timeouts,transfer_start_s,transfer_bytes,transfer_end_s,\
                                 source_packets,repair_packets,lost_packets,residual_packets,bursty_events,fwnd_mean,\
                                 w_mean,fwnd_widest\n";

pub(super) fn rows(scheme: &str, run: &Finished) -> String {
    let mut text = String::new();
    for (number, flow) in run.outcome.flows.iter().enumerate() {
        let group = run.groups.get(flow.group).map_or("", String::as_str);
        let start = format!("{},{},{number},{}", quoted(scheme), run.seed, quoted(group));
        text += &format!("{start},{}\n", cells(flow).join(","));
    }
    text
}

/// The same as JSON, an object a line; what a flow does not have is null.
pub(super) fn lines(scheme: &str, run: &Finished) -> String {
    let mut text = String::new();
    for (number, flow) in run.outcome.flows.iter().enumerate() {
        let group = run.groups.get(flow.group).map_or("", String::as_str);
        let mut cells = cells(flow).into_iter();
        let kind = cells.next().unwrap_or_default();
        let head: [Value; 5] = [scheme.into(), run.seed.into(), number.into(), group.into(), kind.into()];
        let numbers = cells.map(|cell| cell.parse::<Number>().map_or(Value::Null, Value::Number));
        let names = HEADER.trim_end().split(',').map(str::to_owned);
        let object: Map<String, Value> = names.zip(head.into_iter().chain(numbers)).collect();
        text += &format!("{}\n", Value::Object(object));
    }
    text
}

fn cells(flow: &FlowOutcome) -> Vec<String> {
    let mut cells = vec![
        kind(&flow.ended).to_owned(),
        flow.offered.packets.to_string(),
        flow.offered.dropped.to_string(),
        flow.delivered().0.to_string(),
    ];
    let (mut tcp, mut stream) = (vec![String::new(); 5], vec![String::new(); 8]);
    match &flow.ended {
        Ended::Tcp { retransmitted, timeouts, transfer, .. } => {
            tcp[..2].clone_from_slice(&[retransmitted.to_string(), timeouts.to_string()]);
            if let Some(transfer) = transfer {
                tcp[2] = cell(transfer.start.as_secs_f64());
                tcp[3] = transfer.size.0.to_string();
                tcp[4] = transfer.completed.map_or(String::new(), |end| cell(end.as_secs_f64()));
            }
        }
        Ended::Stream { sent, received, .. } => {
            let counts = [sent.source, sent.repair, received.lost, received.residual(), received.bursts];
            stream[..5].clone_from_slice(&counts.map(|count| count.to_string()));
            stream[5..].clone_from_slice(&[flow.fwnd(), flow.w_tot(), flow.widest()].map(cell));
        }
        Ended::Tfrc { sent, lost, .. } => {
            (stream[0], stream[2]) = (sent.to_string(), lost.to_string());
        }
        Ended::Open { .. } => {}
    }
    cells.extend(tcp);
    cells.extend(stream);
    cells
}

fn kind(ended: &Ended) -> &'static str {
    match ended {
        Ended::Tcp { transfer: None, .. } => "tcp",
        Ended::Tcp { transfer: Some(_), .. } => "transfer",
        Ended::Stream { .. } => "stream",
        Ended::Tfrc { .. } => "tfrc",
        Ended::Open { .. } => "open",
    }
}
