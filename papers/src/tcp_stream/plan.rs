//! The runs of the evaluation.

use thalweg_core::time::Span;
use thalweg_lab::scenario::{Blueprint, Error, Parameter};

use super::carrier::Carrier;
use super::condition::Condition;
use crate::figure::Subject;
use crate::work::described;

/// The size of the evaluation.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The playing time of the videos of Fig. 3, in seconds.
    pub video_seconds: u32,
    /// The start times of runs of Fig. 3.
    pub opening: Opening,
    /// The number of seeds of Fig. 3, the same for every carrier: 1, 2, ...
    pub seeds: u64,
    /// N: the numbers of FTP connections, ascending.
    pub n_ftp: Vec<u32>,
    /// The queues in packets: some of [`QUEUES`].
    pub queues: Vec<u32>,
    /// The number of seeds of Fig. 5.
    pub fig5_seeds: u64,
}

/// Start times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Opening {
    /// The time within which FTP connections start, in seconds.
    pub ftp: f64,
    /// The start of the first video, in seconds.
    pub video: f64,
    /// The interval between starts of videos, in seconds.
    pub every: f64,
    /// The beginning of measurement, in seconds.
    pub warmup: f64,
}

/// One run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Job {
    /// The condition.
    pub condition: Condition,
    /// The congestion control of the videos.
    pub carrier: Carrier,
    /// The seed of all random choices; the same for all carriers of a condition.
    pub seed: u64,
}

/// The queues, in packets: the bandwidth-delay products of Fig. 3 and of Fig. 5, and DummyNet's default.
pub const QUEUES: [u32; 3] = [1000, 250, 50];
/// A run ends without its videos when their transfers have taken this many times their playing time.
const STALLED: u32 = 5;

impl Plan {
    /// The paper's numbers (§5.1), the N that it does not state, and seeds for Fig. 5, of which it shows one run.
    pub fn paper() -> Plan {
        Plan {
            video_seconds: 600,
            opening: Opening { ftp: 10.0, video: 40.0, every: 1.0, warmup: 50.0 },
            seeds: 20,
            n_ftp: vec![0, 1, 2, 3, 5, 8, 10, 15, 20],
            queues: QUEUES.to_vec(),
            fig5_seeds: 10,
        }
    }

    /// A quick run of everything, which takes a minute or two.
    pub fn quick() -> Plan {
        Plan {
            video_seconds: 60,
            opening: Opening { ftp: 4.0, video: 10.0, every: 0.2, warmup: 12.0 },
            seeds: 3,
            n_ftp: vec![0, 2, 8, 20],
            queues: vec![1000, 50],
            fig5_seeds: 3,
        }
    }

    /// All jobs, seed by seed, so that the results of an interrupted evaluation are still paired.
    pub fn jobs(&self) -> Vec<Job> {
        let of_seed = |seed| {
            let conditions = self.conditions().filter(move |condition| seed <= self.seeds_of(*condition));
            conditions.flat_map(move |condition| Carrier::ALL.map(|carrier| Job { condition, carrier, seed }))
        };
        (1..=self.seeds.max(self.fig5_seeds)).flat_map(of_seed).collect()
    }

    fn conditions(&self) -> impl Iterator<Item = Condition> {
        self.queues.iter().flat_map(|&queue| {
            let simulations = self.n_ftp.iter().map(move |&n_ftp| Condition::Simulation { n_ftp, queue });
            simulations.chain([Condition::Testbed { queue }])
        })
    }

    pub(super) fn seeds_of(&self, condition: Condition) -> u64 {
        match condition {
            Condition::Simulation { .. } => self.seeds,
            Condition::Testbed { .. } | Condition::Pair { .. } => self.fig5_seeds,
        }
    }

    /// The description of a job.
    ///
    /// # Errors
    /// The plan's numbers are impossible.
    pub fn blueprint(&self, job: &Job) -> Result<Blueprint, Error> {
        described(job.condition.scenario(), &self.settings(job))
    }

    /// The parameters of a job's scenario, each with its value.
    ///
    /// # Errors
    /// As for [`Plan::blueprint`].
    pub fn parameters(&self, job: &Job) -> Result<Vec<Parameter>, Error> {
        Ok(self.blueprint(job)?.parameters().to_vec())
    }

    fn settings(&self, job: &Job) -> Vec<(String, String)> {
        let (tcp, thresholds) = job.carrier.settings();
        let mut settings = Vec::new();
        let mut set = |name: &str, value: &dyn ToString| settings.push((name.to_owned(), value.to_string()));
        set("thresholds", &thresholds);
        match job.condition {
            Condition::Pair { queue, second, end } => {
                set("queue_packets", &queue);
                set("second_s", &second);
                set("duration_s", &end);
            }
            Condition::Testbed { queue } => {
                set("tcp", &tcp);
                set("queue_packets", &queue);
            }
            Condition::Simulation { n_ftp, queue } => {
                set("tcp", &tcp);
                set("queue_packets", &queue);
                set("n_ftp", &n_ftp);
                set("video_mb", &self.video_megabytes());
                set("ftp_start_s", &self.opening.ftp);
                set("video_start_s", &self.opening.video);
                set("video_every_s", &self.opening.every);
                set("warmup_s", &self.opening.warmup);
                set("duration_s", &(self.opening.video + f64::from(STALLED * self.video_seconds)));
            }
        }
        settings
    }

    /// The size of a video of 3.6 Mb/s, in megabytes.
    fn video_megabytes(&self) -> f64 {
        f64::from(self.video_seconds) * 3.6 / 8.0
    }

    /// The expected duration of a job: a video's transfer at its share of the rate that UDP leaves, except that Vegas
    /// and the clamp get less.
    pub(super) fn expected(&self, job: &Job) -> Span {
        let Condition::Simulation { n_ftp, .. } = job.condition else { return Span::MAX };
        let share = 70.0 / f64::from(10 + n_ftp);
        let rate = match job.carrier {
            Carrier::Clamp => share.min(3.6),
            Carrier::Vegas if n_ftp > 0 => 0.0,
            _ => share,
        };
        let video = (self.video_megabytes() * 8.0 / rate).min(f64::from(STALLED * self.video_seconds));
        Span::from_secs_f64(self.opening.video + video)
    }
}

impl core::fmt::Display for Job {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}, {}", self.condition, self.carrier.name())
    }
}
