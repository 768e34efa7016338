//! The registry of the schedules.

use super::adaptive::Adaptive;
use super::arq::Arq;
use super::cost_based::CostBased;
use super::opportunistic::Opportunistic;
use super::{Decision, ParameterError, Schedule, View, adaptive};
use crate::law::registry::{Description, Line, Scope, forms, registry};
use crate::probe::{Probe, Visitor};

/// The initial parameters of a schedule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// U_MAX: packets that are not innovative for each one that is, at least 0. For schedules that estimate it.
    pub max_overhead: f64,
}

/// Implements [`Schedule`] for the running law.
macro_rules! delegate {
    ($($(#[cfg($($cfg:tt)*)])? $variant:ident)+) => {
        impl Schedule for Law {
            fn choose(&mut self, view: &View<'_>) -> Decision {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.choose(view), )+ }
            }

            fn rest(&mut self) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.rest(), )+ }
            }
        }

        impl Probe for Law {
            fn probe(&self, visit: &mut Visitor<'_>) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.probe(visit), )+ }
            }
        }
    };
}

registry! {
    config: Config, delegate: delegate;
    /// Thalweg's own.
    Adaptive(Adaptive),
    /// The cost-based choice of FEC-ARQ.
    CostBased(CostBased),
    /// Repair in free opportunities.
    Opportunistic(Opportunistic),
    /// Retransmission alone.
    Arq(Arq),
    /// The example of `docs/design.md`, in tests alone.
    #[cfg(feature = "toy")]
    Toy(super::toy::Toy),
}

impl Default for Choice {
    /// Thalweg's own.
    fn default() -> Choice {
        Choice::Adaptive(adaptive::Parameters::default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::channel::Channel;
    use super::super::queues::in_flight;
    use super::super::{Next, Path};
    use super::*;
    use crate::time::{Span, Time};

    #[test]
    fn names_and_laws_convert_both_ways() {
        for Description { name, .. } in Choice::all() {
            let choice: Choice = name.parse().expect(name);
            assert_eq!((choice.to_string(), choice.description().name), (name.to_owned(), name));
        }
        assert_eq!("adaptive".parse(), Ok(Choice::default()));
        assert!("fec".parse::<Choice>().is_err());
    }

    /// A free opportunity with ten originals in flight: ARQ alone never repairs ahead of a loss.
    #[test]
    fn each_law_is_started_by_its_name() {
        let queue = in_flight(10, 0);
        let path = Path {
            eps: 0.2,
            channel: Channel::independent(0.2),
            rtt: Span::from_millis(10),
            slot: Span::from_millis(1),
        };
        for (name, repairs) in [("adaptive", true), ("cost-based", true), ("opportunistic", true), ("arq", false)] {
            let config = Config { max_overhead: 10.0 };
            let mut law = Law::new(&name.parse().expect(name), &config).expect("in range");
            let next = law.choose(&View { now: Time::ZERO, queue: &queue, path }).next;
            assert_eq!(matches!(next, Next::Repair { .. }), repairs, "{name}: {next:?}");
        }
    }

    #[test]
    fn bound_on_the_overhead_and_parameters_are_refused_out_of_range() {
        let started = |choice: &Choice, max_overhead| Law::new(choice, &Config { max_overhead });
        for name in ["adaptive", "cost-based"] {
            let choice: Choice = name.parse().expect(name);
            assert!(started(&choice, 0.5).is_ok() && started(&choice, -1.0).is_err(), "{name}");
        }
        for (name, parameter, good, bad) in [
            ("adaptive", "sure", "0.9", "1.1"),
            ("cost-based", "kappa", "0.2", "0"),
            ("cost-based", "cap", "0.6", "0"),
            ("opportunistic", "cap", "0.6", "-1"),
        ] {
            for (value, is_good) in [(good, true), (bad, false)] {
                let mut choice: Choice = name.parse().expect(name);
                choice.set(parameter, value).expect("a number");
                assert_eq!(started(&choice, 0.5).is_ok(), is_good, "{name}, {parameter} = {value}");
            }
        }
    }
}
