//! The registry of the window laws.

use super::clamp::Clamp;
use super::copa::Copa;
use super::cubic::Cubic;
use super::linux_reno::LinuxReno;
use super::newreno::NewReno;
use super::tcp_stream::TcpStream;
use super::vegas::Vegas;
use super::{Acked, CongestionWindow, ParameterError, Playback, Start};
use crate::law::registry::{Description, Line, Scope, forms, registry};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};

/// The initial state of a window law.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Config {
    /// The initial window and threshold.
    pub start: Start,
    /// The video that the segments carry; required by laws that depend on its rate.
    pub playback: Option<Playback>,
}

impl Config {
    /// The video.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn video(&self) -> Result<Playback, ParameterError> {
        self.playback.ok_or_else(|| ParameterError::Refused("the law requires the playback rate of a video".to_owned()))
    }
}

/// Implements [`CongestionWindow`] for the running law.
macro_rules! delegate {
    ($($(#[cfg($($cfg:tt)*)])? $variant:ident)+) => {
        impl CongestionWindow for Law {
            fn on_ack(&mut self, acked: &Acked) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.on_ack(acked), )+ }
            }

            fn on_repair_ack(&mut self, acked: &Acked, lost: u32) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.on_repair_ack(acked, lost), )+ }
            }

            fn on_loss(&mut self, now: Time, flight: u32) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.on_loss(now, flight), )+ }
            }

            fn on_recovered(&mut self, now: Time) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.on_recovered(now), )+ }
            }

            fn on_timeout(&mut self, now: Time, flight: u32, again: bool) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.on_timeout(now, flight, again), )+ }
            }

            fn cwnd(&self) -> f64 {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.cwnd(), )+ }
            }

            fn ssthresh(&self) -> f64 {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.ssthresh(), )+ }
            }

            fn gap(&self) -> Option<Span> {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.gap(), )+ }
            }

            fn burst(&self) -> u32 {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.burst(), )+ }
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
    /// Arun and Balakrishnan.
    Copa(Box<Copa>),
    /// RFC 9438.
    Cubic(Cubic),
    /// RFC 5681.
    NewReno(NewReno),
    /// Reno as in Linux.
    LinuxReno(LinuxReno),
    /// Brakmo and Peterson.
    Vegas(Vegas),
    /// Oda, Hisamatsu and Noborio.
    TcpStream(TcpStream),
    /// NewReno below the playback rate.
    Clamp(Clamp),
    /// The example of `docs/design.md`, in tests alone.
    #[cfg(feature = "toy")]
    Toy(super::toy::Toy),
}

impl Default for Choice {
    /// The law of RFC 5681.
    fn default() -> Choice {
        Choice::NewReno(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::Path;
    use super::*;

    fn started(name: &str, start: Start) -> Law {
        let config = Config { start, playback: Some(Playback::default()) };
        Law::new(&Choice::named(name).expect(name), &config).expect("in range")
    }

    #[test]
    fn names_and_laws_convert_both_ways() {
        for Description { name, .. } in Choice::all() {
            let choice: Choice = name.parse().expect(name);
            assert_eq!((choice.to_string(), choice.description().name), (name.to_owned(), name));
            let law = started(name, Start { iw: 3, ssthresh: 50.0 });
            assert_eq!((law.cwnd(), law.ssthresh()), (3.0, 50.0), "{name}");
        }
        let error = "reno".parse::<Choice>().expect_err("there are two Renos").to_string();
        assert!(error.contains("linux-reno"), "{error}");
    }

    #[test]
    fn a_law_without_the_video_that_it_needs_is_refused() {
        for law in Choice::all() {
            let started = Law::new(&Choice::named(law.name).expect(law.name), &Config::default());
            assert_eq!(started.is_err(), law.needs_playback, "{law}");
        }
    }

    #[test]
    fn slow_start_doubles_the_window_every_round_under_every_law_but_vegas() {
        for name in ["newreno", "linux-reno", "cubic"] {
            let mut path = Path::new(started(name, Start { iw: 2, ..Start::default() }));
            for round in 1..=8 {
                path.round();
                assert_eq!(path.law.cwnd(), 2.0 * f64::from(1 << round), "{name}, round {round}");
            }
        }
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_lowers_the_threshold_once() {
        for (name, left) in [("newreno", 20.0), ("linux-reno", 20.0), ("cubic", 28.0), ("vegas", 20.0)] {
            let mut law = started(name, Start { iw: 40, ..Start::default() });
            law.on_timeout(Time::ZERO, 40, false);
            assert_eq!((law.cwnd(), law.ssthresh()), (1.0, left), "{name}");
            // The same segment times out again: RFC 5681 §3.1 keeps the threshold.
            law.on_timeout(Time::ZERO, 1, true);
            assert_eq!((law.cwnd(), law.ssthresh()), (1.0, left), "{name}");
            // Another segment times out: one was in flight, and the threshold is never below two.
            law.on_timeout(Time::ZERO, 1, false);
            assert_eq!((law.cwnd(), law.ssthresh()), (1.0, 2.0), "{name}");
        }
    }

    #[test]
    fn window_does_not_grow_while_the_sender_is_application_limited() {
        for law in Choice::all() {
            for ssthresh in [f64::INFINITY, 2.0] {
                let mut path = Path::new(started(law.name, Start { iw: 10, ssthresh }));
                path.window_limited = false;
                (0..50).for_each(|_| path.round());
                assert_eq!(path.law.cwnd(), 10.0, "{law}");
            }
        }
    }
}
