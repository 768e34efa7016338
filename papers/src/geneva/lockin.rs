//! A question that the paper leaves open: whether the window is a whole number or keeps its fraction, and whether a
//! stream that has opened its window to 60 ever closes it again. Ten streams of 30 Mb/s at Fwnd = 60 send 1.02 Gb/s
//! into a link of 1 Gb/s.

use thalweg_lab::statistics::Estimate;

use super::condition::{Condition, Scheme};
use super::results::Results;

/// The results of a condition with one state of the window.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The condition.
    pub condition: Condition,
    /// The scheme, with its state of the window.
    pub scheme: Scheme,
    /// Mean Fwnd.
    pub fwnd: Estimate,
    /// The share of time at Fwnd = 60, mean of all flows.
    pub widest: Estimate,
    /// The share of time at Fwnd = 60 of the flow with the largest share.
    pub widest_flow: Estimate,
    /// The loss of the streams, before repair.
    pub packet_loss: Estimate,
    /// The loss of the link.
    pub link_loss: Estimate,
    /// The loss of the streams after repair.
    pub residual_loss: Estimate,
    /// Mean TCP throughput, Mb/s.
    pub tcp_mbps: Estimate,
}

/// The larger numbers of TCP flows of Fig. 8, under every reading and with both states.
pub fn rows(results: &Results) -> Vec<Row> {
    let chosen = results.plan().long(10).filter(|at| at.n_tcp() >= Some(200));
    let conditions = chosen.chain(results.plan().read_otherwise());
    let states = [Scheme::GenevaInteger, Scheme::GenevaReal];
    let row = |condition, scheme| Row {
        condition,
        scheme,
        fwnd: results.estimate(condition, scheme, |record| record.mean(|stream| stream.fwnd)),
        widest: results.estimate(condition, scheme, |record| record.mean(|stream| stream.widest)),
        widest_flow: results.estimate(condition, scheme, super::Record::widest),
        packet_loss: results.estimate(condition, scheme, |record| record.mean(|stream| stream.packet_loss)),
        link_loss: results.estimate(condition, scheme, |record| record.link_loss),
        residual_loss: results.estimate(condition, scheme, |record| record.mean(|stream| stream.residual_loss)),
        tcp_mbps: results.estimate(condition, scheme, |record| record.tcp_mbps),
    };
    conditions.flat_map(|condition| states.map(|scheme| row(condition, scheme))).collect()
}
