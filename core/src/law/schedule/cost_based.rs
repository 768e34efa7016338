//! The cost-based choice of §II-B: a new original, or a combination of B..=e for any e, whichever minimizes the
//! expected waiting, within the overhead allowed (§III-A).

use super::channel::Channel;
use super::cost::Cost;
use super::decodability::Decodability;
use super::opportunistic::is_full;
use super::{Config, Decision, LARGEST, ParameterError, Queue, Schedule, View, parameter};
use crate::law::registry::{self, Entry};
use crate::probe::{Probe, Visitor};

/// The parameters of the choice.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters {
    /// The cost function.
    pub cost: Cost,
    /// U_MAX of §III-A: useless packets for each one that is needed, at least 0. The paper's 10 never binds.
    pub u_max: f64,
    /// If no new original waits, a repair packet that may be useless is sent only while combinations in flight are
    /// fewer than this share of B..D. The paper has no such limit.
    pub cap: Option<f64>,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { cost: Cost::default(), u_max: 10.0, cap: None }
    }
}

impl Parameters {
    /// Checks that the values are valid.
    ///
    /// # Errors
    /// A value is outside its range.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.cost.check()?;
        parameter::within("u_max", self.u_max, 0.0..=1e6)?;
        self.cap.map_or(Ok(()), |cap| parameter::within("cap", cap, parameter::positive(1e6)))
    }
}

impl registry::Parameters for Parameters {
    const NAMES: &'static [&'static str] = &["cost", "kappa", "cap"];

    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        match parameter::known(name, <Parameters as registry::Parameters>::NAMES)? {
            "cap" => self.cap = Some(parameter::number("cap", value)?),
            name => self.cost.set(name, value)?,
        }
        Ok(())
    }
}

/// The cost-based law.
#[derive(Clone, PartialEq, Debug)]
pub struct CostBased {
    parameters: Parameters,
    now: Decodability,
    new: f64,
    repair: f64,
}

/// Costs that differ by less are equal.
const TIE: f64 = 1e-12;
/// Packets that are useless with at most this probability never raise the overhead: §III-A.
const HARMLESS: f64 = 1e-12;

impl CostBased {
    /// A law with these parameters.
    ///
    /// # Errors
    /// They do not pass [`Parameters::check`].
    pub fn new(parameters: Parameters) -> Result<CostBased, ParameterError> {
        parameters.check()?;
        Ok(CostBased { parameters, now: Decodability::default(), new: f64::NAN, repair: f64::NAN })
    }

    /// The place after B of the last original of the best repair packet, and its cost.
    fn best_repair(&self, queue: &Queue, eps: f64) -> Option<(usize, f64)> {
        let Parameters { cost, u_max, cap } = &self.parameters;
        let is_idle = queue.m() == 0;
        // Deviation(FEC-ARQ §III-A): a packet that cannot be useless is sent at any overhead, or a small U_MAX would
        // block the head of the queue for ever.
        let is_allowed = |nth: &usize| {
            let p_useless = self.now.p()[*nth];
            p_useless <= HARMLESS || queue.overhead().with(p_useless) <= *u_max && !(is_idle && is_full(queue, *cap))
        };
        let costs = (0..self.now.candidates().min(LARGEST))
            .filter(is_allowed)
            .map(|nth| (nth, cost.of_repair(queue, &self.now, eps, nth)));
        costs.reduce(|best, next| if next.1 < best.1 - TIE { next } else { best })
    }
}

impl Entry<Config> for CostBased {
    const NAME: &'static str = "cost-based";
    const ABOUT: &'static str = "the choice of the FEC-ARQ paper";
    type Parameters = Parameters;

    fn start(parameters: &Parameters, config: &Config) -> Result<CostBased, ParameterError> {
        CostBased::new(Parameters { u_max: config.max_overhead, ..parameters.clone() })
    }
}

impl Schedule for CostBased {
    fn choose(&mut self, view: &View<'_>) -> Decision {
        let (queue, eps) = (view.queue, view.path.eps);
        if queue.is_empty() {
            return Decision::IDLE;
        }
        self.now.evaluate(queue, &Channel::independent(eps), |_| 1.0);
        let repair = self.best_repair(queue, eps);
        self.repair = repair.map_or(f64::NAN, |(_, cost)| cost);
        self.new = if queue.m() > 0 { self.parameters.cost.of_new(queue, &self.now, eps) } else { f64::NAN };
        match repair {
            Some((nth, cost)) if queue.m() == 0 || cost < self.new - TIE => {
                Decision::repair(queue, queue.b() + nth as u64, self.now.p()[nth])
            }
            _ if queue.m() > 0 => Decision::NEW,
            _ => Decision::IDLE,
        }
    }

    fn rest(&mut self) {
        self.now.rest();
    }
}

impl Probe for CostBased {
    /// Shows `q` (Q of the packets in flight), `cost_new` (C_ORIG) and `cost_repair` (the least C_FEC) of the last
    /// choice.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("q", self.now.q());
        visit("cost_new", self.new);
        visit("cost_repair", self.repair);
    }
}

#[cfg(test)]
mod tests;
