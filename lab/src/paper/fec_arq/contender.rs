//! What is compared, and the readings of what the paper leaves open.

use thalweg_core::law::ParameterError;
use thalweg_core::law::schedule::Schedule;
use thalweg_core::law::schedule::adaptive::{self, Adaptive};
use thalweg_core::law::schedule::arq::Arq;
use thalweg_core::law::schedule::cost::{Cost, Form};
use thalweg_core::law::schedule::cost_based::{self, CostBased};
use thalweg_core::law::schedule::gilbert_elliott::GilbertElliott;
use thalweg_core::law::schedule::loss::LossRate;
use thalweg_core::law::schedule::opportunistic::Opportunistic;

use super::case::{Case, Line};
use super::slots::{Knowledge, Patience};
use crate::paper::figure::Subject;

/// A strategy under a reading.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Contender {
    /// Which strategy.
    pub strategy: Strategy,
    /// Which reading.
    pub variant: Variant,
}

/// A transmission strategy of §IV, or Thalweg's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Strategy {
    /// Retransmission alone.
    Arq,
    /// "No cost": repair in free opportunities.
    Opportunistic,
    /// The cost-based choice.
    Cost,
    /// A sender that is told what is lost, as it is lost: the lower bound where delays are constant.
    Bound,
    /// Thalweg's own law.
    Ours,
}

/// A reading of what the paper leaves open.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variant {
    /// A loss is known a round trip after the packet; Eq. (6) as its example has it.
    Literal,
    /// A loss is known after one and a half round trips.
    Rto,
    /// So, and with the first term of Eq. (3) for a cost.
    OneTerm,
    /// So, with the second term of Eq. (6) times .2, and fewer combinations in flight than .6 (D - B) where nothing waits:
    /// numbers that were chosen by the tables themselves.
    Fitted,
    /// As [`Variant::Literal`], and a loss is known when Thalweg's sender would know it.
    Overdue,
}

/// The loss rate that is believed before anything is known, on recordings.
const PRIOR: f64 = 0.05;
/// kappa of [`Variant::Fitted`].
const KAPPA: f64 = 0.2;
/// The share of B..D that combinations in flight stay below, of [`Variant::Fitted`].
const CAP: f64 = 0.6;

impl Contender {
    /// The strategy under a reading, by the one name of readings that make no difference to it.
    pub const fn new(strategy: Strategy, variant: Variant) -> Contender {
        let variant = match (strategy, variant) {
            (Strategy::Bound | Strategy::Ours, _) => Variant::Literal,
            (Strategy::Arq, Variant::OneTerm | Variant::Fitted) => Variant::Rto,
            (Strategy::Opportunistic, Variant::OneTerm) => Variant::Rto,
            (_, variant) => variant,
        };
        Contender { strategy, variant }
    }

    /// A sender that is told of losses; where delays are constant, a bound that no other can reach.
    pub const BOUND: Contender = Contender::new(Strategy::Bound, Variant::Literal);
    /// Thalweg's own law.
    pub const OURS: Contender = Contender::new(Strategy::Ours, Variant::Literal);

    /// The law, for this case.
    ///
    /// # Errors
    /// The case's bound on the overhead is no such thing.
    pub(super) fn law(self, case: &Case) -> Result<Box<dyn Schedule>, ParameterError> {
        let u_max = f64::from(case.u_max) / 1e3;
        let cost_based = |form, kappa, cap| {
            let parameters = cost_based::Parameters { cost: Cost { form, kappa }, u_max, cap };
            CostBased::new(parameters).map(|law| Box::new(law) as Box<dyn Schedule>)
        };
        match (self.strategy, self.variant) {
            (Strategy::Arq | Strategy::Bound, _) => Ok(Box::new(Arq)),
            (Strategy::Opportunistic, Variant::Fitted) => Ok(Box::new(Opportunistic::capped(CAP)?)),
            (Strategy::Opportunistic, _) => Ok(Box::new(Opportunistic::new())),
            (Strategy::Cost, Variant::Literal | Variant::Rto | Variant::Overdue) => {
                cost_based(Form::Example, 1.0, None)
            }
            (Strategy::Cost, Variant::OneTerm) => cost_based(Form::OneTerm, 1.0, None),
            (Strategy::Cost, Variant::Fitted) => cost_based(Form::Example, KAPPA, Some(CAP)),
            (Strategy::Ours, _) => {
                let parameters = adaptive::Parameters { u_max, ..adaptive::Parameters::default() };
                Ok(Box::new(Adaptive::new(parameters)?))
            }
        }
    }

    /// Source of the sender's knowledge of the loss rate of a recording.
    ///
    /// # Errors
    /// An estimator refuses its own defaults.
    pub(super) fn knowledge(self) -> Result<Knowledge, ParameterError> {
        match self.strategy {
            Strategy::Ours => Ok(Knowledge::Fitted(GilbertElliott::new(PRIOR, GilbertElliott::MEMORY)?)),
            _ => Ok(Knowledge::Estimated(LossRate::new(PRIOR, LossRate::WINDOW)?)),
        }
    }

    /// When the sender takes a packet for lost.
    pub(super) fn patience(self, case: &Case) -> Patience {
        match (self.strategy, self.variant, case.line) {
            (Strategy::Bound, ..) => Patience::Oracle,
            (Strategy::Ours, ..) | (_, Variant::Overdue, _) => Patience::Overdue,
            (_, Variant::Literal, Line::Random { .. }) => Patience::RoundTrips(100),
            // Round trips that change need room, or everything above the mean would count as lost.
            _ => Patience::RoundTrips(150),
        }
    }

    /// Name in this case: where delays vary, a sender that is told each loss at once is no bound, since one that sends
    /// more may be helped by a packet that is not late.
    pub fn name_in(self, case: &Case) -> &'static str {
        match (self.strategy, case.line) {
            (Strategy::Bound, Line::Recorded(_)) => "ARQ, told of losses",
            _ => self.name(),
        }
    }
}

impl Strategy {
    /// What the paper compares, but for the bound.
    pub const PAPER: [Strategy; 3] = [Strategy::Arq, Strategy::Opportunistic, Strategy::Cost];

    /// As the paper's figures call it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Strategy::Arq => "ARQ",
            Strategy::Opportunistic => "no cost",
            Strategy::Cost => "cost",
            Strategy::Bound => "bound",
            Strategy::Ours => "Thalweg",
        }
    }
}

impl Variant {
    /// All that the paper may mean.
    pub const ALL: [Variant; 4] = [Variant::Literal, Variant::Rto, Variant::OneTerm, Variant::Fitted];
    /// Those that are shown side by side everywhere.
    pub const SHOWN: [Variant; 2] = [Variant::Fitted, Variant::Literal];
}

impl Subject for Contender {
    fn name(self) -> &'static str {
        match (self.strategy, self.variant) {
            (Strategy::Arq, Variant::Literal) => "ARQ, literal",
            (Strategy::Arq, Variant::Overdue) => "ARQ, overdue",
            (Strategy::Arq, _) => "ARQ, 1.5 RTT",
            (Strategy::Opportunistic, Variant::Literal) => "no cost, literal",
            (Strategy::Opportunistic, Variant::Fitted) => "no cost, fitted",
            (Strategy::Opportunistic, Variant::Overdue) => "no cost, overdue",
            (Strategy::Opportunistic, _) => "no cost, 1.5 RTT",
            (Strategy::Cost, Variant::Literal) => "cost, literal",
            (Strategy::Cost, Variant::Rto) => "cost, 1.5 RTT",
            (Strategy::Cost, Variant::OneTerm) => "cost, Eq. (3)",
            (Strategy::Cost, Variant::Fitted) => "cost, fitted",
            (Strategy::Cost, Variant::Overdue) => "cost, overdue",
            (Strategy::Bound, _) => "lower bound",
            (Strategy::Ours, _) => "Thalweg",
        }
    }
}
