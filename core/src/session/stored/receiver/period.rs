//! The flow control period: measurement, forecast, decision (R3CP+ §3.1, §3.2).

use super::arrivals::repeatable;
use super::clock::Clock;
use super::trial::Measured;
use super::{Event, Receiver};
use crate::law::rate::r3cp::{Decision, LEAST_PERIOD, Path, Point, skipped};
use crate::session::stored::WINDOW;
use crate::session::stored::control::Control;
use crate::time::{Span, Time};
use crate::units::Seconds;
use crate::video::{Class, Kind};
use crate::wire::stored::MAX_TRACKS;

/// The repetitions of a message after which the least rate is requested: nothing arrived for three periods.
const MAX_REPEATS: u32 = 3;
/// The packets that a message asks for at most: their NACKs fit into one datagram.
const MAX_ASKED: usize = 256;

/// A period from its message on.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Period {
    /// n: the number of its message.
    pub(super) number: u32,
    pub(super) decision: Decision,
    /// d: the estimated length.
    pub(super) d: Seconds,
    /// zeta: the packets that the sender skips in it.
    zeta: f64,
    sent: Time,
    repeats: u32,
    /// The arrival of the group's first packet or report.
    answered: Option<Time>,
    pub(super) is_message_due: bool,
    /// For each track the packets to ask for.
    pub(super) asked: Vec<Vec<u64>>,
}

/// Measurements that outlive a period.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct State {
    /// The loss measured last.
    pub(super) p: f64,
    /// The round trip measured last, the least, and the greatest before playout.
    pub(super) rtt: Span,
    min_rtt: Option<Span>,
    max_rtt: Span,
    /// The media time due for arrival.
    pub(super) due: Span,
    /// Packets received by the last point.
    received: u64,
    /// The bank and its target, as media time.
    pub(super) bank: (Seconds, Seconds),
}

impl Period {
    /// True once anything of the group has arrived.
    pub(super) fn is_answered(&self) -> bool {
        self.answered.is_some()
    }

    /// The time of the next point, or of the message's repetition.
    pub(super) fn next(&self) -> Time {
        match self.answered {
            Some(answered) => answered.max(self.sent + Span::from_secs_f64(LEAST_PERIOD.0)),
            None => self.sent + Span::from_secs_f64(2.0 * self.d.0) * u64::from(self.repeats + 1),
        }
    }
}

impl Receiver {
    /// Begins the first period once the path is probed.
    pub(super) fn check_probes(&mut self, now: Time) {
        if self.probes.is_hopeless() {
            self.events.push_back(Event::NoAnswer);
            self.goodbyes = Some(0);
            return;
        }
        let Some(probed) = self.probes.results(now) else { return };
        self.events.push_back(Event::Probed { rtt: probed.rtt, loss: probed.loss });
        self.state.max_rtt = probed.max_rtt;
        self.state.due = self.config.first.decode;
        self.measure_rtt(probed.rtt);
        self.law.forecast.measure(Some(probed.loss), Some(Seconds(probed.rtt.as_secs_f64())));
        let first = self.config.start * self.config.mu;
        let state = self.law.state(0.0);
        self.begin(now, 1, Decision { lambda: first, rho: first, current: state, forecast: state });
    }

    fn measure_rtt(&mut self, rtt: Span) {
        self.state.rtt = rtt;
        self.state.min_rtt = Some(self.state.min_rtt.map_or(rtt, |least| least.min(rtt)));
    }

    /// Notes that a packet or a report of the group `number` has arrived.
    pub(super) fn answered(&mut self, now: Time, number: u32) {
        if let Some(period) = self.period.as_mut().filter(|period| period.number == number) {
            period.answered.get_or_insert(now);
        }
    }

    /// Begins the next period, or repeats the message of this one, if it is time.
    pub(super) fn check_period(&mut self, now: Time) {
        let Some(period) = self.period.as_mut().filter(|period| now >= period.next()) else { return };
        if period.answered.is_some() {
            if self.paused.is_none() {
                self.pass_point(now);
            }
        } else if period.repeats < MAX_REPEATS {
            period.repeats += 1;
            period.is_message_due = true;
        } else {
            let number = period.number + 1;
            let decision = Decision { rho: self.law.parameters().rho_min, ..period.decision };
            self.begin(now, number, decision);
        }
    }

    /// Flow control point n + 1, the end of period n: measures, predicts and decides.
    fn pass_point(&mut self, now: Time) {
        let Some(period) = self.period.clone() else { return };
        let counted = self.groups.measured(period.number, &self.arrivals);
        let p = counted.map(|(sent, received)| 1.0 - received as f64 / sent as f64);
        // A message that was repeated leaves open which of its copies was answered (RFC 6298 §3).
        let rtt = period.answered.filter(|_| period.repeats == 0).map(|answered| answered.since(period.sent));
        if let Some(rtt) = rtt {
            self.measure_rtt(rtt);
        }
        self.law.forecast.measure(p, rtt.map(Seconds::from));
        self.state.p = p.unwrap_or(self.state.p);
        self.advance(&period);
        let length = now.since(period.sent).as_secs_f64();
        let arrived = self.totals.received - self.state.received;
        let throughput = arrived as f64 / length;
        self.state.received = self.totals.received;
        if self.clock.is_some() {
            self.totals.add(now, period.sent, period.decision.rho, p, arrived);
        }
        let delay = self.state.rtt.saturating_sub(self.state.min_rtt.unwrap_or(self.state.rtt));
        let measured = counted.map(|packets| Measured { packets, delay });
        self.limits.measure(now, measured, self.law.parameters());
        let decision = match self.playout(now) {
            Some(playout) => self.decide(&period, playout, throughput),
            // Reading(R3CP+ §3.1): the first rates are `start` times mu, with 1 the paper's, and stay so until playout begins.
            None => period.decision,
        };
        self.begin(now, period.number + 1, decision);
    }

    /// Updates the media time that was due for arrival in this period: that before its group.
    fn advance(&mut self, period: &Period) {
        self.state.due = match self.groups.get(period.number).and_then(|group| group.due) {
            Some((before, _)) => before,
            // No report of the group arrived: it was due at the rate of the message before.
            None => {
                let Decision { lambda, rho, .. } = period.decision;
                self.state.due + Span::from_secs_f64(lambda.max(rho) * period.d.0 / self.config.mu)
            }
        };
    }

    fn decide(&mut self, period: &Period, playout: Span, throughput: f64) -> Decision {
        let mu = self.config.mu;
        let forecast = &self.law.forecast;
        let d = forecast.period().unwrap_or(LEAST_PERIOD);
        // Deviation(R3CP+ Eq. (11)): the queue is media time, which skipped frames have, too.
        let ahead = self.state.due.as_secs_f64() - playout.as_secs_f64();
        let point = Point {
            q: ahead * mu,
            zeta_in_q: 0.0,
            zeta_next: period.zeta,
            rho_prev: period.decision.rho,
            p: forecast.loss(),
            d: d.0,
            mu,
            p_l: WINDOW.as_secs_f64() * mu,
        };
        let least = self.state.min_rtt.unwrap_or(self.state.rtt);
        // A path of which a trial has shown that it is full has no gate.
        let is_full = self.limits.trial.is_congestion();
        let delay = |rtt: f64| Seconds(if is_full { f64::INFINITY } else { (rtt - least.as_secs_f64()).max(0.0) });
        let measured = Path { p: self.state.p, delay: delay(self.state.rtt.as_secs_f64()) };
        let predicted = Path { p: point.p, delay: delay(forecast.rtt().unwrap_or(Seconds::from(self.state.rtt)).0) };
        let store = self.law.parameters().store;
        let target = if self.law.control() == Control::None { 0.0 } else { point.target() / mu };
        self.state.bank = (Seconds(ahead), Seconds(target + store.0));
        self.law.decide(&point, measured, predicted, throughput)
    }

    /// Begins period `number` with its message, whose rate stays within the bounds.
    pub(super) fn begin(&mut self, now: Time, number: u32, decision: Decision) {
        let rho = self.limits.apply(decision.rho, self.state.rtt, self.law.parameters());
        // Before playout nothing is late, and a bound skips nothing: not the first I, without which playout would not begin.
        let lambda = if self.clock.is_none() { decision.lambda.min(rho) } else { decision.lambda };
        let decision = Decision { lambda, rho, ..decision };
        let d = self.law.forecast.period().unwrap_or(LEAST_PERIOD);
        let asked = self.missing(now, number, &decision, d);
        let count = asked.iter().map(Vec::len).sum::<usize>();
        let zeta = skipped(decision.lambda, decision.rho, d.0, count as f64);
        self.period = Some(Period {
            number,
            decision,
            d,
            zeta,
            sent: now,
            repeats: 0,
            answered: None,
            is_message_due: true,
            asked,
        });
    }

    /// The packets that are asked for in message `number`, by track: missing ones that can still arrive in time, the
    /// most important first, as many as the requested rate carries in a period.
    // Deviation(R3CP+ §3.1): the whole bank is searched, not the next P_L packets alone. With a store that leaves a tenth
    // of the broken frames at 5 % loss.
    fn missing(&mut self, now: Time, number: u32, decision: &Decision, d: Seconds) -> Vec<Vec<u64>> {
        let mut asked = vec![Vec::new(); self.arrivals.len()];
        let is_first_needed = self.clock.is_none() && !self.bank.has_first();
        if self.law.control() == Control::None && !is_first_needed {
            return asked;
        }
        let ends = self.groups.first_of(number - 1).unwrap_or([None; MAX_TRACKS]);
        // A retransmission leaves within the period of the message, and arrives a round trip later.
        let before = repeatable(now, self.state.rtt + Span::from_secs_f64(d.0));
        let arrives = now + Span::from_secs_f64(self.law.forecast.rtt().unwrap_or(d).0);
        let mut candidates = Vec::new();
        for (track, arrivals) in self.arrivals.iter_mut().enumerate() {
            let Some(end) = ends[track] else { continue };
            for missing in arrivals.missing(end, before) {
                if self.bank.is_forgotten(missing.frame) {
                    continue;
                }
                let known = self.bank.known(missing.frame);
                let is_late = |clock: Clock, display| clock.time_of(display) < arrives;
                if known.zip(self.clock).is_some_and(|((_, display), clock)| is_late(clock, display)) {
                    continue;
                }
                let own = known.filter(|_| missing.is_own).map(|(class, _)| class);
                let class = own.unwrap_or(Class::Picture(Kind::P));
                candidates.push((core::cmp::Reverse(class), missing.sequence, track));
            }
        }
        candidates.sort_unstable();
        let most = ((decision.rho * d.0) as usize).clamp(1, MAX_ASKED);
        for (_, sequence, track) in candidates.into_iter().take(most) {
            asked[track].push(sequence);
        }
        asked.iter_mut().for_each(|sequences| sequences.sort_unstable());
        asked
    }

    /// Begins playout once the bank holds enough.
    // Reading(R3CP+ §3.1): preload is over when the queue covers the longest round trip and P_L. Without control, the
    // first I alone must be there, and the store, since nothing fills it later. In both cases the clock starts with
    // decoding, so that the reordering is in it.
    pub(super) fn start_playout(&mut self, now: Time) {
        if self.clock.is_some() || self.period.is_none() || !self.bank.has_first() {
            return;
        }
        let origin = self.config.first.decode;
        let enough = match self.law.control() {
            Control::None => Span::from_secs_f64(self.law.parameters().store.0),
            _ => self.state.max_rtt + WINDOW,
        };
        if self.state.due.saturating_sub(origin) >= enough || self.end.is_some() || self.is_cut_off {
            self.clock = Some(Clock { at: now, media: origin });
            self.events.push_back(Event::Started);
        }
    }
}
