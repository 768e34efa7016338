//! The adapter between quinn's events and TCP Stream, with a window in bytes.
//!
//! | quinn | here |
//! |---|---|
//! | `on_ack`, `on_end_acks` | one sample of the round trip a frame, of its newest packet; growth packet by packet |
//! | `app_limited` | the window must not grow (RFC 9002 §7.8) |
//! | `on_congestion_event` | a loss or an ECN mark, once for all packets sent before its detection (RFC 9002 §7.3.2) |
//! | persistent congestion | a timeout (RFC 9002 §7.6) |
//! | a round | from an ACK frame to the first that acknowledges a packet sent after it |

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use thalweg_core::law::window::tcp_stream::{TcpStream as Law, Variant};
use thalweg_core::law::window::{CongestionWindow, Playback, Start};
use thalweg_core::units::Rate;

use crate::batch::{AckSummary, Batch};
use crate::video_rate::{VideoRate, payload};

/// The initial configuration of connections, from which quinn builds the controller of each.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TcpStreamConfig {
    /// The rate of videos until [`TcpStream::play`] sets their own, as payload of streams; 1 bit/s to 1 Tb/s.
    pub rate: Rate,
    /// The choices that the paper leaves open.
    pub variant: Variant,
}

impl Default for TcpStreamConfig {
    /// 3.6 Mb/s, and thresholds as printed (TCP Stream §5.1, Eq. (4)).
    fn default() -> TcpStreamConfig {
        TcpStreamConfig { rate: Playback::default().rate, variant: Variant::default() }
    }
}

impl ControllerFactory for TcpStreamConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(TcpStream::new(*self, now, current_mtu))
    }
}

/// A connection's controller. Copies share the rate of the video: [`TcpStream::play`] of one acts on all.
#[derive(Clone, Debug)]
pub struct TcpStream {
    law: Law,
    video_rate: VideoRate,
    playing: Playback,
    mtu: u16,
    batch: Batch,
    /// The start of the current round: the acknowledgement of a packet sent then or later ends it.
    round: Instant,
    /// The time at which the last loss was detected.
    recovery: Option<Instant>,
}

impl TcpStream {
    fn new(config: TcpStreamConfig, now: Instant, mtu: u16) -> TcpStream {
        let playing = Playback { rate: config.rate, mss: payload(mtu) };
        TcpStream {
            law: Law::new(Start::default(), playing, config.variant),
            video_rate: VideoRate::new(config.rate),
            playing,
            mtu,
            batch: Batch::default(),
            round: now,
            recovery: None,
        }
    }

    /// The controller of a connection, from quinn's `congestion_state`; `None` if another law controls the connection.
    pub fn of(state: &dyn Controller) -> Option<TcpStream> {
        state.clone_box().into_any().downcast().ok().map(|control| *control)
    }

    /// Sets the rate of the video, as payload of streams, from the next acknowledgement on.
    pub fn play(&self, rate: Rate) {
        self.video_rate.set(rate);
    }

    /// The law, in its state when this copy was made.
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// True if a packet sent at `sent` is newer than the detection of the last loss (RFC 9002 §7.3.2).
    fn is_after_recovery(&self, sent: Instant) -> bool {
        self.recovery.is_none_or(|recovery| sent > recovery)
    }

    fn tune(&mut self) {
        let wanted = Playback { rate: self.video_rate.get(), mss: payload(self.mtu) };
        if wanted != self.playing {
            self.playing = wanted;
            self.law.play(wanted);
        }
    }

    fn take(&mut self, sent: Instant, bytes: u64) {
        self.batch.take(sent, bytes, self.is_after_recovery(sent));
    }

    fn acknowledge(&mut self, now: Instant, acked: AckSummary, may_grow: bool) {
        self.law.sample(acked.rtt);
        if !acked.grows {
            return;
        }
        for _ in 0..acked.segments {
            self.law.acknowledge(1, false, may_grow);
        }
        let round_end = acked.sent >= self.round;
        if round_end {
            self.round = now;
        }
        self.law.acknowledge(0, round_end, may_grow);
    }
}

impl Controller for TcpStream {
    fn on_ack(&mut self, _now: Instant, sent: Instant, bytes: u64, _app_limited: bool, _rtt: &RttEstimator) {
        self.take(sent, bytes);
    }

    fn on_end_acks(&mut self, now: Instant, _in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.tune();
        if let Some(acked) = self.batch.close(now, self.mtu) {
            self.acknowledge(now, acked, !app_limited);
        }
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, _lost_bytes: u64) {
        if self.is_after_recovery(sent) {
            self.recovery = Some(now);
            self.law.lose();
        }
        if is_persistent_congestion {
            // `ssthresh` has been lowered already.
            self.law.expire(true);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu;
        self.tune();
    }

    /// Whole segments, at least two (RFC 9002 §7.2).
    fn window(&self) -> u64 {
        // Deviation(TCP Stream §4): QUIC's rules hold where RFC 9002 differs: the minimum window, the losses that
        // count, and the timeout.
        // `as` saturates.
        (self.law.swnd() as u64).max(2) * u64::from(self.mtu)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        let ssthresh = self.law.ssthresh();
        metrics.ssthresh = ssthresh.is_finite().then_some((ssthresh * f64::from(self.mtu)) as u64);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        u64::from(Start::default().iw) * u64::from(self.mtu)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests;
