//! Rate control: the answers to "how fast may I send?".
//!
//! | law | module | |
//! |---|---|---|
//! | a fixed rate | [`fixed`] | independent of the path |
//! | a congestion window | [`windowed`] | any of [`window`], with its pacing if it has one |
//! | TFRC | [`tfrc`] | a pair of endpoints, a sender and a reporting receiver, since both determine its rate |
//! | TFRC from acknowledgements | [`one_sided`] | both at the sender |
//! | GCA | [`gca`] | TFRC, as greedy as its application says |
//! | NADA | [`nada`] | delay and loss as one signal, shared by priority |
//! | any of these, and an upper bound | [`capped`] | |
//!
//! The list of the laws is the call of `registry!` in this file. A session uses all but the pair through the same interface,
//! [`Allowance`]. Several GCA senders that share a link by their needs have the parameters of [`share`], or the rates of its
//! rival, [`fse`].
//!
//! Two laws belong to the receiver of a stored video, which asks its sender for a rate once per period. Their decisions also
//! depend on the receiver's buffer. Each has an interface of its own, and a sender cannot use either:
//!
//! | law | module | |
//! |---|---|---|
//! | R3CP+ | [`r3cp`] | by forecast, state of the path and the content of the buffer |
//! | TFCC | [`tfcc`] | additive increase, multiplicative decrease; the baseline of R3CP+ |

mod allowance;
pub mod capped;
pub mod fixed;
pub mod fse;
pub mod gca;
pub mod nada;
pub mod one_sided;
mod pacer;
pub mod r3cp;
pub mod share;
pub mod tfcc;
pub mod tfrc;
pub mod windowed;

pub use allowance::{Allowance, Report};
pub use pacer::Pacer;

use fixed::Fixed;
use gca::Greediness;
use nada::Nada;
use one_sided::OneSided;
use windowed::Windowed;

use crate::law::ParameterError;
use crate::law::registry::{Description, Line, Scope, forms, registry};
use crate::law::window;
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// The initial parameters of a rate law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// The start time.
    pub now: Time,
    /// The size of the packets, headers included, 1 to 65535 bytes.
    pub packet: Bytes,
    /// The upper bound of TFRC's rate; at most 1 Tb/s.
    pub most: Rate,
    /// The longest time on which a late caller may catch up, at most a second.
    pub slack: Span,
}

/// Implements [`Allowance`] for the running law.
macro_rules! delegate {
    ($($(#[cfg($($cfg:tt)*)])? $variant:ident)+) => {
        impl Allowance for Law {
            fn next_send(&self, in_flight: u32) -> Option<Time> {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.next_send(in_flight), )+ }
            }

            fn rate(&self, packet: Bytes, srtt: Span) -> Rate {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.rate(packet, srtt), )+ }
            }

            fn on_sent(&mut self, now: Time, size: Bytes) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.on_sent(now, size), )+ }
            }

            fn on_unpaced(&mut self, size: Bytes) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.on_unpaced(size), )+ }
            }

            fn on_delivered(&mut self, now: Time, number: u64, sent: Time, size: Bytes) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.on_delivered(now, number, sent, size), )+ }
            }

            fn on_report(&mut self, report: &Report) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.on_report(report), )+ }
            }

            fn on_silence(&mut self, now: Time, in_flight: u32) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.on_silence(now, in_flight), )+ }
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
    /// A congestion window: any of [`window`] that needs no playback rate.
    Window(Windowed<window::Law>),
    /// TFRC (RFC 5348), which takes far more memory than the others.
    Tfrc(Box<OneSided>),
    /// GCA, a TFRC with parameters.
    Gca(Box<OneSided<Greediness>>),
    /// NADA (RFC 8698).
    Nada(Box<Nada>),
    /// A fixed rate, headers included.
    Fixed(Fixed),
}

impl Law {
    /// The law, if it is GCA.
    pub fn gca(&self) -> Option<&OneSided<Greediness>> {
        if let Law::Gca(law) = self { Some(law) } else { None }
    }

    /// The law, if it is GCA, for a change of its parameters.
    pub fn gca_mut(&mut self) -> Option<&mut OneSided<Greediness>> {
        if let Law::Gca(law) = self { Some(law) } else { None }
    }
}

impl Choice {
    /// The rate, if it is a fixed one.
    pub fn fixed(&self) -> Option<Rate> {
        if let Choice::Fixed(rate) = self { Some(*rate) } else { None }
    }
}

impl Default for Choice {
    /// Copa: loss alone never slows it down.
    fn default() -> Choice {
        Choice::Window(window::Choice::Copa(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choice_is_parsed_printed_and_refused_with_a_reason() {
        for (text, choice) in [
            ("copa", Choice::default()),
            ("cubic", Choice::Window(window::Choice::Cubic(()))),
            ("tfrc", Choice::Tfrc(())),
            ("nada", Choice::Nada(nada::Priority::default())),
            ("gca", Choice::Gca(Greediness::default())),
            ("gca:4", Choice::Gca(Greediness::new(4.0, 0.5).expect("in the domain"))),
            ("gca:1:0.25", Choice::Gca(Greediness::new(1.0, 0.25).expect("in the domain"))),
            ("fixed:10mbit", Choice::Fixed(Rate::from_mbps(10))),
        ] {
            assert_eq!(text.parse(), Ok(choice.clone()));
            assert_eq!(choice.to_string(), text);
        }
        let refused = |text: &str| text.parse::<Choice>().expect_err(text).to_string();
        for text in ["bbr", "fixed", "10mbit", "copa:1", "tcp-stream"] {
            let error = refused(text);
            assert!(error.contains("fixed:RATE") && error.contains(text), "{error}");
        }
        for rate in ["", "fast", "40", "-1mbit"] {
            let error = refused(&format!("fixed:{rate}"));
            assert!(error.starts_with(&format!("'{rate}' is not a rate")) && error.contains("units are"), "{error}");
        }
        for (text, expected) in [
            ("gca:", "alpha: '' is not a number"),
            ("gca:1:", "beta: '' is not a number"),
            ("gca:0", "alpha must be at least 0.01 and at most 16, not 0"),
            ("gca:17", "alpha must be at least 0.01 and at most 16, not 17"),
            ("gca:NaN", "alpha: 'NaN' is not a number"),
            ("gca:1:1", "beta must be at least 0.05 and at most 0.95, not 1"),
            ("nada:0", "priority must be at least 0.05 and at most 20, not 0"),
            ("gca:1:0.5:2", "beta: '0.5:2' is not a number"),
        ] {
            assert_eq!(refused(text), expected);
        }
        assert!(refused("bbr").contains("gca[:ALPHA[:BETA]]"), "{}", refused("bbr"));
    }

    #[test]
    fn every_window_law_without_a_playback_rate_is_a_rate_law() {
        let names: Vec<_> = Choice::all().into_iter().map(|law| law.name).collect();
        for law in window::Choice::all() {
            assert_eq!(names.contains(&law.name), !law.needs_playback, "{law}");
        }
    }

    #[test]
    fn only_window_laws_wait_for_acknowledgements() {
        let most = Rate::from_mbps(100);
        let config = Config { now: Time::ZERO, packet: Bytes(1_200), most, slack: Span::from_millis(1) };
        let next = |choice| Law::new(&choice, &config).expect("in range").next_send(100);
        assert_eq!(next(Choice::default()), None);
        assert_eq!(next(Choice::Tfrc(())), Some(Time::ZERO));
        assert_eq!(next(Choice::Gca(Greediness::default())), Some(Time::ZERO));
        assert_eq!(next(Choice::Fixed(Rate::from_mbps(1))), Some(Time::ZERO));
    }
}
