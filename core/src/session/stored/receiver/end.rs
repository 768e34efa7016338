//! The end of a session: every frame has been played, the sender has left before, or the receiver leaves.

use super::{Event, Receiver};
use crate::time::Time;

impl Receiver {
    /// Says goodbye to the sender, and nothing else from then on.
    pub fn finish(&mut self) {
        // Several, because any of them may be lost.
        self.goodbyes = Some(3);
    }

    /// Ends the session once nothing more will be played.
    pub(super) fn check_end(&mut self, now: Time) {
        let playing = self.clock.zip(self.playout(now));
        if let Some((clock, playout)) = playing {
            self.bank.forget(clock, playout);
        }
        let end = if self.is_cut_off { Some(0) } else { self.end };
        let is_played = |playout| end.is_some_and(|end| self.bank.is_over(end, playout));
        // Where playout has not begun by the goodbye, it never will.
        let is_over = playing.map_or(self.is_cut_off, |(_, playout)| is_played(playout));
        if self.goodbyes.is_none() && is_over {
            self.events.push_back(if self.is_cut_off { Event::CutOff } else { Event::Ended });
            self.finish();
        }
    }
}
