//! Silence of an input that runs in real time.

use thalweg_core::time::{Span, Time};

/// The time without media that is reported. Ours: above the pauses of any live source, and soon enough for somebody who
/// waits for a picture.
const SILENCE: Span = Span::from_secs(5);

/// The time since the last media.
#[derive(Debug)]
pub(super) struct Silence {
    heard: Time,
    is_reported: bool,
}

impl Silence {
    /// Silence that begins at `now`.
    pub(super) fn new(now: Time) -> Silence {
        Silence { heard: now, is_reported: false }
    }

    /// Notes media.
    pub(super) fn end(&mut self, now: Time) {
        *self = Silence::new(now);
    }

    /// Begins anew, because no media is wanted.
    pub(super) fn postpone(&mut self, now: Time) {
        self.heard = now;
    }

    /// The time of the report.
    pub(super) fn due(&self) -> Option<Time> {
        (!self.is_reported).then(|| self.heard + SILENCE)
    }

    /// The report, once in each silence.
    pub(super) fn poll(&mut self, now: Time) -> Option<String> {
        self.due().filter(|due| *due <= now)?;
        self.is_reported = true;
        Some(format!("no media for {SILENCE}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(secs: u64) -> Time {
        Time::from_nanos(secs * 1_000_000_000)
    }

    #[test]
    fn each_silence_is_reported_once_and_only_while_media_is_wanted() {
        let mut silence = Silence::new(at(0));
        assert_eq!((silence.due(), silence.poll(at(4))), (Some(at(5)), None));
        silence.postpone(at(4));
        assert_eq!(silence.poll(at(8)), None);
        assert_eq!(silence.poll(at(9)).as_deref(), Some("no media for 5s"));
        assert_eq!((silence.due(), silence.poll(at(60))), (None, None));
        silence.end(at(60));
        assert_eq!((silence.poll(at(64)), silence.poll(at(65)).is_some()), (None, true));
    }
}
