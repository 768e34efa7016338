//! The video that a connection plays, in the metrics and under the law.

use std::sync::Arc;

use thalweg_core::time::Span;
use thalweg_core::units::Rate;

use super::Connection;
use crate::law::ConnectionRate;
use crate::ledger::GaugeGuard;
use crate::places::Busy;

/// A video that plays: it is counted, and has its rate under the law, until this is dropped.
pub(super) struct Playing {
    pub(super) busy: Busy,
    _counted: [GaugeGuard; 2],
    /// The rate of media within the connection; none of datagrams, which have no law.
    claimed: Option<(Arc<ConnectionRate>, Rate)>,
}

impl Drop for Playing {
    fn drop(&mut self) {
        if let Some((control, rate)) = &self.claimed {
            control.end(*rate, Span::ZERO);
        }
    }
}

impl Connection {
    /// Counts the video while it plays, and gives the connection its rate.
    pub(super) fn note_playing(&mut self) {
        let Some(playback) = self.machine.playback().filter(|playback| playback.is_playing()) else {
            self.playing = None;
            return;
        };
        if self.playing.is_some() {
            return;
        }
        let rate = Rate::from_bps(playback.stored().tracks().map(|track| track.rate().as_bps()).sum());
        let is_within = playback.is_interleaved();
        let change = if is_within { self.control.play(rate) } else { None };
        if let Some(change) = change {
            self.shared.report(change.into());
        }
        self.playing = Some(Playing {
            busy: self.occupant.busy(),
            _counted: GaugeGuard::playing(&self.shared.ledger, rate),
            claimed: is_within.then(|| (self.control.clone(), rate)),
        });
    }
}
