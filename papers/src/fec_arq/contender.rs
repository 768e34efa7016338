//! The strategies that are compared, and the readings of what the paper leaves open.

use thalweg_core::law::ParameterError;
use thalweg_core::law::schedule::cost::{Cost, Form};
use thalweg_core::law::schedule::gilbert_elliott::GilbertElliott;
use thalweg_core::law::schedule::loss::LossRate;
use thalweg_core::law::schedule::{Choice, Config, Law, adaptive, cost_based, opportunistic};

use super::case::{Case, Path};
use super::slots::{Knowledge, LossTimeout};
use crate::figure::Subject;
use crate::page::Tone;

/// A strategy with a reading.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Contender {
    /// The strategy.
    pub strategy: Strategy,
    /// The reading.
    pub variant: Variant,
}

/// A transmission strategy of §IV, or Thalweg's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Strategy {
    /// Retransmission only.
    Arq,
    /// "No cost": repair in free opportunities.
    Opportunistic,
    /// The cost-based choice.
    Cost,
    /// A sender that learns of each loss as it happens: the lower bound if delays are constant.
    Bound,
    /// Thalweg's own law.
    Ours,
}

/// A reading of what the paper leaves open.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variant {
    /// A loss is detected one round trip after the packet was sent; Eq. (6) as in the paper's example.
    Literal,
    /// A loss is detected after one and a half round trips; otherwise as [`Variant::Literal`].
    Rto,
    /// As [`Variant::Rto`], with only the first term of Eq. (3) as the cost.
    OneTerm,
    /// As [`Variant::Rto`], with the second term of Eq. (6) times .2, and fewer combinations in flight than .6 (D - B)
    /// if no original waits: these numbers were fitted to the tables themselves.
    Fitted,
    /// As [`Variant::Literal`], but a loss is detected when Thalweg's sender would detect it.
    Overdue,
    /// The session itself on a packet network (`session.rs`); Eq. (6) as in the paper's example.
    Session,
}

/// The initial estimate of the loss rate, on recordings.
const PRIOR: f64 = 0.05;
/// kappa of [`Variant::Fitted`].
const KAPPA: f64 = 0.2;
/// The share of B..D below which combinations in flight stay, of [`Variant::Fitted`].
const CAP: f64 = 0.6;

impl Contender {
    /// A strategy with a reading; readings that make no difference to the strategy are merged into one.
    pub const fn new(strategy: Strategy, variant: Variant) -> Contender {
        let variant = match (strategy, variant) {
            (_, Variant::Session) => Variant::Session,
            (Strategy::Bound | Strategy::Ours, _) => Variant::Literal,
            (Strategy::Arq, Variant::OneTerm | Variant::Fitted) => Variant::Rto,
            (Strategy::Opportunistic, Variant::OneTerm) => Variant::Rto,
            (_, variant) => variant,
        };
        Contender { strategy, variant }
    }

    /// A sender that learns of each loss as it happens; if delays are constant, a bound that no other sender can
    /// exceed.
    pub const BOUND: Contender = Contender::new(Strategy::Bound, Variant::Literal);
    /// Thalweg's own law.
    pub const OURS: Contender = Contender::new(Strategy::Ours, Variant::Literal);

    /// The transmission law for this case.
    ///
    /// # Errors
    /// Refuses a case whose bound on the overhead is out of range.
    pub(super) fn law(self, case: &Case) -> Result<Law, ParameterError> {
        Law::new(&self.choice(), &Config { max_overhead: f64::from(case.u_max) / 1e3 })
    }

    /// The schedule, as a tunnel would name it.
    fn choice(self) -> Choice {
        let cost_based = |form, kappa, cap| {
            let cost = Cost { form, kappa };
            Choice::CostBased(cost_based::Parameters { cost, cap, ..cost_based::Parameters::default() })
        };
        match (self.strategy, self.variant) {
            (Strategy::Arq | Strategy::Bound, _) => Choice::Arq(()),
            (Strategy::Opportunistic, Variant::Fitted) => {
                Choice::Opportunistic(opportunistic::Parameters { cap: Some(CAP) })
            }
            (Strategy::Opportunistic, _) => Choice::Opportunistic(opportunistic::Parameters::default()),
            (Strategy::Cost, Variant::Literal | Variant::Rto | Variant::Overdue | Variant::Session) => {
                cost_based(Form::Example, 1.0, None)
            }
            (Strategy::Cost, Variant::OneTerm) => cost_based(Form::OneTerm, 1.0, None),
            (Strategy::Cost, Variant::Fitted) => cost_based(Form::Example, KAPPA, Some(CAP)),
            (Strategy::Ours, _) => Choice::Adaptive(adaptive::Parameters::default()),
        }
    }

    /// The source of the sender's knowledge of the loss rate of a recording.
    ///
    /// # Errors
    /// Returned only if an estimator refuses its default parameters.
    pub(super) fn knowledge(self) -> Result<Knowledge, ParameterError> {
        match self.strategy {
            Strategy::Ours => Ok(Knowledge::Fitted(GilbertElliott::new(PRIOR, GilbertElliott::MEMORY)?)),
            _ => Ok(Knowledge::Estimated(LossRate::new(PRIOR, LossRate::WINDOW)?)),
        }
    }

    /// The rule by which the sender declares a packet lost.
    pub(super) fn timeout(self, case: &Case) -> LossTimeout {
        match (self.strategy, self.variant, case.path) {
            (Strategy::Bound, ..) => LossTimeout::Oracle,
            (Strategy::Ours, ..) | (_, Variant::Overdue, _) => LossTimeout::Overdue,
            (_, Variant::Literal, Path::Random { .. }) => LossTimeout::RoundTrips(100),
            // Varying round-trip times need a margin; otherwise every packet with an RTT above the mean would be
            // declared lost.
            _ => LossTimeout::RoundTrips(150),
        }
    }

    /// The name in this case. If delays vary, a sender that learns of each loss at once is no bound, because a sender
    /// that sends more may benefit from a copy that is not late.
    pub fn name_in(self, case: &Case) -> &'static str {
        match (self.strategy, case.path) {
            (Strategy::Bound, Path::Recorded(_)) => "ARQ, with known losses",
            _ => self.name(),
        }
    }
}

impl Strategy {
    /// The strategies that the paper compares, except the bound.
    pub const PAPER: [Strategy; 3] = [Strategy::Arq, Strategy::Opportunistic, Strategy::Cost];

    /// The strategies that a session can have.
    pub const SESSION: [Strategy; 4] = [Strategy::Arq, Strategy::Opportunistic, Strategy::Cost, Strategy::Ours];

    /// The name in the paper's figures.
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
    /// All readings of the paper.
    pub const ALL: [Variant; 4] = [Variant::Literal, Variant::Rto, Variant::OneTerm, Variant::Fitted];
    /// The readings that are shown side by side everywhere.
    pub const SHOWN: [Variant; 2] = [Variant::Fitted, Variant::Literal];
}

impl Subject for Contender {
    fn name(self) -> &'static str {
        match (self.strategy, self.variant) {
            (Strategy::Arq, Variant::Session) => "ARQ, session",
            (Strategy::Opportunistic, Variant::Session) => "no cost, session",
            (Strategy::Cost, Variant::Session) => "cost, session",
            (Strategy::Ours, Variant::Session) => "Thalweg, session",
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

    fn tone(self) -> Tone {
        Tone(match self.strategy {
            Strategy::Arq => 0,
            Strategy::Opportunistic => 1,
            Strategy::Cost if self.variant == Variant::Literal => 5,
            Strategy::Cost => 3,
            Strategy::Bound => 4,
            Strategy::Ours => 2,
        })
    }
}
