//! What is run.

use thalweg_core::time::Span;

use super::carrier::Carrier;
use super::condition::Condition;
use crate::paper::figure::Subject;
use crate::paper::work::described;
use crate::scenario::{Blueprint, Error, Parameter};

/// How much of the evaluation is run.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The playing time of the films of Fig. 3, s.
    pub film_seconds: u32,
    /// How runs of Fig. 3 begin.
    pub opening: Opening,
    /// Seeds of Fig. 3, the same for every carrier: 1, 2, ...
    pub seeds: u64,
    /// N: connections for FTP, ascending.
    pub n_ftp: Vec<u32>,
    /// Packets of the queue: some of [`QUEUES`].
    pub queues: Vec<u32>,
    /// Seeds of Fig. 5.
    pub fig5_seeds: u64,
}

/// When who starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Opening {
    /// FTP starts within this time, s.
    pub ftp: f64,
    /// The first film starts, s.
    pub film: f64,
    /// From the start of one film to that of the next, s.
    pub every: f64,
    /// Measuring begins, s.
    pub warmup: f64,
}

/// One run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Job {
    /// Where.
    pub condition: Condition,
    /// What carries the films.
    pub carrier: Carrier,
    /// What every random choice follows from; the same for all carriers of a condition.
    pub seed: u64,
}

/// Queues that are tried, packets: the bandwidth-delay product of Fig. 3 and that of Fig. 5, and what DummyNet has.
pub const QUEUES: [u32; 3] = [1000, 250, 50];
/// A run ends without its films when they took so many times their playing time.
const PATIENCE: u32 = 5;

impl Plan {
    /// The paper's numbers (§5.1), the N that it does not tell, and seeds for Fig. 5, of which it shows one run.
    pub fn paper() -> Plan {
        Plan {
            film_seconds: 600,
            opening: Opening { ftp: 10.0, film: 40.0, every: 1.0, warmup: 50.0 },
            seeds: 20,
            n_ftp: vec![0, 1, 2, 3, 5, 8, 10, 15, 20],
            queues: QUEUES.to_vec(),
            fig5_seeds: 10,
        }
    }

    /// A look at everything, a minute or two long.
    pub fn quick() -> Plan {
        Plan {
            film_seconds: 60,
            opening: Opening { ftp: 4.0, film: 10.0, every: 0.2, warmup: 12.0 },
            seeds: 3,
            n_ftp: vec![0, 2, 8, 20],
            queues: vec![1000, 50],
            fig5_seeds: 3,
        }
    }

    /// Every job, seed by seed, so that an interrupted evaluation is still a paired one.
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
    /// As those of [`Plan::blueprint`].
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
                set("video_mb", &self.film_megabytes());
                set("ftp_start_s", &self.opening.ftp);
                set("video_start_s", &self.opening.film);
                set("video_every_s", &self.opening.every);
                set("warmup_s", &self.opening.warmup);
                set("duration_s", &(self.opening.film + f64::from(PATIENCE * self.film_seconds)));
            }
        }
        settings
    }

    /// The length of a film of 3.6 Mb/s.
    fn film_megabytes(&self) -> f64 {
        f64::from(self.film_seconds) * 3.6 / 8.0
    }

    /// How long a job should take: a film's share of what UDP leaves, which only some carriers get.
    pub(super) fn expected(&self, job: &Job) -> Span {
        let Condition::Simulation { n_ftp, .. } = job.condition else { return Span::MAX };
        let share = 70.0 / f64::from(10 + n_ftp);
        let rate = match job.carrier {
            Carrier::Clamp => share.min(3.6),
            Carrier::Vegas if n_ftp > 0 => 0.0,
            _ => share,
        };
        let film = (self.film_megabytes() * 8.0 / rate).min(f64::from(PATIENCE * self.film_seconds));
        Span::from_secs_f64(self.opening.film + film)
    }
}

impl core::fmt::Display for Job {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}, {}", self.condition, self.carrier.name())
    }
}
