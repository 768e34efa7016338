//! The record of a run.

use serde::{Deserialize, Serialize};
use thalweg_core::time::Time;
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::experiment::{Ended, FlowOutcome, Outcome};
use thalweg_lab::node::drop_tail::Offered;

use super::series::Series;

/// The numbers of a run from which figures and claims are made, from the end of the warm-up on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The goodput of a video during its transfer, mean over the videos, Mb/s.
    pub video_mbps: f64,
    /// The goodput of all other TCP together, Mb/s.
    pub ftp_mbps: f64,
    /// Dropped packets over offered packets at the bottleneck.
    pub loss: f64,
    /// The same ratio for the videos' packets alone.
    pub video_loss: f64,
    /// The share of the videos that were completely delivered when the run ended.
    pub delivered: f64,
    /// The number of stalls of a video, mean over the videos.
    pub stalls: f64,
    /// The total stall time of a video, in seconds.
    pub stalled_s: f64,
    /// The time until a player has its first two seconds of video, in seconds.
    pub start_up_s: f64,
    /// The smallest playout delay without any stall, in seconds.
    pub delay_s: f64,
    /// The number of retransmission timeouts of a video, mean over the videos.
    pub timeouts: f64,
    /// The duration of the run, in seconds.
    pub end_s: f64,
    /// TCP Stream's windows.
    pub windows: Windows,
    /// Rates over time, if a figure shows them.
    pub series: Option<Series>,
}

/// TCP Stream's windows, averaged over videos and over time from the end of the warm-up on, while the videos are being
/// transferred; NaN for other laws.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Windows {
    /// lwnd, segments.
    pub lwnd: f64,
    /// dwnd, segments.
    pub dwnd: f64,
    /// The ceiling of lwnd, segments.
    pub cap: f64,
    /// Diff, segments.
    pub diff: f64,
    /// The share of the time in which the delay window is active.
    pub delay_on: f64,
}

impl Record {
    /// The record of an outcome.
    pub(super) fn of(outcome: &Outcome, windows: Windows, series: Option<Series>) -> Record {
        let videos: Vec<&FlowOutcome> = outcome.flows.iter().filter(|flow| flow.playing().is_some()).collect();
        let is_ftp = |flow: &&FlowOutcome| matches!(flow.ended, Ended::Tcp { playing: None, .. });
        let ftp: Bytes = outcome.flows.iter().filter(is_ftp).map(FlowOutcome::delivered).sum();
        let share =
            |of: &dyn Fn(&FlowOutcome) -> f64| videos.iter().map(|video| of(video)).sum::<f64>() / videos.len() as f64;
        let is_there = |video: &FlowOutcome| video.transfer().is_some_and(|transfer| transfer.completed.is_some());
        let Offered { packets, dropped } = videos.iter().map(|video| video.offered).sum();
        let timeouts = |video: &FlowOutcome| match video.ended {
            Ended::Tcp { timeouts, .. } => timeouts as f64,
            _ => 0.0,
        };
        Record {
            video_mbps: outcome.value("video_goodput_mbps"),
            ftp_mbps: Rate::of(ftp, outcome.window).as_mbps_f64(),
            loss: outcome.value("link_loss"),
            video_loss: dropped as f64 / packets as f64,
            delivered: share(&|video| f64::from(u8::from(is_there(video)))),
            stalls: outcome.value("video_stalls"),
            stalled_s: outcome.value("video_stalled_s"),
            start_up_s: outcome.value("video_start_up_s"),
            delay_s: outcome.value("video_delay_s"),
            timeouts: share(&timeouts),
            end_s: outcome.end.since(Time::ZERO).as_secs_f64(),
            windows,
            series,
        }
    }
}

impl Windows {
    /// The share of the delay window in the whole window.
    pub fn share_of_dwnd(&self) -> f64 {
        self.dwnd / (self.lwnd + self.dwnd)
    }
}
