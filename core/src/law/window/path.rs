//! A path without packets for the tests of the laws: acknowledgements arrive singly, evenly over each round trip.

use super::{Acked, CongestionWindow};
use crate::probe::Probe;
use crate::time::{Span, Time};

/// A sender that always has data, on a path that acknowledges every segment separately after `rtt`.
pub(super) struct Path<L> {
    pub(super) law: L,
    pub(super) now: Time,
    /// The round trip of an empty path.
    pub(super) rtt: Span,
    /// Segments per second that the path carries; the excess waits in an unlimited queue.
    pub(super) capacity: f64,
    pub(super) window_limited: bool,
    /// Segments left in the round.
    left: u32,
    /// Segments ever acknowledged.
    pub(super) delivered: u64,
}

impl<L: CongestionWindow> Path<L> {
    pub(super) fn new(law: L) -> Path<L> {
        Path {
            law,
            now: Time::ZERO,
            rtt: Span::from_millis(100),
            capacity: f64::INFINITY,
            window_limited: true,
            left: 0,
            delivered: 0,
        }
    }

    /// The whole segments in flight.
    pub(super) fn flight(&self) -> u32 {
        libm::floor(self.law.cwnd()) as u32
    }

    /// Segments that wait when the whole window is in flight: those that the path itself does not hold.
    pub(super) fn queue(&self) -> f64 {
        (f64::from(self.flight()) - self.capacity * self.rtt.as_secs_f64()).max(0.0)
    }

    /// Acknowledges one segment, an even share of the round trip after the last.
    pub(super) fn ack(&mut self) {
        let flight = self.flight();
        let rtt = self.rtt + Span::from_secs_f64(self.queue() / self.capacity);
        let round_end = self.left == 0;
        if round_end {
            self.left = flight;
        }
        self.left -= 1;
        self.delivered += 1;
        self.now += Span::from_secs_f64(rtt.as_secs_f64() / f64::from(flight));
        let (now, window_limited) = (self.now, self.window_limited);
        self.law.on_ack(&Acked { now, newly: 1, flight, rtt: Some(rtt), srtt: Some(rtt), round_end, window_limited });
    }

    /// Acknowledges every segment that is in flight now.
    pub(super) fn round(&mut self) {
        (0..self.flight()).for_each(|_| self.ack());
    }

    /// A loss, with a recovery that takes no time.
    pub(super) fn lose(&mut self) {
        let flight = self.flight();
        self.law.on_loss(self.now, flight);
        self.law.on_recovered(self.now);
        self.left = 0;
    }

    /// The mean window over `cycles` with one loss every `segments`, after the same number of cycles to settle: the
    /// deterministic loss model of RFC 9438 §5 with p = 1 / `segments`. By Little's law it is the arrivals in one round
    /// trip.
    pub(super) fn mean_window(&mut self, segments: u32, cycles: u32) -> f64 {
        let cycle = |path: &mut Path<L>| {
            (0..segments).for_each(|_| path.ack());
            path.lose();
        };
        (0..cycles).for_each(|_| cycle(self));
        let (from, delivered) = (self.now, self.delivered);
        (0..cycles).for_each(|_| cycle(self));
        (self.delivered - delivered) as f64 * self.rtt.as_secs_f64() / self.now.since(from).as_secs_f64()
    }
}

/// The value that `law` shows under `name`.
pub(super) fn shown(law: &impl Probe, name: &str) -> f64 {
    let mut found = None;
    law.probe(&mut |candidate, value| {
        if candidate == name {
            found = Some(value);
        }
    });
    found.expect("a probe of that name")
}
