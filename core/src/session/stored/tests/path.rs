//! The path between the two ends.

use std::collections::VecDeque;

use crate::time::{Span, Time};
use crate::wire::rtp::is_rtcp;

/// The time by which a datagram is late that others overtake: longer than a flow control period of this path.
const LATE: Span = Span::from_millis(150);

/// A kind of datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Datagram {
    Media,
    Control,
}

/// A fault of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    Lost,
    Repeated,
    /// Later datagrams overtake it.
    Late,
}

/// A path without a queue, or with one of a fixed rate.
#[derive(Debug)]
pub(super) struct Path {
    delay: Span,
    /// Datagrams in flight: arrival, true if to the receiver, bytes.
    flying: VecDeque<(Time, bool, Vec<u8>)>,
    /// Each with the interval at which it occurs, and the datagrams of its kind so far.
    faults: Vec<(Datagram, Fault, u32, u32)>,
    blackout: Option<(Time, Time)>,
    /// The time between two packets of the bottleneck, and the time at which it is free.
    bottleneck: Option<(Span, Time)>,
}

impl Path {
    pub(super) fn new(delay: Span) -> Path {
        Path { delay, flying: VecDeque::new(), faults: Vec::new(), blackout: None, bottleneck: None }
    }

    /// Disturbs each `nth` datagram of a kind.
    pub(super) fn disturb(&mut self, kind: Datagram, fault: Fault, nth: u32) {
        self.faults.push((kind, fault, nth, 0));
    }

    pub(super) fn black_out(&mut self, from: Time, to: Time) {
        self.blackout = Some((from, to));
    }

    /// Puts a link of `rate` packets per second with a queue of 50 before the path.
    pub(super) fn limit(&mut self, rate: f64) {
        self.bottleneck = Some((Span::from_secs_f64(1.0 / rate), Time::ZERO));
    }

    pub(super) fn send(&mut self, now: Time, is_forward: bool, bytes: Vec<u8>) {
        let kind = if is_rtcp(&bytes) { Datagram::Control } else { Datagram::Media };
        let is_hit = |(of, fault, nth, count): &mut (Datagram, Fault, u32, u32)| {
            *count += u32::from(*of == kind);
            (*of == kind && count.is_multiple_of(*nth)).then_some(*fault)
        };
        let faults: Vec<Fault> = self.faults.iter_mut().filter_map(is_hit).collect();
        let is_dark = self.blackout.is_some_and(|(from, to)| (from..to).contains(&now));
        if is_dark || faults.contains(&Fault::Lost) {
            return;
        }
        let mut arrives = now + self.delay;
        if let Some((gap, free)) = self.bottleneck.as_mut().filter(|_| is_forward) {
            if free.since(now) > *gap * 50 {
                return;
            }
            *free = (*free).max(now) + *gap;
            arrives = *free + self.delay;
        }
        if faults.contains(&Fault::Late) {
            arrives += LATE;
        }
        if faults.contains(&Fault::Repeated) {
            self.flying.push_back((arrives, is_forward, bytes.clone()));
        }
        self.flying.push_back((arrives, is_forward, bytes));
    }

    /// The time of the next arrival.
    pub(super) fn next(&self) -> Option<Time> {
        self.flying.iter().map(|(time, ..)| *time).min()
    }

    /// The next datagram that arrives by `now`, with true if to the receiver.
    pub(super) fn arrive(&mut self, now: Time) -> Option<(bool, Vec<u8>)> {
        let at = self.flying.iter().position(|(time, ..)| *time <= now)?;
        self.flying.remove(at).map(|(_, is_forward, bytes)| (is_forward, bytes))
    }
}
