//! Keys: pause, seek, end.

use thalweg_core::time::{Span, Time};
use thalweg_net::endpoint::Endpoint as _;

use super::{PlayEndpoint, Stage, reports};
use crate::keys::Key;
use crate::source::Source;

/// The step of a seek.
const STEP: Span = Span::from_secs(10);
/// The time before the end of the video beyond which no seek goes.
const LAST: Span = Span::from_secs(1);

impl PlayEndpoint {
    pub(super) fn on_key(&mut self, now: Time, key: Key) {
        match key {
            Key::Quit => self.finish(now),
            Key::Pause if self.stage != Stage::Over && self.source.is_some() => self.toggle_pause(now),
            _ if self.stage != Stage::Playing => {}
            Key::Pause => {}
            Key::Back => self.seek(now, self.target().saturating_sub(STEP)),
            Key::Ahead => self.seek(now, self.target() + STEP),
        }
    }

    /// The position from which the next seek is counted.
    fn target(&self) -> Span {
        self.asked.unwrap_or(self.position)
    }

    fn seek(&mut self, now: Time, to: Span) {
        let to = self.duration().map_or(to, |duration| to.min(duration.saturating_sub(LAST)));
        (self.asked, self.first.requested) = (Some(to), now);
        if let Some(client) = self.link.client() {
            client.play(now, Some(to));
        }
    }

    fn toggle_pause(&mut self, now: Time) {
        let was_paused = self.is_paused;
        if let Some(receiver) = &mut self.session.receiver {
            match was_paused {
                true => receiver.resume(now),
                false => receiver.pause(now),
            }
            // Without effect before playout.
            self.is_paused = receiver.is_paused();
        } else {
            self.is_paused = !was_paused;
            self.pause_plain(now);
        }
        if self.is_paused != was_paused {
            self.reports.push_back(if self.is_paused { reports::paused() } else { reports::resumed() });
        }
    }

    /// Stops or continues delivery. Without a connection the next PLAY waits until the pause is over.
    fn pause_plain(&mut self, now: Time) {
        let is_paused = self.is_paused;
        if let Some(Source::Plain(plain)) = &mut self.source {
            plain.is_paused = is_paused;
        }
        if let Some(client) = self.link.client().filter(|_| self.stage == Stage::Playing) {
            match is_paused {
                true => client.pause(now),
                false => client.play(now, None),
            }
        }
    }
}
