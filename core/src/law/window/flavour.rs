//! One of the laws, as a plain value.

use core::fmt;
use core::str::FromStr;

use super::clamp::Clamp;
use super::copa::Copa;
use super::cubic::Cubic;
use super::linux_reno::LinuxReno;
use super::newreno::NewReno;
use super::playback::Playback;
use super::tcp_stream::{TcpStream, Variant};
use super::vegas::Vegas;
use super::{Acked, CongestionWindow, ParameterError, Start};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};

/// The name of a law.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Flavour {
    /// RFC 5681: `newreno`.
    #[default]
    NewReno,
    /// Reno as Linux has it: `linux-reno`.
    LinuxReno,
    /// RFC 9438: `cubic`.
    Cubic,
    /// Brakmo and Peterson: `vegas`.
    Vegas,
    /// Arun and Balakrishnan: `copa`.
    Copa,
    /// Oda, Hisamatsu and Noborio: `tcp-stream`.
    TcpStream,
    /// NewReno below the playback rate: `clamp`.
    Clamp,
}

impl Flavour {
    /// Every flavour.
    pub const ALL: [Flavour; 7] = [
        Flavour::NewReno,
        Flavour::LinuxReno,
        Flavour::Cubic,
        Flavour::Vegas,
        Flavour::Copa,
        Flavour::TcpStream,
        Flavour::Clamp,
    ];

    /// The name that [`Flavour::from_str`] reads.
    pub const fn name(self) -> &'static str {
        match self {
            Flavour::NewReno => "newreno",
            Flavour::LinuxReno => "linux-reno",
            Flavour::Cubic => "cubic",
            Flavour::Vegas => "vegas",
            Flavour::Copa => "copa",
            Flavour::TcpStream => "tcp-stream",
            Flavour::Clamp => "clamp",
        }
    }

    /// Whether the law must know how fast a film is played.
    pub const fn has_playback(self) -> bool {
        matches!(self, Flavour::TcpStream | Flavour::Clamp)
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Flavour {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Flavour, ParameterError> {
        let found = Flavour::ALL.into_iter().find(|flavour| flavour.name() == text);
        found.ok_or_else(|| ParameterError::Value {
            name: "tcp",
            value: text.to_owned(),
            expected: "newreno, linux-reno, cubic, vegas, copa, tcp-stream or clamp",
        })
    }
}

/// Any of the laws, not behind a trait, so that an endpoint that holds one stays a plain value.
#[derive(Clone, PartialEq, Debug)]
pub enum Window {
    /// RFC 5681.
    NewReno(NewReno),
    /// Reno as Linux has it.
    LinuxReno(LinuxReno),
    /// RFC 9438.
    Cubic(Cubic),
    /// Brakmo and Peterson.
    Vegas(Vegas),
    /// Arun and Balakrishnan; in a box, so that those who run another law do not carry its memory.
    Copa(Box<Copa>),
    /// Oda, Hisamatsu and Noborio.
    TcpStream(TcpStream),
    /// NewReno below the playback rate.
    Clamp(Clamp),
}

impl Window {
    /// The law called `flavour`, with its default constants.
    pub fn new(flavour: Flavour, start: Start) -> Window {
        match flavour {
            Flavour::NewReno => Window::NewReno(NewReno::new(start)),
            Flavour::LinuxReno => Window::LinuxReno(LinuxReno::new(start)),
            Flavour::Cubic => Window::Cubic(Cubic::new(start)),
            Flavour::Vegas => Window::Vegas(Vegas::new(start)),
            Flavour::Copa => Window::Copa(Copa::new(start).into()),
            Flavour::TcpStream => Window::TcpStream(TcpStream::new(start, Playback::default(), Variant::default())),
            Flavour::Clamp => Window::Clamp(Clamp::new(start, Playback::default())),
        }
    }
}

/// Asks whichever law it is.
macro_rules! ask {
    ($window:expr, $law:ident => $question:expr) => {
        match $window {
            Window::NewReno($law) => $question,
            Window::LinuxReno($law) => $question,
            Window::Cubic($law) => $question,
            Window::Vegas($law) => $question,
            Window::Copa($law) => $question,
            Window::TcpStream($law) => $question,
            Window::Clamp($law) => $question,
        }
    };
}

impl CongestionWindow for Window {
    fn on_ack(&mut self, acked: &Acked) {
        ask!(self, law => law.on_ack(acked));
    }

    fn on_repair_ack(&mut self, acked: &Acked, lost: u32) {
        ask!(self, law => law.on_repair_ack(acked, lost));
    }

    fn on_loss(&mut self, now: Time, flight: u32) {
        ask!(self, law => law.on_loss(now, flight));
    }

    fn on_recovered(&mut self, now: Time) {
        ask!(self, law => law.on_recovered(now));
    }

    fn on_timeout(&mut self, now: Time, flight: u32, again: bool) {
        ask!(self, law => law.on_timeout(now, flight, again));
    }

    fn cwnd(&self) -> f64 {
        ask!(self, law => law.cwnd())
    }

    fn ssthresh(&self) -> f64 {
        ask!(self, law => law.ssthresh())
    }

    fn gap(&self) -> Option<Span> {
        ask!(self, law => law.gap())
    }

    fn burst(&self) -> u32 {
        ask!(self, law => law.burst())
    }
}

impl Probe for Window {
    fn probe(&self, visit: &mut Visitor<'_>) {
        ask!(self, law => law.probe(visit));
    }
}

#[cfg(test)]
mod tests {
    use super::super::toy;
    use super::*;

    #[test]
    fn a_name_leads_to_its_law_and_back() {
        for flavour in Flavour::ALL {
            assert_eq!(flavour.to_string().parse(), Ok(flavour));
            let window = Window::new(flavour, Start { iw: 3, ssthresh: 50.0 });
            assert_eq!((window.cwnd(), window.ssthresh()), (3.0, 50.0));
        }
        let error = "reno".parse::<Flavour>().expect_err("there are two Renos").to_string();
        assert!(error.contains("linux-reno"), "{error}");
    }

    #[test]
    fn slow_start_doubles_the_window_every_round_under_every_law_but_vegas() {
        for flavour in [Flavour::NewReno, Flavour::LinuxReno, Flavour::Cubic] {
            let mut path = toy::Path::new(Window::new(flavour, Start { iw: 2, ..Start::default() }));
            for round in 1..=8 {
                path.round();
                assert_eq!(path.law.cwnd(), 2.0 * f64::from(1 << round), "{flavour}, round {round}");
            }
        }
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_lowers_the_threshold_once() {
        for (flavour, left) in
            [(Flavour::NewReno, 20.0), (Flavour::LinuxReno, 20.0), (Flavour::Cubic, 28.0), (Flavour::Vegas, 20.0)]
        {
            let mut law = Window::new(flavour, Start { iw: 40, ..Start::default() });
            law.on_timeout(Time::ZERO, 40, false);
            assert_eq!((law.cwnd(), law.ssthresh()), (1.0, left), "{flavour}");
            // The same segment times out again: RFC 5681 §3.1 holds the threshold.
            law.on_timeout(Time::ZERO, 1, true);
            assert_eq!((law.cwnd(), law.ssthresh()), (1.0, left), "{flavour}");
            // Another one does: one segment was in flight, and the threshold is never below two.
            law.on_timeout(Time::ZERO, 1, false);
            assert_eq!((law.cwnd(), law.ssthresh()), (1.0, 2.0), "{flavour}");
        }
    }

    #[test]
    fn a_window_that_holds_nobody_back_does_not_grow() {
        for flavour in Flavour::ALL {
            for ssthresh in [f64::INFINITY, 2.0] {
                let mut path = toy::Path::new(Window::new(flavour, Start { iw: 10, ssthresh }));
                path.window_limited = false;
                (0..50).for_each(|_| path.round());
                assert_eq!(path.law.cwnd(), 10.0, "{flavour}");
            }
        }
    }
}
