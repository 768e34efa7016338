//! One of the laws, as a plain value.

use core::fmt;
use core::str::FromStr;

use super::fixed::Fixed;
use super::one_sided::OneSided;
use super::tfrc::sender;
use super::windowed::Windowed;
use super::{Allowance, Report};
use crate::law::ParameterError;
use crate::law::window::{Flavour, Start, Window};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// What `--rate` names: `copa`, `cubic` or any other window law, `tfrc`, or `fixed:RATE`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// A congestion window.
    Window(Flavour),
    /// RFC 5348.
    Tfrc,
    /// A rate, headers included.
    Fixed(Rate),
}

impl Choice {
    /// The rate, if it is a fixed one.
    pub fn fixed(self) -> Option<Rate> {
        if let Choice::Fixed(rate) = self { Some(rate) } else { None }
    }
}

impl Default for Choice {
    /// Copa: loss alone never slows it down.
    fn default() -> Choice {
        Choice::Window(Flavour::Copa)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Window(flavour) => flavour.fmt(f),
            Choice::Tfrc => f.pad("tfrc"),
            Choice::Fixed(rate) => write!(f, "fixed:{rate}"),
        }
    }
}

impl FromStr for Choice {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Choice, ParameterError> {
        if let Some(rate) = text.strip_prefix("fixed:") {
            let rate: Result<Rate, _> = rate.parse();
            return rate.map(Choice::Fixed).map_err(|error| ParameterError::Refused(error.to_string()));
        }
        let found = match text {
            "tfrc" => Some(Choice::Tfrc),
            // Data have no playback rate.
            _ => text.parse().ok().filter(|flavour: &Flavour| !flavour.has_playback()).map(Choice::Window),
        };
        found.ok_or_else(|| ParameterError::Value {
            name: "rate",
            value: text.to_owned(),
            expected: "copa, cubic, tfrc, newreno, linux-reno, vegas or a rate such as fixed:10mbit",
        })
    }
}

/// Any of the laws.
#[derive(Clone, PartialEq, Debug)]
pub enum Law {
    /// A congestion window.
    Window(Windowed<Window>),
    /// RFC 5348; in a box, as it is far larger than the others.
    Tfrc(Box<OneSided>),
    /// A rate.
    Fixed(Fixed),
}

/// What a law is told at its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// When that is.
    pub now: Time,
    /// Size of the packets, headers included, 1 to 65535 bytes.
    pub packet: Bytes,
    /// More than this TFRC never asks for; at most 1 Tb/s.
    pub most: Rate,
    /// How much a caller who comes late may make up for, at most a second.
    pub slack: Span,
}

impl Law {
    /// The law of that name.
    ///
    /// # Errors
    /// A value is out of its range.
    pub fn new(choice: Choice, config: Config) -> Result<Law, ParameterError> {
        let Config { now, packet, most, slack } = config;
        Ok(match choice {
            Choice::Window(flavour) => Law::Window(Windowed::new(Window::new(flavour, Start::default()), slack)),
            Choice::Tfrc => {
                let config = sender::Config { granularity: slack, ..sender::Config::new(packet, most) };
                Law::Tfrc(OneSided::new(now, config)?.into())
            }
            Choice::Fixed(rate) => Law::Fixed(Fixed::new(rate, slack)),
        })
    }
}

/// Asks whichever law it is.
macro_rules! ask {
    ($of:expr, $law:ident => $question:expr) => {
        match $of {
            Law::Window($law) => $question,
            Law::Tfrc($law) => $question,
            Law::Fixed($law) => $question,
        }
    };
}

impl Allowance for Law {
    fn next_send(&self, in_flight: u32) -> Option<Time> {
        ask!(self, law => law.next_send(in_flight))
    }

    fn on_sent(&mut self, now: Time, size: Bytes) {
        ask!(self, law => law.on_sent(now, size));
    }

    fn on_delivered(&mut self, now: Time, number: u64, sent: Time, size: Bytes) {
        ask!(self, law => law.on_delivered(now, number, sent, size));
    }

    fn on_report(&mut self, report: &Report) {
        ask!(self, law => law.on_report(report));
    }

    fn on_silence(&mut self, now: Time, in_flight: u32) {
        ask!(self, law => law.on_silence(now, in_flight));
    }
}

impl Probe for Law {
    fn probe(&self, visit: &mut Visitor<'_>) {
        ask!(self, law => law.probe(visit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_told_in_words_and_refused_with_its_reason() {
        for (text, choice) in [
            ("copa", Choice::default()),
            ("cubic", Choice::Window(Flavour::Cubic)),
            ("tfrc", Choice::Tfrc),
            ("fixed:10mbit", Choice::Fixed(Rate::from_mbps(10))),
        ] {
            assert_eq!(text.parse(), Ok(choice));
            assert_eq!(choice.to_string(), text);
        }
        let refused = |text: &str| text.parse::<Choice>().expect_err(text).to_string();
        for text in ["bbr", "fixed", "10mbit"] {
            let error = refused(text);
            assert!(error.contains("fixed:10mbit") && error.contains(text), "{error}");
        }
        for rate in ["", "fast", "40", "-1mbit"] {
            let error = refused(&format!("fixed:{rate}"));
            assert!(error.starts_with(&format!("'{rate}' is not a rate")) && error.contains("units are"), "{error}");
        }
    }

    #[test]
    fn only_windows_wait_for_news() {
        let most = Rate::from_mbps(100);
        let config = Config { now: Time::ZERO, packet: Bytes(1_200), most, slack: Span::from_millis(1) };
        let next = |choice| Law::new(choice, config).expect("in range").next_send(100);
        assert_eq!(next(Choice::default()), None);
        assert_eq!(next(Choice::Tfrc), Some(Time::ZERO));
        assert_eq!(next(Choice::Fixed(Rate::from_mbps(1))), Some(Time::ZERO));
    }
}
