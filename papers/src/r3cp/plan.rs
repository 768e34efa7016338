//! The runs of the evaluation.

use std::ops::RangeInclusive;

use thalweg_lab::scenario::{Blueprint, Error, Parameter};

use super::condition::{Condition, Path};
use super::record::Record;
use super::setting::Setting;
use super::subject::Subject;
use super::trace::Trace;
use crate::jobs::Jobs;
use crate::pool::Task;
use crate::work::described_with;

/// The size of the evaluation.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The duration of the runs of Figs. 3 to 6 and 9 and of Table 3, in seconds. Figs. 7 and 8 have those of the paper, and
    /// 10 s more.
    pub seconds: u32,
    /// The number of seeds: 1, 2, ...
    pub seeds: u64,
    /// The numbers of videos that have the link to themselves, ascending.
    pub videos: Vec<u32>,
    /// The numbers of TCP flows beside one video, ascending; Figs. 3, 5 and 6.
    pub tcp: Vec<u32>,
    /// n: the numbers of TCP flows of Fig. 9, ascending.
    pub beside: Vec<u32>,
    /// The settings.
    pub settings: Vec<Setting>,
    /// The frames of every video; none for modeled ones.
    pub trace: Option<Trace>,
}

/// One run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Job {
    /// The condition.
    pub condition: Condition,
    /// The control.
    pub subject: Subject,
    /// The setting; the first one for subjects that have none.
    pub setting: Setting,
    /// The seed of all random choices; the same for all subjects of a condition.
    pub seed: u64,
}

impl Plan {
    /// The paper's numbers (§4), and those that it does not state.
    pub fn paper() -> Plan {
        Plan {
            seconds: 600,
            seeds: 10,
            videos: vec![1, 2, 3, 4],
            tcp: vec![1, 2, 4, 8],
            beside: (1..=10).collect(),
            settings: Setting::ALL.to_vec(),
            trace: None,
        }
    }

    /// A quick run of everything, which takes a minute or two.
    pub fn quick() -> Plan {
        Plan { seconds: 120, seeds: 3, beside: vec![1, 4, 10], ..Plan::paper() }
    }

    /// All jobs, seed by seed, so that the results of an interrupted evaluation are still paired.
    pub fn jobs(&self) -> Vec<Job> {
        let mut jobs: Vec<Job> = Vec::new();
        for seed in 1..=self.seeds {
            for condition in self.conditions() {
                for subject in subjects(condition) {
                    let job = |setting: &Setting| Plan::job(condition, *subject, setting, seed);
                    jobs.extend(self.settings.iter().map(job));
                }
            }
        }
        jobs.dedup();
        jobs
    }

    fn conditions(&self) -> Vec<Condition> {
        let mut conditions: Vec<Condition> =
            self.videos.iter().map(|&videos| Condition::Load { videos, tcp: 0 }).collect();
        conditions.extend(self.tcp.iter().map(|&tcp| Condition::Load { videos: 1, tcp }));
        conditions.extend([Condition::Crowded, Condition::Congested, Condition::Pair]);
        conditions.extend(self.beside.iter().map(|&tcp| Condition::Beside { tcp }));
        conditions.extend(Path::ALL.map(Condition::Internet));
        conditions
    }

    /// The description of a job.
    ///
    /// # Errors
    /// The plan's numbers are impossible.
    pub fn blueprint(&self, job: &Job) -> Result<Blueprint, Error> {
        let mut settings: Vec<(String, String)> =
            job.condition.settings().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let mut set = |name: &str, value: &str| settings.push((name.to_owned(), value.to_owned()));
        for (name, value) in job.setting.settings() {
            set(name, value);
        }
        let (name, value) = job.subject.settings();
        set(name, value);
        if !matches!(job.condition, Condition::Congested | Condition::Pair) {
            set("duration_s", &self.seconds.to_string());
        }
        let trace = self.trace.as_ref().map(|Trace { name, text }| (name.as_str(), text.as_ref()));
        if let Some((name, _)) = trace {
            settings.push(("frames".to_owned(), name.to_owned()));
        }
        described_with(job.condition.scenario(), &settings, trace)
    }

    /// The parameters of a job's scenario, each with its value.
    ///
    /// # Errors
    /// As for [`Plan::blueprint`].
    pub fn parameters(&self, job: &Job) -> Result<Vec<Parameter>, Error> {
        Ok(self.blueprint(job)?.parameters().to_vec())
    }
}

/// The subjects that a condition compares.
fn subjects(condition: Condition) -> &'static [Subject] {
    match condition {
        Condition::Beside { .. } => &Subject::BESIDE_TCP,
        Condition::Pair => &[Subject::R3cpPlus],
        _ => &Subject::CONTROLS,
    }
}

impl Jobs for Plan {
    type Job = Job;
    type Condition = Condition;
    type Subject = Subject;
    type View = Setting;
    type Record = Record;

    fn jobs(&self) -> Vec<Job> {
        self.jobs()
    }

    fn job(condition: Condition, subject: Subject, setting: &Setting, seed: u64) -> Job {
        let setting = if subject.has_settings() { *setting } else { Setting::default() };
        Job { condition, subject, setting, seed }
    }

    fn seeds(&self, _: Condition, _: &Setting) -> RangeInclusive<u64> {
        1..=self.seeds
    }

    fn task(&self, job: Job) -> Result<impl Task<Record = Record, Error = String>, String> {
        self.begin(&job)
    }
}

impl core::fmt::Display for Job {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        use crate::figure::Subject as _;
        write!(f, "{}, {}, {}", self.condition, self.subject.name(), self.setting.name())
    }
}
