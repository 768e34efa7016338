//! What is kept of a run.

use serde::{Deserialize, Serialize};
use thalweg_core::time::Time;
use thalweg_core::units::{Bytes, Rate};

use super::series::Series;
use super::watch::Windows;
use crate::experiment::{Ended, FlowOutcome, Outcome};
use crate::node::drop_tail::Offered;

/// The numbers of a run that figures and claims are made of, from the end of the warm-up on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// What a film got as long as it was under way, mean over the films, Mb/s.
    pub film_mbps: f64,
    /// What all other TCP delivered together, Mb/s.
    pub ftp_mbps: f64,
    /// Dropped over offered at the bottleneck.
    pub loss: f64,
    /// The same of the films' packets alone.
    pub film_loss: f64,
    /// The share of the films that were there when the run ended.
    pub delivered: f64,
    /// How often a film stood still, mean over the films.
    pub stalls: f64,
    /// How long it stood still, s.
    pub stalled_s: f64,
    /// How long a player would wait for its first two seconds, s.
    pub start_up_s: f64,
    /// The least playout delay without any stall, s.
    pub delay_s: f64,
    /// How often the films' retransmission timers expired, mean over the films.
    pub timeouts: f64,
    /// How long the run was, s.
    pub end_s: f64,
    /// TCP Stream's windows.
    pub windows: Windows,
    /// Rates over time, where a figure shows them.
    pub series: Option<Series>,
}

impl Record {
    /// What is kept of an outcome.
    pub(super) fn of(outcome: &Outcome, windows: Windows, series: Option<Series>) -> Record {
        let films: Vec<&FlowOutcome> = outcome.flows.iter().filter(|flow| flow.playing().is_some()).collect();
        let is_ftp = |flow: &&FlowOutcome| matches!(flow.ended, Ended::Tcp { playing: None, .. });
        let ftp: Bytes = outcome.flows.iter().filter(is_ftp).map(FlowOutcome::delivered).sum();
        let share =
            |of: &dyn Fn(&FlowOutcome) -> f64| films.iter().map(|film| of(film)).sum::<f64>() / films.len() as f64;
        let is_there = |film: &FlowOutcome| film.transfer().is_some_and(|transfer| transfer.completed.is_some());
        let Offered { packets, dropped } = films.iter().map(|film| film.offered).sum();
        let timeouts = |film: &FlowOutcome| match film.ended {
            Ended::Tcp { timeouts, .. } => timeouts as f64,
            _ => 0.0,
        };
        Record {
            film_mbps: outcome.value("film_goodput_mbps"),
            ftp_mbps: Rate::of(ftp, outcome.window).as_mbps_f64(),
            loss: outcome.value("link_loss"),
            film_loss: dropped as f64 / packets as f64,
            delivered: share(&|film| f64::from(u8::from(is_there(film)))),
            stalls: outcome.value("film_stalls"),
            stalled_s: outcome.value("film_stalled_s"),
            start_up_s: outcome.value("film_start_up_s"),
            delay_s: outcome.value("film_delay_s"),
            timeouts: share(&timeouts),
            end_s: outcome.end.since(Time::ZERO).as_secs_f64(),
            windows,
            series,
        }
    }
}
