//! A run, observed second by second.

use core::ops::ControlFlow;

use thalweg_core::law::playback::{Outcome as Played, Tally};
use thalweg_core::time::{Span, Time};
use thalweg_core::video::Kind;
use thalweg_lab::experiment::{Group, Outcome, Run};
use thalweg_lab::network::Part;

use super::plan::{Job, Plan};
use super::record::{Record, Second};
use crate::work::{Observer, Work};

/// The observer of a run.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    is_over_time: bool,
    /// The flows of the videos, with the packets received and the frames played by the last reading.
    videos: Vec<(u32, f64, u64)>,
    seconds: Vec<Vec<Second>>,
}

impl Plan {
    /// Creates the run of a job, at time zero.
    ///
    /// # Errors
    /// An error names the impossible job and gives the reason.
    pub fn begin(&self, job: &Job) -> Result<Work<Watch>, String> {
        Work::new(job, self.blueprint(job), job.seed, |_, run| {
            let ends = (0..).map_while(|flow| Some((flow, run.network().ends(flow)?)));
            let is_video = |(_, (_, receiver)): &(u32, (&Part, &Part))| matches!(receiver, Part::StoredReceiver(_));
            let videos: Vec<_> = ends.filter(is_video).map(|(flow, _)| (flow, 0.0, 0)).collect();
            let seconds = vec![Vec::new(); videos.len()];
            Watch { is_over_time: job.condition.is_over_time(), videos, seconds }
        })
    }
}

/// The playable frames of a tally.
fn played(tally: &Tally) -> u64 {
    Kind::ALL.into_iter().map(|kind| tally.of(kind, Played::Playable)).sum()
}

impl Observer for Watch {
    type Record = Record;

    fn step(&self) -> Option<Span> {
        self.is_over_time.then_some(Span::from_secs(1))
    }

    fn look(&mut self, now: Time, run: &Run) -> ControlFlow<()> {
        for ((flow, received, before), seconds) in self.videos.iter_mut().zip(&mut self.seconds) {
            let Some((_, Part::StoredReceiver(end))) = run.network().ends(*flow) else { continue };
            let (mut rho, mut packets, mut p, mut buffer_s) = (f64::NAN, 0.0, f64::NAN, f64::NAN);
            run.probe(*flow, &mut |name, value| match name {
                "rho_packets_per_second" => rho = value,
                "received_packets" => packets = value,
                "loss_ratio" => p = value,
                "buffer_seconds" => buffer_s = value,
                _ => {}
            });
            let playback = end.application().playback(now, end.session());
            let frames = played(&playback.tally);
            seconds.push(Second {
                requested_kbps: playback.kbps(rho),
                received_kbps: playback.kbps(packets - *received),
                p,
                buffer_s,
                played: frames.saturating_sub(*before) as f64,
            });
            (*received, *before) = (packets, frames);
        }
        ControlFlow::Continue(())
    }

    fn record(self, outcome: &Outcome, _: &[Group]) -> Record {
        Record::of(outcome, if self.is_over_time { self.seconds } else { Vec::new() })
    }
}
