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
            _ if self.stage != Stage::Playing => {}
            Key::Pause => self.toggle_pause(now),
            Key::Back => self.seek(now, self.target().saturating_sub(STEP)),
            Key::Ahead => self.seek(now, self.target() + STEP),
        }
    }

    /// The position from which the next seek is counted.
    fn target(&self) -> Span {
        self.asked.unwrap_or(self.position)
    }

    fn seek(&mut self, now: Time, to: Span) {
        let duration = self.tracks.as_ref().and_then(|tracks| tracks.duration);
        let to = duration.map_or(to, |duration| to.min(duration.saturating_sub(LAST)));
        self.asked = Some(to);
        if let Some(client) = self.link.client() {
            client.play(now, Some(to));
        }
    }

    fn toggle_pause(&mut self, now: Time) {
        self.is_paused = !self.is_paused;
        let is_paused = self.is_paused;
        if let (Some(Source::Plain(plain)), Some(client)) = (&mut self.source, self.link.client()) {
            plain.is_paused = is_paused;
            if is_paused { client.pause(now) } else { client.play(now, None) }
        }
        self.reports.push_back(if is_paused { reports::paused() } else { reports::resumed() });
    }
}
