//! The runs of the evaluation.

use thalweg_lab::scenario::{Blueprint, Error, Parameter};

use super::condition::{Acks, Arrivals, Condition, Phases, Reading, RoundTrip, Scheme, Setting};
use crate::work::described;

/// The size of the evaluation.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The duration of a run of §4.
    pub length: Length,
    /// The number of seeds of §4, the same for every scheme: 1, 2, ...
    pub seeds: u64,
    /// The numbers of TCP flows of Fig. 8, ascending.
    pub n_tcp_10: Vec<u32>,
    /// The numbers of TCP flows of Fig. 9, ascending.
    pub n_tcp_100: Vec<u32>,
    /// The duration of a run of Fig. 2, in seconds.
    pub fig2_seconds: f64,
    /// The number of seeds of Fig. 2.
    pub fig2_seeds: u64,
    /// The largest number of seeds under [`Setting::OF_NS2`].
    pub ns2_seeds: u64,
}

/// The duration of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Length {
    /// The total duration in seconds; start times and warm-up are those of the scenarios.
    Whole(f64),
    /// A short run.
    Short {
        /// TCP flows start within this time, in seconds; the streams start 2 s after it, within 2 s.
        tcp_start: f64,
        /// The time from the last stream's start to the beginning of measurement, in seconds.
        settle: f64,
        /// The measured time, in seconds.
        window: f64,
    },
}

/// One run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Job {
    /// The condition.
    pub condition: Condition,
    /// The choices that the paper leaves open.
    pub setting: Setting,
    /// The protection of the streams.
    pub scheme: Scheme,
    /// The seed of all random choices; the same for all schemes of a condition.
    pub seed: u64,
}

/// RTTmin of Fig. 2, in ms.
pub(super) const FIG2_RTTS: [u32; 6] = [1, 10, 20, 50, 100, 200];

impl Plan {
    /// The paper's numbers (§2.2, §4.1), with enough seeds to decide claims.
    pub fn paper() -> Plan {
        Plan {
            length: Length::Whole(180.0),
            seeds: 5,
            n_tcp_10: vec![100, 150, 200, 250],
            n_tcp_100: vec![400, 500, 600, 700],
            fig2_seconds: 120.0,
            fig2_seeds: 10,
            ns2_seeds: 3,
        }
    }

    /// A quick run of everything, which takes a few minutes.
    pub fn quick() -> Plan {
        Plan {
            length: Length::Short { tcp_start: 1.0, settle: 2.0, window: 4.0 },
            seeds: 3,
            n_tcp_10: vec![100, 250],
            n_tcp_100: vec![500, 700],
            fig2_seconds: 20.0,
            fig2_seeds: 5,
            ns2_seeds: 1,
        }
    }

    /// All jobs, seed by seed, so that the results of an interrupted evaluation are still paired.
    pub fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for seed in 1..=self.seeds.max(self.fig2_seeds) {
            let mut add = |condition, setting, schemes: &[Scheme]| {
                if seed <= self.seeds_of(condition, setting) {
                    jobs.extend(schemes.iter().map(|&scheme| Job { condition, setting, scheme, seed }));
                }
            };
            for condition in self.compared() {
                add(condition, Setting::CHOSEN, &[Scheme::GenevaReal]);
                for setting in [Setting::CHOSEN, Setting::TOGETHER].into_iter().chain(Setting::OF_NS2) {
                    add(condition, setting, &Scheme::IN_EVERY_PHASE);
                }
            }
            for condition in self.read_otherwise() {
                add(condition, Setting::CHOSEN, &[Scheme::GenevaInteger, Scheme::GenevaReal]);
            }
            // A single stream is never in phase with another.
            let alone = [Setting::CHOSEN].into_iter().chain(Setting::OF_NS2);
            for setting in alone.filter(|setting| setting.phases == Phases::Apart) {
                for rtt_ms in FIG2_RTTS {
                    add(Condition::OneStream { rtt_ms }, setting, &[Scheme::Tfrc, Scheme::Udp]);
                }
            }
        }
        jobs
    }

    /// The number of seeds of a condition under a setting.
    pub fn seeds_of(&self, condition: Condition, setting: Setting) -> u64 {
        let seeds = if let Condition::OneStream { .. } = condition { self.fig2_seeds } else { self.seeds };
        if setting.short_queue || setting.long_timeout { seeds.min(self.ns2_seeds) } else { seeds }
    }

    /// The conditions of Fig. 8 or 9, by number of TCP flows.
    pub fn long(&self, rtt_ms: u32) -> impl Iterator<Item = Condition> {
        let n_tcp = if rtt_ms == 10 { &self.n_tcp_10 } else { &self.n_tcp_100 };
        n_tcp.iter().map(move |&n_tcp| Condition::long(rtt_ms, n_tcp))
    }

    /// The conditions of Table 1.
    pub fn short() -> [Condition; 4] {
        let block = |rtt_ms, arrivals| Condition::ShortTcp { rtt_ms, arrivals };
        [
            block(10, Arrivals::Rare),
            block(10, Arrivals::Frequent),
            block(100, Arrivals::Rare),
            block(100, Arrivals::Frequent),
        ]
    }

    /// The conditions with the other readings: the larger numbers of TCP flows of Fig. 8.
    pub fn read_otherwise(&self) -> impl Iterator<Item = Condition> {
        let busy = self.n_tcp_10.iter().filter(|n_tcp| [200, 250].contains(*n_tcp));
        busy.flat_map(|&n_tcp| Reading::OTHERS.map(|reading| Condition::LongTcp { rtt_ms: 10, n_tcp, reading }))
    }

    /// All conditions of §4 under the chosen reading.
    pub fn compared(&self) -> impl Iterator<Item = Condition> {
        self.long(10).chain(self.long(100)).chain(Plan::short()).chain([Condition::MixedRates])
    }

    /// The description of a job.
    ///
    /// # Errors
    /// The plan's numbers are impossible; for example, a run ends within its warm-up.
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
        let mut settings = Vec::new();
        let mut set = |name: &str, value: &dyn ToString| settings.push((name.to_owned(), value.to_string()));
        let (scheme, state) = job.scheme.settings();
        set("scheme", &scheme);
        set("state", &state);
        // TCP is that of ns-2 if the paper says nothing: an initial window of two segments.
        set("initial_window", &2);
        let Reading { acks, srtt } = job.condition.reading();
        let Setting { phases, short_queue, plain_acks, long_timeout } = job.setting;
        set("delayed_ack", &(acks == Acks::Delayed && !plain_acks));
        if short_queue {
            set("queue_packets", &50);
        }
        if long_timeout {
            set("min_rto_s", &1);
        }
        let srtt = match srtt {
            RoundTrip::Mean => "mean",
            RoundTrip::Newest => "highest",
        };
        set("srtt", &srtt);
        match job.condition {
            Condition::OneStream { rtt_ms } => {
                set("rtt_ms", &rtt_ms);
                set("duration_s", &self.fig2_seconds);
                return settings;
            }
            Condition::LongTcp { rtt_ms, n_tcp, .. } => {
                set("rtt_ms", &rtt_ms);
                set("n_tcp", &n_tcp);
            }
            Condition::ShortTcp { rtt_ms, arrivals } => {
                set("rtt_ms", &rtt_ms);
                set("transfers_per_s", &arrivals.per_second());
            }
            Condition::MixedRates => {}
        }
        if phases == Phases::Together {
            set("access_spread_ms", &0);
            set("stream_spread_s", &0);
        }
        match self.length {
            Length::Whole(seconds) => set("duration_s", &seconds),
            Length::Short { tcp_start, settle, window } => {
                match job.condition {
                    Condition::ShortTcp { .. } => set("stream_start_s", &(tcp_start + 2.0)),
                    _ => set("tcp_start_s", &tcp_start),
                }
                let warmup = tcp_start + 4.0 + settle;
                set("warmup_s", &warmup);
                set("duration_s", &(warmup + window));
            }
        }
        settings
    }
}
