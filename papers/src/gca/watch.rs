//! A run, observed second by second.

use core::ops::ControlFlow;

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::experiment::{FlowOutcome, GROUP_QUANTITIES, Group, Kind, Outcome, Run};
use thalweg_lab::network::Part;

use super::plan::{Job, Plan};
use super::record::{Client, Record};
use crate::work::{Observer, Work};

/// The interval of readings.
const STEP: Span = Span::from_secs(1);

/// The observer of a run, whose flows are those of the three clients, and the bulk transfer.
#[derive(Clone, Debug)]
pub struct Watch {
    /// True if a figure shows the run over time.
    is_over_time: bool,
    /// The end of the warm-up.
    warmup: Time,
    /// The bytes that each flow had delivered one second ago.
    seen: [u64; 4],
    seconds: Vec<[f64; 4]>,
    /// The sums of p of the clients since the warm-up, and the number of readings.
    p: [f64; 3],
    readings: u32,
}

impl Plan {
    /// Creates the run of a job, at time zero.
    ///
    /// # Errors
    /// An error names the impossible job and gives the reason.
    pub fn begin(&self, job: &Job) -> Result<Work<Watch>, String> {
        Work::new(job, self.blueprint(job), job.seed, |experiment, _| Watch {
            is_over_time: job.seed == 1,
            warmup: Time::ZERO + experiment.warmup,
            seen: [0; 4],
            seconds: Vec::new(),
            p: [0.0; 3],
            readings: 0,
        })
    }
}

/// The bytes that a flow has delivered: of streams with headers, of TCP without.
fn delivered(run: &Run, flow: u32) -> u64 {
    let kind = run.group_of(flow).map(|group| &run.groups()[group].kind);
    match (run.network().ends(flow), kind) {
        (Some((_, Part::TfrcReceiver(receiver))), _) => receiver.bytes().0,
        (Some((_, Part::TcpReceiver(receiver))), Some(Kind::Tcp(tcp))) => tcp.mss.0 * receiver.delivered(),
        _ => 0,
    }
}

impl Observer for Watch {
    type Record = Record;

    fn step(&self) -> Option<Span> {
        Some(STEP)
    }

    fn look(&mut self, now: Time, run: &Run) -> ControlFlow<()> {
        if self.is_over_time {
            let all = [0, 1, 2, 3].map(|flow| delivered(run, flow));
            self.seconds.push([0, 1, 2, 3].map(|n: usize| Rate::of(Bytes(all[n] - self.seen[n]), STEP).as_mbps_f64()));
            self.seen = all;
        }
        if now > self.warmup {
            self.readings += 1;
            for (flow, p) in (0..).zip(&mut self.p) {
                *p += run.network().gca(flow).map_or(f64::NAN, |state| state.p);
            }
        }
        ControlFlow::Continue(())
    }

    fn record(self, outcome: &Outcome, _: &[Group]) -> Record {
        let loss = |flow: &FlowOutcome| flow.offered.dropped as f64 / flow.offered.packets as f64;
        let wait = GROUP_QUANTITIES.iter().find(|quantity| quantity.name == "queueing delay, ms");
        let wait = |flow: &FlowOutcome| wait.map_or(f64::NAN, |wait| outcome.of_group(flow.group, wait));
        let client = |nth: usize| {
            let flow = &outcome.flows[nth];
            let transit = flow.transit();
            Client {
                mbps: outcome.mbps(flow.delivered()),
                satisfaction: outcome.satisfaction(flow).unwrap_or(f64::NAN),
                delay_ms: transit.map_or(f64::NAN, |transit| transit.delay() * 1e3),
                jitter_ms: transit.map_or(f64::NAN, |transit| transit.jitter() * 1e3),
                wait_ms: wait(flow),
                loss: loss(flow),
                p: self.p[nth] / f64::from(self.readings),
            }
        };
        let background = &outcome.flows[3];
        Record {
            clients: [0, 1, 2].map(client),
            background_mbps: outcome.mbps(background.delivered()),
            background_loss: loss(background),
            background_wait_ms: wait(background),
            seconds: self.seconds,
        }
    }
}
