//! Playback accounting: the frames of one video a line.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use thalweg_core::law::ParameterError;
use thalweg_core::law::playback::{Frame, Tally, outcomes};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::video::Kind;

use super::line::{LARGEST, checked, parsed};
use super::{Replayed, without_settings, write_answer};

/// The outcomes of the last video.
#[derive(Default)]
pub(super) struct Videos {
    answer: Option<Answer>,
    playback: Option<f64>,
}

/// A video in display order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Video {
    types: String,
    arrival: Vec<Option<f64>>,
    deadline: Vec<f64>,
    sent: Vec<u8>,
}

#[derive(Serialize)]
struct Answer {
    labels: Vec<&'static str>,
    /// None for a video without frames.
    playback: Option<f64>,
}

impl Videos {
    /// The accounting, which has no constants to set.
    pub(super) fn new(settings: &[(String, String)]) -> Result<Videos, ParameterError> {
        without_settings(settings)?;
        Ok(Videos::default())
    }
}

impl Video {
    fn frames(&self) -> Result<Vec<Frame<f64>>, String> {
        let kinds: Vec<char> = self.types.chars().collect();
        for (name, values) in
            [("arrival", self.arrival.len()), ("deadline", self.deadline.len()), ("sent", self.sent.len())]
        {
            if values != kinds.len() {
                return Err(format!("types has {} frames, {name} {values}", kinds.len()));
            }
        }
        let frame = |(n, &letter): (usize, &char)| {
            let kind = Kind::of(letter.encode_utf8(&mut [0; 4]));
            let sent = self.sent[n];
            if sent > 1 {
                return Err(format!("sent must be 0 or 1, not {sent} (frame {n})"));
            }
            let time = |name: &str, time: f64| checked(name, time, -LARGEST..=LARGEST);
            Ok(Frame {
                kind: kind.ok_or_else(|| format!("types: {letter:?} is not I, P or B (frame {n})"))?,
                sent: sent == 1,
                arrival: self.arrival[n].map(|arrival| time("arrival", arrival)).transpose()?,
                deadline: time("deadline", self.deadline[n])?,
            })
        };
        kinds.iter().enumerate().map(frame).collect()
    }
}

impl Replayed for Videos {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let video: Video = parsed(line)?;
        let frames = video.frames()?;
        let (outcomes, mut tally) = (outcomes(&frames), Tally::default());
        frames.iter().zip(&outcomes).for_each(|(frame, &outcome)| tally.add(frame.kind, outcome));
        self.playback = tally.performance();
        let labels = outcomes.into_iter().map(thalweg_core::law::playback::Outcome::name).collect();
        self.answer = Some(Answer { labels, playback: self.playback });
        Ok(())
    }

    fn write(&self, _shown: Option<&[&str]>, output: &mut dyn Write) -> io::Result<()> {
        write_answer(&self.answer, output)
    }
}

impl Probe for Videos {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("playback", self.playback.unwrap_or(f64::NAN));
    }
}
