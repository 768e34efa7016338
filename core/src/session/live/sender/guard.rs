//! Limits that keep a stream from flooding its path: the brake of the live profile, and the breakers of RFC 8083.

use super::brake::Sample;
use super::brake::{Demand, Pressure};
use super::control::Origin;
use super::{Breaker, Event, Sender};
use crate::law::{breaker, rate};
use crate::session::live::{Ending, REPORT_INTERVAL, reordering_delay};
use crate::time::{Span, Time};
use crate::units::Rate;
use crate::wire::rtcp;

/// Td of RFC 8083: five seconds, the fixed minimum of RFC 3550 §6.2.
pub(super) const BREAKER: breaker::Config =
    breaker::Config { td: Span::from_secs(5), tdr: REPORT_INTERVAL, tf: Span::from_millis(40), g: 1 };

/// A round trip that exceeds its minimum by more than this, and by more than a part of the minimum, indicates a queue.
/// Ours: below it late timers of the hosts vary the round trip, as in `SPARE`.
const LEAST_QUEUE: Span = Span::from_millis(2);
/// The divisor of the minimum that gives that part. Ours: a smaller divisor overlooks short queues, a greater one takes
/// jitter for a queue.
const QUEUE_PART: u64 = 8;

/// Packets count as lost if nothing is delivered for this time and a round trip, though packets left and reports come.
/// Ours: shorter takes an outage of a radio link for loss, longer floods a cut path for longer.
const STALL: Span = Span::from_millis(500);

impl Sender {
    /// Passes a report to the brake, with the packets that it settled in sending order.
    pub(super) fn brake(&mut self, now: Time, report: &rate::Report, mut passed: Sample) {
        if self.config.breaker != Breaker::RepairFirst || !self.phase.is_open() {
            return;
        }
        let least = self.peer.round_trip().unwrap_or(Span::ZERO);
        let grown = report.rtt.map_or(Span::ZERO, |round_trip| round_trip.saturating_sub(least));
        let stalled = self.history.stalled(now, STALL + least);
        let queue = grown > LEAST_QUEUE.max(least / QUEUE_PART);
        passed.report(queue);
        let pressure = Pressure {
            lost: report.lost.saturating_add(stalled),
            delivered: report.delivered,
            passed,
            queue,
            lag: least + grown + reordering_delay(least) + self.protection.spread() + self.protection.interval(),
            window: self.protection.window(),
            bounds: self.protection.window_bounds(),
            k: self.protection.law_packets(),
            block: self.protection.block_packets(),
        };
        match self.brake.on_report(now, &pressure) {
            Some(Demand::Lower) => {
                let leaves = self.config.max_rate.map_or(self.flow.rate(now), |most| most.min(self.flow.rate(now)));
                let arrives = Rate::from_bps((leaves.as_bps() as f64 * (1.0 - self.brake.loss())) as u64);
                self.rate_requests.rate = Some(arrives);
                self.events.push_back(Event::LowerRate(arrives));
            }
            Some(Demand::Restored) => {
                self.rate_requests.rate = None;
                self.events.push_back(Event::RateRestored);
            }
            None => {}
        }
    }

    /// Repair packets that a block of the law may get now.
    pub(super) fn repair_window(&self) -> f64 {
        self.protection.in_packets(self.brake.window(self.protection.window()))
    }

    /// Passes a regular report to the breakers.
    pub(super) fn on_receiver_report(&mut self, now: Time, origin: Origin, report: &rtcp::Report<'_>) {
        // Answers begin with an empty report, which says nothing about our media.
        let is_ours = report.blocks().any(|block| block.ssrc == self.source.ssrc);
        if !is_ours || !self.believes_report(now, origin, report.ssrc) {
            return;
        }
        let rtt = self.peer.round_trip().unwrap_or(Span::ZERO);
        for block in report.blocks().filter(|block| block.ssrc == self.source.ssrc) {
            let fraction_lost = f64::from(block.fraction_lost) / 256.0;
            self.breaker.on_report(now, &breaker::Report { highest: block.highest.into(), fraction_lost, rtt });
        }
    }

    /// Restarts the breaker: media has stopped while no receiver was connected, and a receiver that comes back is to be
    /// heard before it counts as silent again.
    pub(super) fn restart_breaker(&mut self) {
        self.breaker = breaker::Breaker::new(BREAKER);
    }

    pub(super) fn breaker_is_open(&self) -> bool {
        self.verdict.is_some()
    }

    // Deviation(RFC 8083 §4.3): by default, congestion ends a session only where the brake has found the path full,
    // repair has been removed and the source has had ten seconds to reduce its rate; the RFC would have both done
    // within CB_INTERVAL, and knows no loss but congestion. A sender that waits for a receiver sends no media, and need
    // not end (§4.1).
    fn is_final(&self, now: Time, cause: breaker::Cause) -> bool {
        match cause {
            breaker::Cause::RtcpTimeout => self.peer.is_connected(),
            breaker::Cause::MediaTimeout => true,
            breaker::Cause::Congestion => self.brake.is_over(now),
        }
    }

    pub(super) fn check_guard(&mut self, now: Time) {
        self.verdict = self.breaker.verdict(now);
        let ends = match self.config.breaker {
            Breaker::RepairFirst => self.verdict.is_some_and(|cause| self.is_final(now, cause)),
            Breaker::Rfc8083 => self.verdict.is_some(),
            Breaker::Off => false,
        };
        if ends {
            self.part(now, Ending::Breaker);
        }
    }
}
