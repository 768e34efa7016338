//! The GCA laws of a network's flows: their states, and changes while they run.

use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::session::live::sender::GcaState;
use thalweg_core::units::Rate;

use super::{Network, Part};

impl Network {
    /// The state of a flow's law; none unless that is GCA and has had a report.
    pub fn gca(&self, flow: u32) -> Option<GcaState> {
        match self.ends(flow)?.0 {
            Part::TfrcSender(end) => end.gca(),
            Part::LiveSender(end) => end.session().gca(),
            _ => None,
        }
    }

    /// Changes the parameters of a flow's GCA law, at both ends; flows of kinds without such a law stay as they are.
    pub fn set_greediness(&mut self, flow: u32, greediness: Greediness) {
        let Some(ends) = self.flows.get(flow as usize).copied() else { return };
        match self.engine.node_mut(ends.sender) {
            Part::TfrcSender(end) => end.set_greediness(greediness),
            Part::LiveSender(end) => end.session_mut().set_greediness(greediness),
            _ => return,
        }
        // Deviation(GCA §III-B): the receiver of `kind = "tfrc"` knows the parameters at once. Its first loss interval alone
        // depends on them.
        if let Part::TfrcReceiver(end) = self.engine.node_mut(ends.receiver) {
            end.set_greediness(greediness);
        }
        self.engine.plan_again(ends.sender);
    }

    /// Replaces the rate that the path of a flow with a GCA law allows, until the next report.
    pub fn set_allowed_rate(&mut self, flow: u32, rate: Rate) {
        let Some(sender) = self.flows.get(flow as usize).map(|flow| flow.sender) else { return };
        match self.engine.node_mut(sender) {
            Part::TfrcSender(end) => end.set_allowed_rate(rate),
            Part::LiveSender(end) => end.session_mut().set_allowed_rate(rate),
            _ => return,
        }
        self.engine.plan_again(sender);
    }
}
