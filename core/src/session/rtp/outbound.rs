//! The sending end: sender reports (RFC 3550 §6.4.1), and the circuit breakers that the receiver's reports feed
//! (RFC 8083).

use crate::law::breaker::{self, Breaker, Cause};
use crate::rng::Rng;
use crate::session::rtp::report_interval;
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire::ntp::{NtpShort, NtpTime};
use crate::wire::rtcp::{Full, Report, ReportBlock, SenderInfo, Source, Writer};
use crate::wire::rtp;

/// Bytes of UDP and IPv4 headers, which the breaker counts.
const LOWER_HEADERS: u64 = 28;

/// The statistics of a stream that is sent.
#[derive(Clone, PartialEq, Debug)]
pub struct Outbound {
    ssrc: u32,
    packets: u32,
    octets: u32,
    next_report: Time,
    /// None for packets within a TCP connection, which has its own congestion control.
    breaker: Option<Breaker>,
}

impl Outbound {
    /// The statistics of the stream `ssrc`, whose first report is due at once. With a configuration, breakers apply to it.
    pub fn new(ssrc: u32, breaker: Option<breaker::Config>) -> Outbound {
        Outbound { ssrc, packets: 0, octets: 0, next_report: Time::ZERO, breaker: breaker.map(Breaker::new) }
    }

    /// Takes note of a packet with a payload of `octets` bytes.
    pub fn on_sent(&mut self, now: Time, octets: usize) {
        self.packets = self.packets.wrapping_add(1);
        self.octets = self.octets.wrapping_add(octets as u32);
        if let Some(breaker) = &mut self.breaker {
            breaker.on_sent(now, Bytes(octets as u64 + rtp::HEADER_LEN as u64 + LOWER_HEADERS));
        }
    }

    /// Packets sent, modulo 2^32.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// The time of the next report.
    pub fn next_report(&self) -> Time {
        self.next_report
    }

    /// Makes a report due at `now`, for a player to relate its streams.
    pub fn report_at(&mut self, now: Time) {
        self.next_report = now;
    }

    /// Writes a sender report and `cname`, the name that all streams of a session share. `timestamp` is the RTP timestamp
    /// of `now`.
    ///
    /// # Errors
    /// The buffer has no space for them.
    pub fn write_report(
        &mut self,
        now: Time,
        timestamp: u32,
        cname: &str,
        rng: &mut Rng,
        writer: &mut Writer<'_>,
    ) -> Result<(), Full> {
        self.next_report = now + report_interval(rng);
        let Outbound { ssrc, packets, octets, .. } = *self;
        let sender = SenderInfo { ntp: NtpTime::from(now), rtp: timestamp, packets, octets };
        writer.push(&Report { ssrc, sender: Some(sender), raw_blocks: &[] })?;
        writer.push(&Source { ssrc, cname: cname.as_bytes() })
    }

    /// Takes a receiver's report on this stream.
    pub fn on_report(&mut self, now: Time, block: &ReportBlock) {
        let Some(breaker) = &mut self.breaker else { return };
        let rtt = match block.last_report {
            NtpShort(0) => Span::ZERO,
            last => NtpShort::from(now).since(last).to_span().saturating_sub(block.delay.to_span()),
        };
        let fraction_lost = f64::from(block.fraction_lost) / 256.0;
        breaker.on_report(now, &breaker::Report { highest: block.highest.into(), fraction_lost, rtt });
    }

    /// The reason that the stream must end (RFC 8083).
    pub fn verdict(&self, now: Time) -> Option<Cause> {
        self.breaker.as_ref()?.verdict(now)
    }

    /// Records that nothing is sent for a while, so that no report is missed.
    pub fn cease(&mut self) {
        if let Some(breaker) = &mut self.breaker {
            breaker.cease();
        }
    }
}
