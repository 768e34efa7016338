//! The interface of a rate law: its inputs, and the time of the next packet.

use crate::law::PacketReport;
use crate::probe::Probe;
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// The changes that one acknowledgement brings, in packets. Each packet has a number of its own and is never sent
/// again, so that the acknowledged packet is never ambiguous.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Report {
    /// The time at which it arrived.
    pub now: Time,
    /// Packets that it acknowledged for the first time.
    pub delivered: u32,
    /// Packets declared lost since the previous report.
    pub lost: u32,
    /// Packets in flight before it arrived.
    pub in_flight: u32,
    /// The time at which the newest of the packets delivered was sent; none if none was.
    pub newest: Option<Time>,
    /// The time at which the newest of the packets lost was sent.
    pub newest_lost: Option<Time>,
    /// The round trip of the newest, without the receiver's acknowledgement delay.
    pub rtt: Option<Span>,
    /// The smoothed round trip (RFC 6298), after the first sample.
    pub srtt: Option<Span>,
    /// True if the law held the session back; the allowance of a session that was not held back must not grow (RFC
    /// 7661).
    pub limited: bool,
}

impl Report {
    /// The counts and times of `packets`, which feedback settled at `now`, in any order. Of several packets that were
    /// sent at the same time, the first one gives the round trip. The session adds its own state.
    pub fn of(now: Time, packets: &[PacketReport]) -> Report {
        let mut report = Report {
            now,
            delivered: 0,
            lost: 0,
            in_flight: 0,
            newest: None,
            newest_lost: None,
            rtt: None,
            srtt: None,
            limited: true,
        };
        for packet in packets {
            let sent = Some(packet.sent);
            if packet.acknowledged.is_none() {
                report.lost += 1;
                report.newest_lost = report.newest_lost.max(sent);
                continue;
            }
            report.delivered += 1;
            if report.newest < sent {
                (report.newest, report.rtt) = (sent, packet.rtt());
            }
        }
        report
    }
}

/// A law that determines the time of the next packet.
pub trait Allowance: Probe {
    /// The earliest time of the next packet with `in_flight` packets in flight; none if a report must come first. A
    /// time in the past means now.
    fn next_send(&self, in_flight: u32) -> Option<Time>;

    /// The rate that the law allows now, in packets of `packet` bytes over a smoothed round trip of `srtt`. A rate that a
    /// session plans with: [`Allowance::next_send`] alone binds.
    fn rate(&self, packet: Bytes, srtt: Span) -> Rate;

    /// Accounts for a sent packet of `size`, headers included.
    fn on_sent(&mut self, now: Time, size: Bytes);

    /// Accounts for sent bytes that the law did not delay, such as acknowledgements: `size`, headers included. For laws
    /// that bound all bytes sent.
    fn on_unpaced(&mut self, _size: Bytes) {}

    /// Accounts for a packet of `size` that was sent at `sent` as the `number`-th of all packets, from 0 on. Its
    /// acknowledgement would have arrived at `now` if the receiver had not held it back. Called for each packet before
    /// the report of the same acknowledgement, for laws that depend on individual packets.
    fn on_delivered(&mut self, _now: Time, _number: u64, _sent: Time, _size: Bytes) {}

    /// Takes an acknowledgement into account.
    fn on_report(&mut self, report: &Report);

    /// Handles silence: no acknowledgement for longer than two probe timeouts, with `in_flight` packets in flight,
    /// which is persistent congestion (RFC 9002 §7.6).
    fn on_silence(&mut self, now: Time, in_flight: u32);
}
