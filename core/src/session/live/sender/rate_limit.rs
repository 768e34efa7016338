//! The rate law of a stream: a bound on all that leaves, media, repair and control.
//!
//! Media and repair wait for the law. Control leaves at once. Once its bytes add up to a packet, the packet that leaves next
//! is charged twice: control takes at most half of the law's rate. It must not take all of it, since a law that feedback has
//! not reached for seconds allows less than the hellos take, and only media brings it the feedback by which it recovers.

use core::cmp::Reverse;

use super::history::History;
use crate::law::PacketReport;
use crate::law::rate::capped::Capped;
use crate::law::rate::{Allowance, Choice, Config, Law, Report};
use crate::rtt::Smoothed;
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};
use crate::windowed_min::SlidingMin;

/// The round trip assumed before the first measurement (RFC 9002 §6.2.2).
const INITIAL: Span = Span::from_millis(333);
/// kGranularity (RFC 9002 §6.1.2).
const GRANULARITY: Span = Span::from_millis(1);
/// Silence lasts at least this number of probe timeouts. It is then persistent congestion, which RFC 9002 §7.6.1
/// declares after three.
const SILENT_TIMEOUTS: u64 = 3;
/// The greatest exponent of the timeouts' backoff (RFC 9002 §6.2.1).
const MOST_BACKOFF: u32 = 6;
/// The longest time on which a sender that is late catches up.
const SLACK: Span = Span::from_millis(1);
/// The upper bound of the rate, for a law that sets none.
const FASTEST: Rate = Rate::from_mbps(1_000_000);

/// A running rate law, and the state of its session.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RateLimit {
    law: Capped<Law>,
    most: Option<Rate>,
    /// The size of a packet to the law, headers included.
    packet: Bytes,
    /// The number of the first packet that the law has allowed.
    first: u64,
    rtt: Smoothed,
    /// The longest round trip of the last one. A smoothed one lags a queue that grows or drains.
    max_rtt: Span,
    /// The samples of the last round trip.
    max_rtt_window: SlidingMin<Reverse<Span>>,
    /// The time at which the last packet was sent.
    last_sent: Time,
    /// Bytes of control that have left and have not taken the place of a packet yet.
    unpaced: u64,
    /// True if the law has held packets back since the last report.
    is_limited: bool,
    /// The newest arrival that the law knows.
    arrived: Time,
    /// The start of silence: the last acknowledgement, or the first packet after none was in flight.
    quiet: Time,
    /// Silences since the last acknowledgement.
    backoff: u32,
}

impl RateLimit {
    /// The law `choice`, which starts at `now` with packets of `packet` bytes, bounded by `most`. Packets that are already
    /// in `history` are not reported to it. `round_trip` is that of the handshake, if there was one.
    pub(super) fn new(
        choice: &Choice,
        now: Time,
        packet: Bytes,
        most: Option<Rate>,
        history: &History,
        round_trip: Option<Span>,
    ) -> RateLimit {
        let config = Config { now, packet, most: most.unwrap_or(FASTEST), slack: SLACK };
        let law =
            Law::new(choice, &config).expect("a datagram's size and the bounds are within the ranges of all laws");
        RateLimit {
            law: Capped::new(law, most, SLACK),
            most,
            packet,
            first: history.next(),
            rtt: round_trip.map_or_else(Smoothed::default, Smoothed::believing),
            max_rtt: Span::ZERO,
            max_rtt_window: SlidingMin::new(),
            last_sent: now,
            unpaced: 0,
            is_limited: false,
            arrived: now,
            quiet: now,
            backoff: 0,
        }
    }

    /// The rate at which packets may leave.
    pub(super) fn rate(&self) -> Rate {
        let rate = self.law.rate(self.packet, self.srtt());
        self.most.map_or(rate, |most| most.min(rate))
    }

    /// The running law.
    pub(super) fn law(&self) -> &Law {
        self.law.law()
    }

    /// The running law, for a change of its parameters.
    pub(super) fn law_mut(&mut self) -> &mut Law {
        self.law.law_mut()
    }

    /// The smoothed round trip.
    fn srtt(&self) -> Span {
        self.rtt.srtt().unwrap_or(INITIAL)
    }

    /// The time at which the path's queues have drained if nothing leaves until then, where `least` is the round trip
    /// without queues.
    pub(super) fn drained_at(&self, least: Span) -> Time {
        self.last_sent + self.max_rtt.saturating_sub(least)
    }

    /// Notes that packets are held back.
    pub(super) fn on_limited(&mut self) {
        self.is_limited = true;
    }

    /// The time of the next packet; none if a report must come first.
    pub(super) fn next_send(&self, history: &History) -> Option<Time> {
        self.law.next_send(history.in_flight())
    }

    /// Returns whether the law allows a packet now. If not, the sender is limited.
    pub(super) fn allows(&mut self, now: Time, history: &History) -> bool {
        let allows = self.law.next_send(history.in_flight()).is_some_and(|next| next <= now);
        self.is_limited |= !allows;
        allows
    }

    /// Accounts for a packet of media or repair of `size`, headers included. `history` holds it already, if it will be
    /// reported.
    pub(super) fn on_sent(&mut self, now: Time, size: Bytes, history: &History) {
        if history.in_flight() <= 1 {
            self.quiet = now;
        }
        self.last_sent = now;
        self.law.on_sent(now, size);
        if self.unpaced >= self.packet.0 {
            self.unpaced -= self.packet.0;
            self.law.on_sent(now, self.packet);
        }
    }

    /// Accounts for control of `size`, headers included.
    pub(super) fn on_control(&mut self, size: Bytes) {
        self.unpaced += size.0;
    }

    /// Passes the packets that a report has settled to the law, in any order; `in_flight` were in flight before.
    pub(super) fn on_report(&mut self, now: Time, packets: &[PacketReport], in_flight: u32) {
        let mut packets: Vec<PacketReport> =
            packets.iter().copied().filter(|packet| packet.number >= self.first).collect();
        packets.sort_unstable_by_key(|packet| packet.number);
        for packet in &packets {
            let Some(acknowledged) = packet.acknowledged else { continue };
            // The delay of the return path varies; the times that the law gets never decrease.
            self.arrived = self.arrived.max(acknowledged);
            // X and X_recv are in packets of the nominal size (RFC 5348 §4.1).
            let size = packet.size.max(self.packet);
            self.law.on_delivered(self.arrived, packet.number - self.first, packet.sent, size);
        }
        let report = Report::of(now, &packets);
        if report.delivered == 0 && report.lost == 0 {
            return;
        }
        if report.delivered > 0 {
            (self.quiet, self.backoff) = (now, 0);
        }
        if let Some(rtt) = report.rtt {
            self.rtt.sample(rtt);
            let Reverse(longest) = self.max_rtt_window.update(now, Reverse(rtt), rtt);
            self.max_rtt = longest;
        }
        let limited = core::mem::take(&mut self.is_limited);
        self.law.on_report(&Report { in_flight, srtt: self.rtt.srtt(), limited, ..report });
    }

    /// The time without an acknowledgement after which a packet in flight is given up; reports come every `interval`.
    pub(super) fn timeout(&self, interval: Span) -> Span {
        // PTO of RFC 9002 §6.2.1.
        let timeout = self.srtt() + (self.rtt.rttvar() * 4).max(GRANULARITY) + interval;
        timeout * SILENT_TIMEOUTS * (1 << self.backoff)
    }

    /// The time at which silence becomes persistent congestion, while packets are in flight.
    pub(super) fn silent_at(&self, history: &History, interval: Span) -> Option<Time> {
        (history.in_flight() > 0).then(|| self.quiet + self.timeout(interval))
    }

    /// Handles persistent congestion, with `in_flight` packets in flight.
    pub(super) fn on_silence(&mut self, now: Time, in_flight: u32) {
        self.law.on_silence(now, in_flight);
        self.quiet = now;
        self.backoff = (self.backoff + 1).min(MOST_BACKOFF);
    }
}
