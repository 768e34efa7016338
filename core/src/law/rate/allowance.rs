//! The one question, and what an answer follows from.

use crate::probe::Probe;
use crate::time::{Span, Time};
use crate::units::Bytes;

/// What one acknowledgement told the session, in packets. Each packet has a number of its own and is never sent again, so
/// that there is no doubt which one was acknowledged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Report {
    /// When it came.
    pub now: Time,
    /// Packets that it acknowledged for the first time.
    pub delivered: u32,
    /// Packets that are known to be lost since it came.
    pub lost: u32,
    /// Packets under way before it came.
    pub in_flight: u32,
    /// When the newest of the packets delivered was sent; none if it told of no new one.
    pub newest: Option<Time>,
    /// When the newest of the packets lost was sent.
    pub newest_lost: Option<Time>,
    /// The round trip of the newest, without the time that the receiver held it back.
    pub rtt: Option<Span>,
    /// The smoothed round trip (RFC 6298), once there was a sample.
    pub srtt: Option<Span>,
    /// Whether the law held the session back; one that did not must not be allowed more (RFC 7661).
    pub limited: bool,
}

/// A law that says when the next packet may leave.
pub trait Allowance: Probe {
    /// When the next packet may leave while `in_flight` are under way; none if not before something is reported. An
    /// instant that has passed means at once.
    fn next_send(&self, in_flight: u32) -> Option<Time>;

    /// A packet of `size`, headers included, left.
    fn on_sent(&mut self, now: Time, size: Bytes);

    /// Something of `size`, headers included, left that waits for nobody, as acknowledgements do: for laws that bound all that
    /// leaves.
    fn on_aside(&mut self, _size: Bytes) {}

    /// A packet of `size` was acknowledged at `now` that left at `sent`, as the `number`-th of all that left, from 0 on.
    /// Each is told by itself before the report of the same acknowledgement, for laws that need to know which.
    fn on_delivered(&mut self, _now: Time, _number: u64, _sent: Time, _size: Bytes) {}

    /// Takes an acknowledgement into account.
    fn on_report(&mut self, report: &Report);

    /// Nothing was heard for longer than two probe timeouts, with `in_flight` packets under way: persistent congestion
    /// (RFC 9002 §7.6).
    fn on_silence(&mut self, now: Time, in_flight: u32);
}
