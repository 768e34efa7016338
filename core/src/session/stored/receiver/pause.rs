//! Pauses: the sender is asked for nothing, and the clock of playout stands still.

use super::Receiver;
use crate::law::rate::r3cp::Decision;
use crate::time::{Span, Time};

impl Receiver {
    /// The media time that is displayed at `now`; none before playout.
    pub fn playout(&self, now: Time) -> Option<Span> {
        self.clock.map(|clock| clock.media_time(self.paused.map_or(now, |paused| paused.min(now))))
    }

    /// True while the video is paused.
    pub fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// Stops playout, and asks the sender for nothing more. Without effect before playout.
    pub fn pause(&mut self, now: Time) {
        let Some((clock, playout)) = self.clock.zip(self.playout(now)).filter(|_| self.paused.is_none()) else {
            return;
        };
        self.bank.close(clock, playout);
        self.paused = Some(now);
        self.ask(now, 0.0);
    }

    /// Continues playout, and asks for the video at its mean rate.
    pub fn resume(&mut self, now: Time) {
        let Some((clock, paused)) = self.clock.as_mut().zip(self.paused.take()) else { return };
        clock.at += now.since(paused);
        self.ask(now, self.config.mu);
    }

    /// Begins a period with `rate`.
    fn ask(&mut self, now: Time, rate: f64) {
        let Some(period) = &self.period else { return };
        let decision = Decision { lambda: rate, rho: rate, ..period.decision };
        self.begin(now, period.number + 1, decision);
    }
}
