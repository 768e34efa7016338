//! The counters of a flow, each under its name in files.

use thalweg_core::probe::{Probe, Visitor};

use super::{Ended, FlowOutcome};

impl Probe for FlowOutcome {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("offered_packets", self.offered.packets as f64);
        visit("dropped_packets", self.offered.dropped as f64);
        visit("delivered_bytes", self.delivered().0 as f64);
        match &self.ended {
            Ended::Tcp { retransmitted, timeouts, .. } => {
                visit("retransmitted_packets", *retransmitted as f64);
                visit("timeouts", *timeouts as f64);
                return;
            }
            Ended::Stream { sent, received, .. } => {
                visit("source_packets", sent.source as f64);
                visit("repair_packets", sent.repair as f64);
                visit("lost_packets", received.lost as f64);
                visit("residual_packets", received.residual() as f64);
                visit("bursty_events", received.bursts as f64);
                visit("fwnd_mean", self.fwnd());
                visit("w_mean", self.w_tot());
                visit("fwnd_widest", self.widest());
            }
            Ended::Tfrc { sent, lost, transit, .. } => {
                visit("source_packets", *sent as f64);
                visit("lost_packets", *lost as f64);
                visit("delay_mean_s", transit.delay());
                visit("jitter_s", transit.jitter());
            }
            Ended::Tunnel { sent, delays, .. } => {
                visit("new_packets", sent.new as f64);
                visit("repair_packets", sent.repair as f64);
                visit("resent_packets", sent.resent as f64);
                visit("idle_opportunities", sent.idle as f64);
                visit("overhead", self.overhead());
                visit("delay_mean_s", delays.mean());
                visit("delay_p50_s", delays.quantile(0.5));
                visit("delay_p95_s", delays.quantile(0.95));
                visit("delay_p99_s", delays.quantile(0.99));
                return;
            }
            Ended::Stored(playback) => return playback.probe(visit),
            Ended::Open { .. } => {}
        }
        visit("residual_loss", self.residual_loss());
    }
}
