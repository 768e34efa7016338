//! Limits that keep a stream from flooding its path: the brake of the live profile, and the breakers of RFC 8083.

use super::brake::{Demand, Pressure};
use super::control::Origin;
use super::history::Settled;
use super::{Breaker, Event, Repair, Sender};
use crate::law::breaker;
use crate::law::redundancy::geneva;
use crate::session::live::{Ending, REPORT_INTERVAL, patience};
use crate::time::{Span, Time};
use crate::units::Rate;
use crate::wire::rtcp;

/// Td of RFC 8083: five seconds, the fixed minimum of RFC 3550 §6.2.
pub(super) const BREAKER: breaker::Config =
    breaker::Config { td: Span::from_secs(5), tdr: REPORT_INTERVAL, tf: Span::from_millis(40), g: 1 };

/// A round trip that has grown by more than this, and more than a part of its least, tells of a queue.
const LEAST_QUEUE: Span = Span::from_millis(2);
/// That part.
const QUEUE_PART: u64 = 8;

/// Nothing delivered for so long and a round trip, though packets left and reports come: they are lost.
const STALL: Span = Span::from_millis(500);

/// The loss rate at which the brake acts: that of the law, or of the paper where another repair runs.
pub(super) fn p_max(repair: &Repair) -> f64 {
    match repair {
        Repair::Geneva(law) => law.parameters().p_max,
        Repair::None | Repair::Static(_) => geneva::Parameters::default().p_max,
    }
}

impl Sender {
    /// Shows what a report has settled to the brake.
    pub(super) fn brake(&mut self, now: Time, settled: &Settled) {
        if self.config.breaker != Breaker::RepairFirst || self.farewell.is_some() || self.ended {
            return;
        }
        let least = self.peer.round_trip().unwrap_or(Span::ZERO);
        let grown = settled.round_trip.map_or(Span::ZERO, |round_trip| round_trip.saturating_sub(least));
        let stalled = self.history.stalled(now, STALL + least);
        let queue = grown > LEAST_QUEUE.max(least / QUEUE_PART);
        let mut passed = settled.passed;
        passed.report(queue);
        let pressure = Pressure {
            lost: settled.lost.saturating_add(stalled),
            delivered: settled.delivered,
            passed,
            queue,
            lag: least + grown + patience(least) + self.protection.spread() + self.protection.interval(),
            window: self.protection.window(),
            bounds: self.protection.window_bounds(),
            k: self.protection.law_packets(),
            block: self.protection.block_packets(),
        };
        match self.brake.on_report(now, &pressure) {
            Some(Demand::Lower) => {
                let leaves = self.config.max_rate.map_or(self.flow.rate(now), |most| most.min(self.flow.rate(now)));
                let arrives = Rate::from_bps((leaves.as_bps() as f64 * (1.0 - self.brake.loss())) as u64);
                self.wishes.rate = Some(arrives);
                self.events.push_back(Event::LowerRate(arrives));
            }
            Some(Demand::Restored) => {
                self.wishes.rate = None;
                self.events.push_back(Event::RateRestored);
            }
            None => {}
        }
    }

    /// Repair packets that a block of the law may get now.
    pub(super) fn repair_window(&self) -> f64 {
        self.protection.in_packets(self.brake.window(self.protection.window()))
    }

    /// Shows a regular report to the breakers.
    pub(super) fn on_receiver_report(&mut self, now: Time, origin: Origin, report: &rtcp::Report<'_>) {
        // Answers begin with an empty report, which says nothing of our media.
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

    /// Begins the breaker anew: media has ceased while nobody was there, and a receiver that comes back is to be heard
    /// before it counts as silent again.
    pub(super) fn restart_breaker(&mut self) {
        self.breaker = breaker::Breaker::new(BREAKER);
    }

    pub(super) fn breaker_is_open(&self) -> bool {
        self.verdict.is_some()
    }

    // Deviation(RFC 8083 §4.3): in the default congestion ends a session only where the brake has found the path full,
    // repair has gone and the source has had ten seconds to come down; the RFC would have both done within CB_INTERVAL,
    // and knows no loss but congestion. A sender that waits for a receiver sends no media, and need not end (§4.1).
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
