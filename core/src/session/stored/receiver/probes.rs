//! The probes before the first message: round trip and loss of the path, and the address token.

use crate::time::{Span, Time};

/// The time between two probes.
const INTERVAL: Span = Span::from_millis(20);
/// The time that a round waits for its echoes. RFC 6298 §2.1: the timeout before a round trip is known.
const PATIENCE: Span = Span::from_secs(1);
/// The rounds without an echo after which the sender counts as unreachable.
const MAX_ROUNDS: u32 = 10;

/// Rounds of probes.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Probes {
    /// The departure of each probe of this round, and true once it was echoed.
    sent: Vec<(Time, bool)>,
    /// The probes of a round.
    count: u32,
    round: u32,
    next: Time,
    /// Sum and maximum of the round trips.
    sum: Span,
    max: Span,
}

/// The results of a round.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Probed {
    /// The mean round trip.
    pub(super) rtt: Span,
    /// The longest round trip.
    pub(super) max_rtt: Span,
    /// The share of probes without an echo.
    pub(super) loss: f64,
}

impl Probes {
    pub(super) fn new(start: Time, count: u32) -> Probes {
        Probes { sent: Vec::new(), count: count.max(1), round: 0, next: start, sum: Span::ZERO, max: Span::ZERO }
    }

    /// The number of the probe that is due, which then counts as sent.
    pub(super) fn transmit(&mut self, now: Time) -> Option<u32> {
        if now < self.next || self.round >= MAX_ROUNDS {
            return None;
        }
        if self.sent.len() == self.count as usize {
            // No echo of this round arrived in time.
            (self.sent, self.round) = (Vec::new(), self.round + 1);
            if self.round == MAX_ROUNDS {
                return None;
            }
        }
        self.sent.push((now, false));
        let is_last = self.sent.len() == self.count as usize;
        self.next = now + if is_last { PATIENCE } else { INTERVAL };
        Some(self.round * self.count + self.sent.len() as u32 - 1)
    }

    /// Takes an echo.
    pub(super) fn echo(&mut self, now: Time, number: u32) {
        let at = number.wrapping_sub(self.round * self.count) as usize;
        if let Some((sent, is_echoed @ false)) = self.sent.get_mut(at) {
            *is_echoed = true;
            let rtt = now.since(*sent);
            (self.sum, self.max) = (self.sum + rtt, self.max.max(rtt));
        }
    }

    /// The time of the next probe, or of the end of the round. That of the last round has passed.
    pub(super) fn next(&self) -> Time {
        self.end().map_or(self.next, |end| end.min(self.next))
    }

    fn echoes(&self) -> u32 {
        self.sent.iter().filter(|(_, is_echoed)| *is_echoed).count() as u32
    }

    /// The time at which the round is over if no further echo arrives: one and a half of the longest round trip after its
    /// last probe.
    fn end(&self) -> Option<Time> {
        let (last, _) = *self.sent.last().filter(|_| self.sent.len() == self.count as usize && self.echoes() > 0)?;
        Some(last + self.max.mul_div(3, 2))
    }

    /// The results, once the round is over.
    pub(super) fn results(&self, now: Time) -> Option<Probed> {
        let echoes = self.echoes();
        if echoes < self.count && self.end().is_none_or(|end| now < end) {
            return None;
        }
        let loss = 1.0 - f64::from(echoes) / f64::from(self.count);
        Some(Probed { rtt: self.sum / u64::from(echoes), max_rtt: self.max, loss })
    }

    /// True if no probe was ever answered.
    pub(super) fn is_hopeless(&self) -> bool {
        self.round >= MAX_ROUNDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unanswered_probes_are_given_up_after_the_last_round() {
        const COUNT: u32 = 10;
        let mut probes = Probes::new(Time::ZERO, COUNT);
        let (mut sent, mut now) = (0, Time::ZERO);
        while !probes.is_hopeless() {
            now = probes.next();
            sent += std::iter::from_fn(|| probes.transmit(now)).count() as u32;
        }
        assert_eq!(sent, COUNT * MAX_ROUNDS);
        let round = INTERVAL * u64::from(COUNT - 1) + PATIENCE;
        assert_eq!(now, Time::ZERO + round * u64::from(MAX_ROUNDS));
        assert!(probes.next() <= now, "so that the caller notices it at once");
    }
}
