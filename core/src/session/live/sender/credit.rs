//! The repair that a stream without blocks may send: GENEVA's window, interval by interval.

use super::protection::Load;
use crate::time::{Span, Time};
use crate::units::Bytes;

/// Weight of the newest interval in the average of repair sent. Ours: 0.6 s at 10 ms, as the brake asks after 1 s of loss; a
/// greater one follows single bursts of losses.
const GAIN: f64 = 1.0 / 64.0;

/// The interval of the law that is open, and the repair packets that the intervals before have left.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Credit {
    /// The start of the open interval; none while no media is sent.
    opened: Option<Time>,
    closed: Option<Time>,
    load: Load,
    packets: f64,
    /// Repair packets sent in the open interval, and the average of those before, of which there are so many.
    sent: f64,
    used: f64,
    intervals: u32,
}

impl Credit {
    pub(super) fn new() -> Credit {
        Credit { opened: None, closed: None, load: Load::default(), packets: 0.0, sent: 0.0, used: 0.0, intervals: 0 }
    }

    /// True if a repair packet may leave.
    pub(super) fn suffices(&self) -> bool {
        self.packets >= 1.0
    }

    /// The average of repair packets sent in an interval.
    pub(super) fn used(&self) -> f64 {
        self.used
    }

    /// Notes a source packet of `media` bytes, which takes `wire` bytes; a repair packet of it would take `repair`.
    pub(super) fn on_source(&mut self, now: Time, interval: Span, media: usize, (wire, repair): (Bytes, Bytes)) {
        if self.opened.is_none() {
            // Intervals follow one another without a gap while media flows.
            self.opened = Some(self.closed.filter(|closed| now.since(*closed) < interval).unwrap_or(now));
        }
        self.load.sources += 1;
        self.load.media.0 += media as u64;
        self.load.wire.0 += wire.0;
        self.load.repair = self.load.repair.max(repair);
    }

    /// Notes a repair packet.
    pub(super) fn on_repair(&mut self) {
        self.packets -= 1.0;
        self.sent += 1.0;
    }

    /// The time at which the open interval of this length closes.
    pub(super) fn closes_at(&self, interval: Span) -> Option<Time> {
        self.opened.map(|opened| opened + interval)
    }

    /// Closes the open interval at `at`, in which `control` bytes of control were sent. Returns its load, its length, the
    /// time since the interval before closed, and the repair packets sent in it.
    pub(super) fn close(&mut self, at: Time, control: Bytes) -> Option<(Load, Span, Span, usize)> {
        let opened = self.opened.take()?;
        let since = self.closed.replace(at).map_or(Span::MAX, |closed| at.since(closed));
        let load = Load { control, ..core::mem::take(&mut self.load) };
        let sent = core::mem::take(&mut self.sent);
        self.intervals = self.intervals.saturating_add(1);
        self.used += GAIN.max(1.0 / f64::from(self.intervals)) * (sent - self.used);
        Some((load, at.since(opened), since, sent as usize))
    }

    /// Adds the repair packets of an interval. What is left of intervals longer ago than `kept` intervals is lost, as far as it
    /// is beyond `burst`; after an interval without repair packets all is lost.
    pub(super) fn grant(&mut self, packets: usize, kept: f64, burst: f64) {
        let packets = packets as f64;
        let most = if packets > 0.0 { (packets * (1.0 + kept)).max(burst) } else { 0.0 };
        self.packets = (self.packets + packets).min(most).max(0.0);
    }

    /// Discards all credit, because no receiver answers.
    pub(super) fn clear(&mut self) {
        *self = Credit { used: self.used, intervals: self.intervals, ..Credit::new() };
    }
}
