//! The record of a run.

use serde::{Deserialize, Serialize};
use thalweg_lab::experiment::Outcome;

/// The numbers of a run from which figures and claims are made; means over the videos.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The share of the frames that were playable.
    pub playback: f64,
    /// The same of I, P and B frames.
    pub by_kind: [f64; 3],
    /// The share of frames that were skipped.
    pub skipped: f64,
    /// The share of frames of which a packet never arrived.
    pub broken: f64,
    /// The share of frames that were complete after their time.
    pub late: f64,
    /// The share of frames that were complete in time, without their references.
    pub orphan: f64,
    /// p_n: its mean over the periods.
    pub p_mean: f64,
    /// p_n: its maximum.
    pub p_max: f64,
    /// The requested rate, kb/s.
    pub requested_kbps: f64,
    /// The received rate, kb/s.
    pub received_kbps: f64,
    /// The coefficient of variation of the requested rate.
    pub rate_cv: f64,
    /// The goodput of all TCP flows together, Mb/s.
    pub tcp_mbps: f64,
    /// The seconds of each video, if a figure shows them.
    pub seconds: Vec<Vec<Second>>,
}

/// One second of a video.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Second {
    /// The requested rate at its end, kb/s.
    pub requested_kbps: f64,
    /// The received rate, kb/s.
    pub received_kbps: f64,
    /// p_n at its end.
    pub p: f64,
    /// Media time in the buffer at its end, in seconds.
    pub buffer_s: f64,
    /// Playable frames that were displayed in it.
    pub played: f64,
}

impl Record {
    /// The record of an outcome.
    pub(super) fn of(outcome: &Outcome, seconds: Vec<Vec<Second>>) -> Record {
        let value = |name| outcome.value(name);
        Record {
            playback: value("playback"),
            by_kind: ["playback_i", "playback_p", "playback_b"].map(value),
            skipped: value("skipped"),
            broken: value("broken"),
            late: value("late"),
            orphan: value("orphan"),
            p_mean: value("p_mean"),
            p_max: value("p_max"),
            requested_kbps: value("requested_kbps"),
            received_kbps: value("received_kbps"),
            rate_cv: value("rate_cv"),
            tcp_mbps: value("tcp_goodput_mbps"),
            seconds,
        }
    }

    /// The mean of a value over the seconds from `from` to `to` of one video; NaN if they were not recorded.
    pub fn mean(&self, video: usize, from: usize, to: usize, of: impl Fn(&Second) -> f64) -> f64 {
        let Some(seconds) = self.seconds.get(video).and_then(|seconds| seconds.get(from..to)) else { return f64::NAN };
        seconds.iter().map(of).sum::<f64>() / seconds.len() as f64
    }
}
