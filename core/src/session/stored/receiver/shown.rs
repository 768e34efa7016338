//! The state of a receiver as metrics.

use super::Receiver;
use crate::law::rate::r3cp::State;
use crate::metric::{Metric, counter, gauge};
use crate::probe::{Probe, Visitor};
use crate::units::Seconds;

pub(super) const METRICS: [Metric; 15] = [
    gauge("buffer_seconds", "media time between playout and what was due for arrival"),
    gauge("buffer_target_seconds", "target of the buffer, its store included"),
    gauge("lambda_packets_per_second", "desired rate"),
    gauge("rho_packets_per_second", "requested rate"),
    gauge("loss_ratio", "loss p of the last measured period"),
    gauge("forecast_loss_ratio", "predicted loss of the present period"),
    gauge("rtt_seconds", "round trip d measured last"),
    gauge("forecast_rtt_seconds", "predicted round trip of the present period"),
    gauge("state", "state of the path as measured: 0 unloaded, 1 loaded, 2 congested"),
    gauge("forecast_state", "state of the path as predicted, likewise"),
    counter("periods", "flow control periods since playout began"),
    counter("received_packets", "packets received, retransmissions excluded"),
    counter("retransmitted_packets", "retransmissions received"),
    counter("requested_packets", "packets whose retransmission was requested"),
    gauge("buffer_bytes", "payload that waits for playout"),
];

/// The number of a state in metrics.
fn number(state: State) -> f64 {
    match state {
        State::Unloaded => 0.0,
        State::Loaded => 1.0,
        State::Congested => 2.0,
    }
}

impl Probe for Receiver {
    fn probe(&self, visit: &mut Visitor<'_>) {
        let nan = f64::NAN;
        let ((Seconds(bank), Seconds(target)), decision) = (self.bank(), self.decision());
        let (loss, rtt) = self.forecast();
        let totals = self.totals();
        let values = [
            bank,
            target,
            decision.map_or(nan, |decision| decision.lambda),
            decision.map_or(nan, |decision| decision.rho),
            self.state.p,
            loss,
            self.state.rtt.as_secs_f64(),
            rtt.map_or(nan, |rtt| rtt.0),
            decision.map_or(nan, |decision| number(decision.current)),
            decision.map_or(nan, |decision| number(decision.forecast)),
            totals.periods as f64,
            totals.received as f64,
            totals.resent as f64,
            totals.asked as f64,
            self.bytes() as f64,
        ];
        METRICS.iter().zip(values).for_each(|(metric, value)| visit(metric.name, value));
    }
}
