//! Readings during a run, and the condition for its end.

use core::ops::ControlFlow;

use thalweg_core::probe::Probe;
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Group, Kind, Outcome, Run};
use thalweg_lab::network::Part;

use super::condition::Condition;
use super::plan::{Job, Plan};
use super::record::{Record, Windows};
use super::series;
use crate::work::{self, Observer};

/// One run, between its start and its end.
pub type Work = work::Work<Watch>;

/// The interval between readings: a run ends at most this much later than its last video.
const STEP: Span = Span::from_millis(100);

/// The observer of a run.
#[derive(Clone, Debug)]
pub struct Watch {
    from: Time,
    /// The flow numbers of the videos.
    videos: Vec<u32>,
    lwnd: Mean,
    dwnd: Mean,
    cap: Mean,
    diff: Mean,
    delay_on: Mean,
    series: Option<series::Reader>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Plan {
    /// Creates the run of a job, at time zero.
    ///
    /// # Errors
    /// An error names the impossible job and gives the reason.
    pub fn begin(&self, job: &Job) -> Result<Work, String> {
        let work = Work::new(job, self.blueprint(job), job.seed, |experiment, run| {
            let is_video = |group: &Group| matches!(&group.kind, Kind::Tcp(tcp) if tcp.video.is_some());
            let flows = (0..).map_while(|flow| Some((flow, &run.groups()[run.group_of(flow)?])));
            let videos: Vec<u32> = flows.filter(|(_, group)| is_video(group)).map(|(flow, _)| flow).collect();
            // The second of two videos counts as the background of the first.
            let series = match job.condition {
                Condition::Simulation { .. } => None,
                Condition::Testbed { .. } => Some(series::Reader::new(run, &videos)),
                Condition::Pair { .. } => Some(series::Reader::new(run, &videos[..1])),
            };
            Watch {
                from: Time::ZERO + experiment.warmup,
                series,
                videos,
                lwnd: Mean::default(),
                dwnd: Mean::default(),
                cap: Mean::default(),
                diff: Mean::default(),
                delay_on: Mean::default(),
            }
        })?;
        Ok(work.expecting(self.expected(job)))
    }
}

impl Watch {
    fn read_windows(&mut self, run: &Run) {
        for &video in &self.videos {
            let Some((Part::TcpSender(sender), _)) = run.network().ends(video) else { continue };
            let counters = sender.counters();
            if counters.sent == 0 || counters.completed.is_some() {
                continue;
            }
            sender.law().probe(&mut |name, value| match name {
                "lwnd" => self.lwnd.add(value),
                "dwnd" => self.dwnd.add(value),
                "cap" => self.cap.add(value),
                "diff" => self.diff.add(value),
                "delay_on" => self.delay_on.add(value),
                _ => {}
            });
        }
    }
}

impl Observer for Watch {
    type Record = Record;

    fn step(&self) -> Option<Span> {
        Some(STEP)
    }

    fn look(&mut self, now: Time, run: &Run) -> ControlFlow<()> {
        if now > self.from {
            self.read_windows(run);
        }
        if let Some(series) = &mut self.series {
            series.look(now, run);
        }
        if run.is_delivered() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn record(self, outcome: &Outcome, _: &[Group]) -> Record {
        let windows = Windows {
            lwnd: self.lwnd.value(),
            dwnd: self.dwnd.value(),
            cap: self.cap.value(),
            diff: self.diff.value(),
            delay_on: self.delay_on.value(),
        };
        Record::of(outcome, windows, self.series.map(series::Reader::finish))
    }
}

impl Mean {
    fn add(&mut self, value: f64) {
        if !value.is_nan() {
            self.sum += value;
            self.count += 1;
        }
    }

    fn value(self) -> f64 {
        self.sum / self.count as f64
    }
}
