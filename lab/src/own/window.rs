//! Congestion windows of one's own.

use thalweg_core::law::window::{self, Acked, CongestionWindow};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::{Span, Time};

use super::{Context, Law, Running};

/// A congestion window of one's own before it runs. Its context has the initial window and threshold, and the rate of
/// the video that the flow carries, if it carries one.
pub type Window = Law<dyn WindowLaw, window::Config>;

/// A congestion window of one's own in a run.
pub type RunningWindow = Running<dyn WindowLaw, Values>;

/// The largest window, in segments: a thousand times the receive window that a flow has by default.
pub const MOST_SEGMENTS: f64 = 1_073_741_824.0;

/// A law that determines the number of segments in flight: [`CongestionWindow`] with calls that may fail.
///
/// The sender calls `on_ack` for each acknowledgement outside loss recovery and `on_repair_ack` for every other,
/// `on_loss` once when recovery begins, `on_recovered` once when it ends, and `on_timeout` when the retransmission timer
/// expires. It reads `cwnd`, `ssthresh` and `gap` once after the constructor and once after each of these calls.
///
/// # Errors
/// Each text that a call returns is a [`super::Fault`], and so is each value out of its range.
pub trait WindowLaw: Send {
    /// Takes an acknowledgement into account. A window that did not hold the sender back
    /// ([`Acked::window_limited`]) must not grow.
    fn on_ack(&mut self, acked: &Acked) -> Result<(), String>;

    /// Takes an acknowledgement into account that arrived during or shortly before loss recovery, with `lost` segments
    /// newly declared lost. [`Acked::round_end`] is never set.
    fn on_repair_ack(&mut self, _acked: &Acked, _lost: u32) -> Result<(), String> {
        Ok(())
    }

    /// Handles a loss detected with `flight` segments in flight: sets the slow-start threshold and the window that
    /// recovery works towards.
    fn on_loss(&mut self, now: Time, flight: u32) -> Result<(), String>;

    /// Handles the end of recovery: all segments that were in flight at its start are acknowledged.
    fn on_recovered(&mut self, now: Time) -> Result<(), String>;

    /// Handles an expiry of the retransmission timer with `flight` segments in flight. `again` is true if the same
    /// segment has timed out before.
    fn on_timeout(&mut self, now: Time, flight: u32, again: bool) -> Result<(), String>;

    /// The congestion window in segments, with its fraction. 1 to [`MOST_SEGMENTS`].
    fn cwnd(&self) -> Result<f64, String>;

    /// The slow-start threshold in segments. Above 0; infinite until the first loss.
    fn ssthresh(&self) -> Result<f64, String>;

    /// The minimum time from one segment to the next, above 0; none for a law that relies on acknowledgements for
    /// spacing.
    fn gap(&self) -> Result<Option<Span>, String> {
        Ok(None)
    }

    /// Visits values to record beside `cwnd` and `ssthresh`, NaN where one is not known yet. A name of the sender's own
    /// values, such as `srtt`, is left out.
    fn probe(&self, _visit: &mut Visitor<'_>) {}
}

/// The values of a congestion window after an event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Values {
    /// The congestion window in segments. 1 to [`MOST_SEGMENTS`].
    pub cwnd: f64,
    /// The slow-start threshold in segments. Above 0.
    pub ssthresh: f64,
    /// The minimum time from one segment to the next. Above 0.
    pub gap: Option<Span>,
}

impl Default for Values {
    /// One segment, the window of a law with a fault.
    fn default() -> Values {
        Values { cwnd: 1.0, ssthresh: 2.0, gap: None }
    }
}

impl Values {
    /// The present values of `law`.
    fn of(law: &dyn WindowLaw) -> Result<Values, String> {
        let (cwnd, ssthresh, gap) = (law.cwnd()?, law.ssthresh()?, law.gap()?);
        if !(1.0..=MOST_SEGMENTS).contains(&cwnd) {
            return Err(format!("cwnd is {cwnd}, expected 1 to {MOST_SEGMENTS} segments"));
        }
        if ssthresh.is_nan() || ssthresh <= 0.0 {
            return Err(format!("ssthresh is {ssthresh}, expected a number of segments above 0, or infinity"));
        }
        if gap == Some(Span::ZERO) {
            return Err("gap is 0, expected a time above 0, or none".to_owned());
        }
        Ok(Values { cwnd, ssthresh, gap })
    }
}

impl RunningWindow {
    /// The law of the flow of `context`, before its first event.
    pub(crate) fn begin(law: &Window, context: &Context<window::Config>) -> RunningWindow {
        Running::new(law, context, |law| Values::of(law))
    }
}

impl CongestionWindow for RunningWindow {
    fn on_ack(&mut self, acked: &Acked) {
        self.handle(acked.now, |law| law.on_ack(acked).and_then(|()| Values::of(law)));
    }

    fn on_repair_ack(&mut self, acked: &Acked, lost: u32) {
        self.handle(acked.now, |law| law.on_repair_ack(acked, lost).and_then(|()| Values::of(law)));
    }

    fn on_loss(&mut self, now: Time, flight: u32) {
        self.handle(now, |law| law.on_loss(now, flight).and_then(|()| Values::of(law)));
    }

    fn on_recovered(&mut self, now: Time) {
        self.handle(now, |law| law.on_recovered(now).and_then(|()| Values::of(law)));
    }

    fn on_timeout(&mut self, now: Time, flight: u32, again: bool) {
        self.handle(now, |law| law.on_timeout(now, flight, again).and_then(|()| Values::of(law)));
    }

    fn cwnd(&self) -> f64 {
        self.values().cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.values().ssthresh
    }

    fn gap(&self) -> Option<Span> {
        self.values().gap
    }
}

impl Probe for RunningWindow {
    fn probe(&self, visit: &mut Visitor<'_>) {
        if let Some(law) = self.law() {
            law.probe(visit);
        }
    }
}
