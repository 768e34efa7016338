//! Congestion windows: the answers to "how fast may I send?" that limit the packets in flight, one law per file.
//!
//! The list of the laws is the call of `registry!` in this file. A law here is only the arithmetic of a congestion window.
//! Round-trip estimation, loss detection, the packets in flight and the choice of the next packet belong to the endpoint, so
//! that laws stay small and the mechanism exists once.

pub mod clamp;
pub mod copa;
pub mod cubic;
pub mod linux_reno;
pub mod newreno;
#[cfg(test)]
mod path;
pub mod playback;
mod start;
pub mod tcp_stream;
#[cfg(feature = "toy")]
pub mod toy;
pub mod vegas;

pub use playback::Playback;
pub use start::Start;

use clamp::Clamp;
use copa::Copa;
use cubic::Cubic;
use linux_reno::LinuxReno;
use newreno::NewReno;
use tcp_stream::TcpStream;
use vegas::Vegas;

use super::{ParameterError, parameter};
use crate::law::registry::{Description, Line, Scope, forms, registry};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};

/// The changes that one acknowledgement brings, in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Acked {
    /// The time at which it arrived.
    pub now: Time,
    /// Segments that it acknowledged for the first time, cumulatively or selectively.
    pub newly: u32,
    /// Segments in flight before it arrived (FlightSize of RFC 5681).
    pub flight: u32,
    /// A round-trip sample, where Karn's rule allows one.
    pub rtt: Option<Span>,
    /// The smoothed round trip (RFC 6298), after the first sample.
    pub srtt: Option<Span>,
    /// True if it is the first acknowledgement of a segment that was sent after the last round ended.
    pub round_end: bool,
    /// True if the window held the endpoint back; a window that did not must not grow (RFC 7661, RFC 9438 §5.8).
    pub window_limited: bool,
}

/// A law that determines the number of segments in flight.
///
/// The endpoint calls `on_ack` for each acknowledgement outside loss recovery and `on_repair_ack` for every other,
/// `on_loss` once when recovery begins, `on_recovered` once when it ends, and `on_timeout` when the retransmission
/// timer expires.
pub trait CongestionWindow: Probe {
    /// Takes an acknowledgement into account.
    fn on_ack(&mut self, acked: &Acked);

    /// Takes an acknowledgement into account that arrived during or shortly before loss recovery, with `lost` segments
    /// newly declared lost. Laws for which loss is congestion do not change then; `round_end` is never set.
    fn on_repair_ack(&mut self, _acked: &Acked, _lost: u32) {}

    /// Handles a loss detected with `flight` segments in flight (RFC 5681 §3.2): sets the slow-start threshold and the
    /// window that recovery works towards.
    fn on_loss(&mut self, now: Time, flight: u32);

    /// Handles the end of recovery: all segments that were in flight at its start are acknowledged.
    fn on_recovered(&mut self, now: Time);

    /// Handles an expiry of the retransmission timer with `flight` segments in flight (RFC 5681 §3.1, Eq. (4)). `again`
    /// is true if the same segment has timed out before, which must not lower the threshold a second time.
    fn on_timeout(&mut self, now: Time, flight: u32, again: bool);

    /// The congestion window in segments, at least one, with its fraction.
    fn cwnd(&self) -> f64;

    /// The slow-start threshold in segments, infinite until the first loss.
    fn ssthresh(&self) -> f64;

    /// The minimum time from one segment to the next; none for a law that relies on acknowledgements for spacing.
    fn gap(&self) -> Option<Span> {
        None
    }

    /// Segments that may be sent at once if the sender had none to send when the gap allowed them (RFC 9002 §7.7).
    fn burst(&self) -> u32 {
        1
    }
}

/// Segments that slow start adds for an acknowledgement of `newly` segments (RFC 5681 §3.1, Eq. (2)): the number it
/// acknowledged, at most one, which is L = 1 of RFC 3465 §2.2.
fn slow_start(newly: u32) -> f64 {
    f64::from(newly.min(1))
}

/// Segments that congestion avoidance adds for an acknowledgement of `newly` segments: shares that add up to one
/// segment per round trip, however the receiver groups its acknowledgements (RFC 5681 §3.1, RFC 3465 §2.1).
fn avoidance(newly: u32, cwnd: f64) -> f64 {
    (f64::from(newly) / cwnd).min(1.0)
}

/// The threshold after a loss with `flight` segments in flight: `part` of them, at least two (RFC 5681 §3.1, Eq. (4)).
fn reduced(flight: f64, part: f64) -> f64 {
    (flight * part).max(2.0)
}

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
    Toy(toy::Toy),
}

impl Default for Choice {
    /// The law of RFC 5681.
    fn default() -> Choice {
        Choice::NewReno(())
    }
}

#[cfg(test)]
mod tests {
    use super::path::Path;
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
