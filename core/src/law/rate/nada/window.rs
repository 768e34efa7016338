//! Statistics over the observation window, as the receiver of RFC 8698 §4.2 and §5.1 keeps them.

use std::collections::VecDeque;

use super::{MULTILOSS, QEPS};
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::windowed_min::WindowedMin;

/// LOGWIN: the observation window. Fig. 3.
const LOGWIN: Span = Span::from_millis(500);
/// The time over which d_base is the minimum. Ours: a route that has become longer must end to look like a queue, and
/// minutes outlast the queues of others.
const BASE: Span = Span::from_secs(300);
/// The number of packets in the minimum filter. §5.1.1.
const FILTER: usize = 15;
/// ALPHA: the weight of the newest loss ratio. §5.1.2.
const ALPHA: f64 = 0.1;
/// The weights of the last loss intervals (RFC 5348 §5.4), which §4.2 refers to.
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// The most packets of a window. Ours: as many as RMAX sends in LOGWIN with 78 bytes each.
const MOST: usize = 1 << 14;

/// The packets of the window, and the state of its filters.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Window {
    /// Delivered packets: arrival, d_fwd and size.
    packets: VecDeque<(Time, Span, Bytes)>,
    /// Lost packets: the time of the report, and their number.
    losses: VecDeque<(Time, u32)>,
    d_base: WindowedMin<Span>,
    /// Delivered packets since the last loss, and the lengths of the loss intervals before it, newest first.
    interval: u64,
    intervals: VecDeque<u64>,
    /// p_loss, r_recv and d_queue of the last summary.
    p_loss: f64,
    r_recv: f64,
    d_queue: f64,
}

/// The values from which the sender computes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Summary {
    pub(super) d_queue: f64,
    pub(super) p_loss: f64,
    pub(super) r_recv: f64,
    /// The weight of losses in d_tilde.
    pub(super) recency: f64,
    /// rmode = 0: no losses, and no queuing delay of QEPS, in the window.
    pub(super) is_empty_path: bool,
}

impl Default for Window {
    fn default() -> Window {
        Window {
            packets: VecDeque::new(),
            losses: VecDeque::new(),
            d_base: WindowedMin::new(BASE),
            interval: 0,
            intervals: VecDeque::new(),
            p_loss: 0.0,
            r_recv: 0.0,
            d_queue: 0.0,
        }
    }
}

impl Window {
    /// Takes a packet of `size` that arrived at `now`, after `d_fwd`.
    // Deviation(RFC 8698 §4.2): d_fwd includes the way back, which a report takes; the clocks of both ends are not
    // compared. A queue on the way back counts as one on the way.
    pub(super) fn deliver(&mut self, now: Time, d_fwd: Span, size: Bytes) {
        self.d_base.push(now, d_fwd);
        self.packets.push_back((now, d_fwd, size));
        if self.packets.len() > MOST {
            self.packets.pop_front();
        }
        self.interval += 1;
    }

    /// Takes the number of packets that a report at `now` has shown to be lost.
    pub(super) fn lose(&mut self, now: Time, lost: u32) {
        if lost == 0 {
            return;
        }
        self.losses.push_back((now, lost));
        if self.losses.len() > MOST {
            self.losses.pop_front();
        }
        // Reading(RFC 8698 §4.2): all losses of one report are one loss event.
        self.intervals.push_front(core::mem::take(&mut self.interval).max(1));
        self.intervals.truncate(WEIGHTS.len());
    }

    /// The values at `now`.
    pub(super) fn summary(&mut self, now: Time) -> Summary {
        let begin = now - LOGWIN;
        while self.packets.front().is_some_and(|(at, ..)| *at <= begin) {
            self.packets.pop_front();
        }
        while self.losses.front().is_some_and(|(at, _)| *at <= begin) {
            self.losses.pop_front();
        }
        let d_base = self.d_base.get().unwrap_or(Span::ZERO);
        let queue = |d_fwd: Span| d_fwd.saturating_sub(d_base).as_secs_f64();
        let latest = self.packets.iter().rev().take(FILTER).map(|(_, d_fwd, _)| *d_fwd).min();
        // Without an arrival the last value stays.
        self.d_queue = latest.map_or(self.d_queue, queue);
        let bytes: u64 = self.packets.iter().map(|(.., size)| size.0).sum();
        self.r_recv = 8.0 * bytes as f64 / LOGWIN.as_secs_f64();
        let lost: u32 = self.losses.iter().map(|(_, lost)| lost).sum();
        let all = f64::from(lost) + self.packets.len() as f64;
        let p_inst = if all > 0.0 { f64::from(lost) / all } else { 0.0 };
        self.p_loss = ALPHA * p_inst + (1.0 - ALPHA) * self.p_loss;
        let is_empty_path = lost == 0 && self.packets.iter().all(|(_, d_fwd, _)| queue(*d_fwd) < QEPS);
        let (d_queue, p_loss, r_recv) = (self.d_queue, self.p_loss, self.r_recv);
        Summary { d_queue, p_loss, r_recv, recency: self.recency(), is_empty_path }
    }

    /// 1 within loss_exp after the last loss, and falls to 0 over one more loss interval.
    // Reading(RFC 8698 §4.2): the RFC ends the warping at loss_exp; a blend, as in its authors' simulator, avoids a step
    // in x_curr.
    fn recency(&self) -> f64 {
        let weighted = self.intervals.iter().zip(WEIGHTS);
        let (sum, weights) = weighted
            .fold((0.0, 0.0), |(sum, weights), (length, weight)| (sum + weight * *length as f64, weights + weight));
        if weights == 0.0 {
            return 0.0;
        }
        let loss_int = sum / weights;
        (MULTILOSS + 1.0 - self.interval as f64 / loss_int).clamp(0.0, 1.0)
    }

    pub(super) fn d_queue(&self) -> f64 {
        self.d_queue
    }

    pub(super) fn r_recv(&self) -> f64 {
        self.r_recv
    }

    pub(super) fn p_loss(&self) -> f64 {
        self.p_loss
    }
}
