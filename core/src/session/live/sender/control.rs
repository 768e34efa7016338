//! RTCP that a sender sends and receives.

use core::net::SocketAddr;

use super::Sender;
use super::brake::{Demand, Pressure, Sample};
use super::history::Settled;
use super::peer::{Call, Change, ReportKind};
use super::protection::SYN;
use super::reports::Reports;
use crate::law::redundancy::LossReport;
use crate::law::{breaker, rate};
use crate::session::live::sender::Event;
use crate::session::live::{End, Ending, Media, reordering_delay};
use crate::session::rtp::cname;
use crate::time::{Span, Time};
use crate::units::Rate;
use crate::wire::Error;
use crate::wire::feedback::Feedback;
use crate::wire::hello::{self, Answer, Challenge, Delivery, Hello, Refusal, Request};
use crate::wire::ntp::NtpTime;
use crate::wire::rtcp::{App, Compound, Extended, Full, Goodbye, Nack, Packet, Report, SenderInfo, Source, Writer};
use crate::wire::sequence::nearest;

/// A round trip that exceeds its minimum by more than this, and by more than a part of the minimum, indicates a queue.
/// Ours: below it late timers of the hosts vary the round trip, as in `SPARE`.
const LEAST_QUEUE: Span = Span::from_millis(2);
/// The divisor of the minimum that gives that part. Ours: a smaller divisor overlooks short queues, a greater one takes
/// jitter for a queue.
const QUEUE_PART: u64 = 8;

/// Packets count as lost if nothing is delivered for this time and a round trip, though packets left and reports come.
/// Ours: shorter takes an outage of a radio link for loss, longer floods a cut path for longer.
const STALL: Span = Span::from_millis(500);

/// A control datagram: its source, its length, and whether it has a proof of the receiver's secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    from: SocketAddr,
    len: usize,
    is_proved: bool,
}

impl Sender {
    /// Writes a compound packet of sender report, CNAME and the hello of `call`, or a goodbye without one; with a proof
    /// of the secret, if there is one.
    pub(super) fn emit_control(&self, now: Time, call: Option<Call>, buf: &mut [u8]) -> Result<usize, Full> {
        let len = self.emit_words(now, call.map(|call| self.hello(now, call)), buf)?;
        match self.peer.secret() {
            Some(secret) => secret.prove(End::Sender, self.streams.source.ssrc, buf, len),
            None => Ok(len),
        }
    }

    pub(super) fn emit_words(&self, now: Time, hello: Option<Hello>, buf: &mut [u8]) -> Result<usize, Full> {
        let ssrc = self.streams.source.ssrc;
        let mut writer = Writer::new(buf);
        let sender = SenderInfo {
            ntp: NtpTime::from(now),
            rtp: self.streams.timestamp(now),
            packets: self.counts.sources as u32,
            octets: self.counts.source_bytes as u32,
        };
        writer.push(&Report { ssrc, sender: Some(sender), raw_blocks: &[] })?;
        writer.push(&Source { ssrc, cname: cname(ssrc).as_bytes() })?;
        if let Some(hello) = hello {
            let data = hello.emit();
            writer.push(&App { subtype: Hello::SUBTYPE, ssrc, name: hello::NAME, data: &data })?;
        } else {
            writer.push(&Goodbye { sources: &[ssrc, self.streams.repair.ssrc].map(u32::to_be_bytes), reason: b"" })?;
        }
        Ok(writer.len())
    }

    pub(super) fn hello(&self, now: Time, call: Call) -> Hello {
        let round_trip = self.peer.round_trip();
        Hello {
            mp2t: self.config.media == Media::Mp2t,
            payload_ids: self.has_payload_ids(),
            repair: !self.protection.is_none(),
            loss_reports: self.config.rate.is_some(),
            sliding: self.sliding.is_some(),
            payload_types: [self.streams.source.payload_type, self.streams.repair.payload_type],
            repair_ssrc: self.streams.repair.ssrc,
            latency: self.path_latency.wanted(round_trip),
            round_trip: round_trip.unwrap_or(Span::ZERO),
            spread: self.protection.spread(),
            interval: self.report_interval(),
            stamp: (now.as_nanos() / 1_000) as u32,
            token: call.token,
            echo: call.echo,
            half: call.half,
        }
    }

    /// The interval at which the receiver reports. A rate law needs reports at least once a round trip (RFC 5348 §6.2);
    /// repair by its worth takes a packet for lost that is not known to have arrived.
    fn report_interval(&self) -> Span {
        let interval = self.protection.interval();
        let interval = if self.sliding.is_some() { interval.min(SYN) } else { interval };
        let round_trip = self.peer.round_trip().filter(|_| self.config.rate.is_some());
        round_trip.map_or(interval, |round_trip| interval.min(round_trip))
    }

    /// Takes a datagram of RTCP.
    pub(super) fn on_control(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), Error> {
        let origin = Origin { from, len: bytes.len(), is_proved: self.peer.is_proved(bytes) };
        for frame in Compound::parse(bytes)?.frames() {
            match Packet::parse(frame)? {
                Packet::App(App { subtype, ssrc, name: hello::NAME, data }) => match subtype {
                    Answer::SUBTYPE => self.on_answer(now, from, (ssrc, &Answer::parse(data)?), bytes),
                    Challenge::SUBTYPE => self.peer.on_challenge(now, from, Challenge::parse(data)?),
                    Refusal::SUBTYPE => self.on_refusal(now, from, &Refusal::parse(data)?),
                    Request::SUBTYPE => self.on_request(now, from, data)?,
                    Delivery::SUBTYPE if self.peer.is_from_peer(from, ssrc, origin.is_proved) => {
                        self.delivery = Some(Delivery::parse(data)?);
                    }
                    _ => {}
                },
                Packet::Feedback(feedback) => self.on_feedback(now, origin, &feedback),
                Packet::Nack(nack) => self.on_nack(now, origin, &nack),
                Packet::Report(report) => self.on_receiver_report(now, origin, &report),
                Packet::Extended(extended) => self.on_extended_report(origin, &extended),
                Packet::Goodbye(goodbye) if self.peer.is_goodbye(from, &goodbye, origin.is_proved) => {
                    self.peer.forget();
                    self.fall_silent(Event::Left);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn on_refusal(&mut self, now: Time, from: SocketAddr, refusal: &Refusal) {
        if self.peer.is_refused(from, refusal) {
            self.part(now, Ending::Version(refusal.version));
        }
    }

    fn on_answer(&mut self, now: Time, from: SocketAddr, answer: (u32, &Answer), datagram: &[u8]) {
        let was_busy = self.peer.is_busy();
        let before = self.peer.to().ip();
        let change = match self.is_of_caller(now, datagram) {
            true => self.on_caller(now, from, answer, datagram),
            false => self.peer.on_answer(now, from, answer, datagram),
        };
        if self.peer.is_busy() && !was_busy && self.peer.calling_since().is_some() {
            self.events.push_back(Event::Busy);
        }
        let to = self.peer.to();
        match change {
            Some(Change::Connected) => {
                // Another receiver stamps its reports with another clock.
                self.reports = Reports::default();
                self.delivery = None;
                self.guard.restart_breaker();
                self.restart_rate_law();
                self.path_latency.begin(self.peer.round_trip());
                self.events.push_back(self.connected());
            }
            Some(Change::Moved) => {
                // Another port alone is the same path (RFC 9000 §9.4).
                if to.ip() != before {
                    self.restart_rate_law();
                }
                self.events.push_back(Event::Moved { to });
            }
            Some(Change::Refused) => self.fall_silent(Event::Silent),
            None => self.follow_path(now),
        }
        self.fit_latency();
    }

    fn on_feedback(&mut self, now: Time, origin: Origin, feedback: &Feedback<'_>) {
        if !self.believes(now, origin, feedback.sender_ssrc) {
            return;
        }
        if !self.reports.is_new_report(now, feedback.timestamp) {
            self.counts.rejected += 1;
            return;
        }
        let in_flight = self.history.in_flight();
        self.history.on_report(now, feedback.timestamp, self.peer.round_trip());
        for block in feedback.streams() {
            let Some(stream) = self.streams.of(block.ssrc) else { continue };
            let Some(last) = self.history.last(stream) else { continue };
            for (sequence, arrival) in block.reports() {
                let held = arrival.map(|arrival| arrival.offset.to_span().unwrap_or(Span::ZERO));
                self.history.reported(now, stream, nearest::<16>(last, sequence.into()), held);
            }
        }
        for block in feedback.streams() {
            let Some(stream) = self.streams.of(block.ssrc) else { continue };
            let Some(last) = self.history.last(stream) else { continue };
            let end = block.begin.wrapping_add(block.reports().len() as u16);
            self.history.report_ended(now, stream, nearest::<16>(last, end.into()));
        }
        self.report_settled(now, in_flight);
        if self.reports.are_due(now, self.protection.interval()) {
            self.settle(now);
        }
    }

    /// Passes a regular report to the breaker.
    fn on_receiver_report(&mut self, now: Time, origin: Origin, report: &Report<'_>) {
        // Answers begin with an empty report, which says nothing about our media.
        let is_ours = report.blocks().any(|block| block.ssrc == self.streams.source.ssrc);
        if !is_ours || !self.believes_report(now, origin, report.ssrc) {
            return;
        }
        let rtt = self.peer.round_trip().unwrap_or(Span::ZERO);
        for block in report.blocks().filter(|block| block.ssrc == self.streams.source.ssrc) {
            let fraction_lost = f64::from(block.fraction_lost) / 256.0;
            self.guard.on_receiver_report(now, &breaker::Report { highest: block.highest.into(), fraction_lost, rtt });
        }
    }

    /// Takes the receiver's counts of losses after repair. The regular report in the same datagram shows its address.
    fn on_extended_report(&mut self, origin: Origin, extended: &Extended<'_>) {
        if !self.peer.is_from_peer(origin.from, extended.ssrc, origin.is_proved) {
            return;
        }
        let source = self.streams.source;
        for range in extended.post_repair_losses().filter(|range| range.ssrc == source.ssrc) {
            if self.post_repair.on_range(source.next, &range) {
                self.counts.residual += u64::from(range.lost);
                self.counts.recovered += u64::from(range.repaired);
            }
        }
    }

    /// Returns whether a regular report of receiver `ssrc` is to be believed. Receivers that know no hello cannot prove
    /// the secret: those of plain RTP are believed if they report from the destination's host, or from any host if the
    /// destination is a multicast group.
    fn believes_report(&mut self, now: Time, origin: Origin, ssrc: u32) -> bool {
        let to = self.config.to.ip();
        let is_plain = self.is_plain() && self.peer.secret().is_none();
        is_plain && (to.is_multicast() || to == origin.from.ip()) || self.believes(now, origin, ssrc)
    }

    fn believes(&mut self, now: Time, Origin { from, len, is_proved }: Origin, ssrc: u32) -> bool {
        match self.peer.on_report(now, from, len, ssrc, is_proved) {
            ReportKind::Unproved => self.counts.rejected += 1,
            ReportKind::Misdirected => self.counts.stray += 1,
            ReportKind::FromPeer => return true,
            ReportKind::Returned => {
                self.guard.restart_breaker();
                self.events.push_back(self.connected());
                return true;
            }
        }
        false
    }

    /// Takes the packets that the receiver names as lost.
    fn on_nack(&mut self, now: Time, origin: Origin, nack: &Nack<'_>) {
        if !self.believes(now, origin, nack.sender_ssrc) {
            return;
        }
        let (Some(sliding), Some(stream)) = (&mut self.sliding, self.streams.of(nack.media_ssrc)) else { return };
        let Some(last) = self.history.last(stream) else { return };
        for sequence in nack.sequences() {
            if let Some(order) = self.history.order(stream, nearest::<16>(last, sequence.into())) {
                sliding.on_nack(now, order);
            }
        }
    }

    /// Passes the packets that a feedback message has settled to the rate law, and to the law of repair by its worth;
    /// `in_flight` were in flight before.
    fn report_settled(&mut self, now: Time, in_flight: u32) {
        if self.rate_limit.is_none() && self.sliding.is_none() {
            return;
        }
        let (reordering, interval, budget) =
            (self.reordering_delay(), self.protection.interval(), self.repair_budget());
        self.history.find_losses(now, reordering);
        let settled = self.history.newly_settled();
        if let Some(limit) = &mut self.rate_limit {
            limit.on_report(now, settled, in_flight);
        }
        if let Some(sliding) = &mut self.sliding {
            sliding.on_settled(now, settled);
            sliding.on_outcomes(self.history.new_outcomes());
            sliding.release(now, budget);
            self.counts.expected_lost += sliding.take_expected();
        }
        if let Some(limit) = &self.rate_limit {
            self.history.give_up(now - limit.timeout(interval));
        }
    }

    /// The reordering threshold in time.
    fn reordering_delay(&self) -> Span {
        reordering_delay(self.peer.round_trip().unwrap_or(Span::ZERO))
    }

    fn settle(&mut self, now: Time) {
        let Settled { packets, passed } = self.history.settle(now, self.reordering_delay());
        let report = rate::Report::of(now, &packets);
        self.history.recycle(packets);
        self.counts.lost += u64::from(report.lost);
        self.counts.delivered += u64::from(report.delivered);
        self.protection.on_report(&LossReport::from(&report));
        self.brake(now, &report, passed);
    }

    /// Passes a report to the brake, with the packets that it settled in sending order.
    fn brake(&mut self, now: Time, report: &rate::Report, mut passed: Sample) {
        if !self.guard.has_brake() || !self.phase.is_open() {
            return;
        }
        let least = self.peer.round_trip().unwrap_or(Span::ZERO);
        let base = self.guard.base(now, least);
        let grown = |from| report.rtt.map_or(Span::ZERO, |round_trip| round_trip.saturating_sub(from));
        let stalled = self.history.stalled(now, STALL + least);
        let queue = grown(base) > LEAST_QUEUE.max(base / QUEUE_PART);
        passed.report(queue);
        // No report names these any more, so they are one run of losses.
        (0..stalled).for_each(|nth| passed.lose(nth == 0, None));
        let (bound, bounds) = (self.protection.window(), self.protection.window_bounds());
        let (window, bounds, spread) = match self.sliding {
            Some(_) => (self.protection.as_window(self.credit.used()), (0.0, bounds.1), Span::ZERO),
            None => (bound, bounds, self.protection.spread()),
        };
        let pressure = Pressure {
            lost: report.lost.saturating_add(stalled),
            delivered: report.delivered,
            passed,
            round_trip: report.rtt,
            queue,
            lag: least + grown(least) + reordering_delay(least) + spread + self.protection.interval(),
            window,
            bound,
            bounds,
            k: self.protection.law_packets(),
            block: self.protection.block_packets(),
        };
        match self.guard.on_report(now, &pressure) {
            Some(Demand::Lower) => {
                let leaves = self.config.max_rate.map_or(self.flow.rate(now), |most| most.min(self.flow.rate(now)));
                let arrives = Rate::from_bps((leaves.as_bps() as f64 * (1.0 - self.guard.loss())) as u64);
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
}
