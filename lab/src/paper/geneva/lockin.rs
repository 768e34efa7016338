//! The question that the paper leaves open: is the window whole, or does it keep its fraction? And does a stream that has
//! once opened its window to 60 come back? Ten streams of 30 Mb/s at Fwnd = 60 send 1.02 Gb/s into a link of 1 Gb/s.

use super::condition::{Condition, Scheme};
use super::results::Results;
use crate::statistics::Estimate;

/// What a condition does with one state of the window.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Where.
    pub condition: Condition,
    /// Which state.
    pub scheme: Scheme,
    /// Mean Fwnd.
    pub fwnd: Estimate,
    /// Share of time at Fwnd = 60, mean of all flows.
    pub widest: Estimate,
    /// The same of the flow that stood there longest.
    pub widest_flow: Estimate,
    /// Loss of the streams, before repair.
    pub packet_loss: Estimate,
    /// Loss of the link.
    pub link_loss: Estimate,
    /// Loss of the streams after repair.
    pub residual_loss: Estimate,
    /// Mean TCP throughput, Mb/s.
    pub tcp_mbps: Estimate,
}

/// Fig. 8's larger numbers of TCP flows, under every reading, both states.
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
