//! The circuit breakers of RFC 8083 for unicast RTP: conditions under which a stream must end.
//!
//! | RFC 8083 | here |
//! |---|---|
//! | §4.1 RTCP timeout: media sent, no report for 3 Td | [`Cause::RtcpTimeout`] |
//! | §4.2 media timeout: reports say that nothing arrives | [`Cause::MediaTimeout`] |
//! | §4.3 congestion: more than ten times the throughput of a TCP | [`Cause::Congestion`] |
//! | §4.4 media usability | judged by the receiver from the loss after repair; not here |
//! | §4.5 ceasing transmission | done by the session |
//!
//! The breaker owns no clock and stops nothing: it is given the packets sent and the regular RTCP reports, and returns
//! a [`Breaker::verdict`]. Reduced-size feedback between regular reports is not a report here (RFC 8083 §5, RTP/AVPF).

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::time::{Span, Time};
use crate::units::Bytes;

/// The number of reports without progress that opens the media timeout: the recommended k (§4.2).
const STALLED_REPORTS: f64 = 5.0;
/// The multiple of a TCP's rate above which the congestion breaker opens (§4.3).
const TIMES_TCP: f64 = 10.0;

/// The intervals on which the breakers depend; by default RFC 3550's minimum interval, and video of 25 frames per
/// second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Td: the deterministic interval of the sender's RTCP, with the fixed minimum of five seconds.
    pub td: Span,
    /// Tdr: the deterministic reporting interval of the receiver. Taken as 1 ms if shorter.
    pub tdr: Span,
    /// Tf: time from one media frame to the next.
    pub tf: Span,
    /// G: the number of frames in a group that depend on each other.
    pub g: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { td: Span::from_secs(5), tdr: Span::from_secs(5), tf: Span::from_millis(40), g: 1 }
    }
}

/// The content of a regular RTCP report about the stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Report {
    /// The extended highest sequence number received.
    pub highest: u64,
    /// The fraction of packets lost since the previous report, 0 to 1; negative and NaN count as 0.
    pub fraction_lost: f64,
    /// Tr: the round-trip time.
    pub rtt: Span,
}

/// The breaker that is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// No report arrives (§4.1).
    RtcpTimeout,
    /// No media arrives (§4.2).
    MediaTimeout,
    /// The stream takes more than ten times the share of a TCP (§4.3).
    Congestion,
}

/// The circuit breakers of one stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Breaker {
    config: Config,
    /// The packets sent since the last report; none if there are none.
    sent: Option<Sent>,
    last_report: Option<Time>,
    highest: Option<u64>,
    /// Consecutive reports that showed no progress.
    stalled: u32,
    rtt: Span,
    /// The latest reports that showed progress, oldest first.
    intervals: VecDeque<Interval>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Sent {
    first: Time,
    bytes: Bytes,
    packets: u64,
}

/// One reporting interval.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Interval {
    fraction_lost: f64,
    bytes: Bytes,
    packets: u64,
    length: Span,
}

impl Breaker {
    /// Breakers of a stream that has sent nothing yet.
    pub fn new(config: Config) -> Breaker {
        let config = Config { tdr: config.tdr.max(Span::from_millis(1)), ..config };
        Breaker {
            config,
            sent: None,
            last_report: None,
            highest: None,
            stalled: 0,
            rtt: Span::ZERO,
            intervals: VecDeque::new(),
        }
    }

    /// Accounts for a sent packet of `size`, headers included.
    pub fn on_sent(&mut self, now: Time, size: Bytes) {
        let sent = self.sent.get_or_insert(Sent { first: now, bytes: Bytes(0), packets: 0 });
        sent.bytes += size;
        sent.packets += 1;
    }

    /// Records that media has ceased to be sent, so that no report is missed (§4.1).
    pub fn cease(&mut self) {
        self.sent = None;
    }

    /// Takes a regular report. One that covers no sent packet only shows that the return path works.
    pub fn on_report(&mut self, now: Time, report: &Report) {
        let since = self.last_report.replace(now);
        self.rtt = report.rtt;
        let Some(sent) = self.sent.take() else { return };
        let progress = self.highest.is_none_or(|highest| report.highest > highest);
        self.highest = self.highest.max(Some(report.highest));
        if !progress {
            self.stalled = self.stalled.saturating_add(1);
            return;
        }
        self.stalled = 0;
        // fmax turns NaN into 0.
        let fraction_lost = libm::fmax(report.fraction_lost, 0.0).min(1.0);
        let length = now.since(since.unwrap_or(sent.first));
        self.intervals.push_back(Interval { fraction_lost, bytes: sent.bytes, packets: sent.packets, length });
        // CB_INTERVAL follows the round trip; enough reports for its largest value are kept.
        while self.intervals.len() as u64 > self.longest_cb_interval() {
            self.intervals.pop_front();
        }
    }

    /// The open breaker at `now`; none if all are closed.
    ///
    /// A sender that complies then ends its stream and does not restart it by itself (§4.5). For one that only
    /// monitors, the verdict lasts as long as its cause.
    pub fn verdict(&self, now: Time) -> Option<Cause> {
        let is_unreported = |sent: &Sent| now.since(sent.first) >= self.config.td * 3;
        if self.sent.as_ref().is_some_and(is_unreported) {
            Some(Cause::RtcpTimeout)
        } else if u64::from(self.stalled) >= self.media_timeout() {
            Some(Cause::MediaTimeout)
        } else if self.rate_to_tcp().is_some_and(|ratio| ratio > TIMES_TCP) {
            Some(Cause::Congestion)
        } else {
            None
        }
    }

    /// The ratio of the stream's rate to that of a TCP with the same loss and round trip; none until there are
    /// CB_INTERVAL reports with progress, and none without loss. Above 10 the congestion breaker is open (§4.3).
    pub fn rate_to_tcp(&self) -> Option<f64> {
        let reports = usize::try_from(self.cb_interval()).ok()?;
        let skipped = self.intervals.len().checked_sub(reports)?;
        let latest = || self.intervals.iter().skip(skipped);
        let p = latest().map(|interval| interval.fraction_lost).sum::<f64>() / reports as f64;
        let bytes: Bytes = latest().map(|interval| interval.bytes).sum();
        let packets: u64 = latest().map(|interval| interval.packets).sum();
        let seconds: f64 = latest().map(|interval| interval.length.as_secs_f64()).sum();
        // X = s / (Tr sqrt(2 b p / 3)) with b = 1: the simplified equation, which the RFC recommends.
        // Deviation(RFC 8083 §4.3): s is averaged over the same reports, not over the packets of the last 4 G frames:
        // a sender of opaque datagrams knows no frames.
        let s = bytes.0 as f64 / packets as f64;
        let x = s / (self.rtt.as_secs_f64() * libm::sqrt(2.0 * p / 3.0));
        let rate = bytes.0 as f64 / seconds;
        let ratio = rate / x;
        (ratio.is_finite() && p > 0.0).then_some(ratio)
    }

    /// MEDIA_TIMEOUT = ceil(k max(Tf, Tr, Tdr) / Tdr) reports (§4.2).
    fn media_timeout(&self) -> u64 {
        let Config { tf, tdr, .. } = self.config;
        let longest = tf.max(self.rtt).max(tdr);
        libm::ceil(STALLED_REPORTS * longest.as_nanos() as f64 / tdr.as_nanos() as f64) as u64
    }

    /// CB_INTERVAL = ceil(3 min(max(10 G Tf, 10 Tr, 3 Tdr), max(15, 3 Td)) / (3 Tdr)) reports (§4.3).
    fn cb_interval(&self) -> u64 {
        let Config { tdr, tf, g, .. } = self.config;
        let wanted = (tf * 10 * u64::from(g)).max(self.rtt * 10).max(tdr * 3);
        let bounded = wanted.min(self.longest_wait());
        bounded.as_nanos().div_ceil(tdr.as_nanos()).max(1)
    }

    fn longest_cb_interval(&self) -> u64 {
        self.longest_wait().as_nanos().div_ceil(self.config.tdr.as_nanos()).max(1)
    }

    fn longest_wait(&self) -> Span {
        (self.config.td * 3).max(Span::from_secs(15))
    }
}
