//! The needs of the media, and the settings that are tried for it.

use std::thread;
use std::time::Instant;

use rustix::process::setpriority_process;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_net::signal::Stop;
use thalweg_workbench::advise::{Candidate, Choice, Media, Outcome, Setting, choose};
use thalweg_workbench::pool::{self, Pool};

use super::failed;
use crate::failure::Failure;
use crate::progress::Shown;
use crate::stream::time;

/// The bytes of a datagram of the media: seven packets of MPEG-TS.
const PAYLOAD: Bytes = Bytes(7 * 188);

/// The niceness of trials: streams and encoders on this machine come first.
const NICENESS: i32 = 10;

/// The most that is sent, as a multiple of the media in halves.
const HALVES: u64 = 3;

#[derive(clap::Args)]
pub(super) struct Wanted {
    /// Rate of the media, as in 8mbit
    #[arg(long, value_name = "RATE")]
    pub(super) media: Rate,
    /// Longest latency from input to output, 5ms to 10s. Default: the one that --latency auto of `send` finds
    #[arg(long, value_name = "TIME", value_parser = time)]
    latency: Option<Span>,
    /// Share of packets that may be lost after repair
    #[arg(long, value_name = "SHARE", default_value_t = 1e-4, value_parser = share)]
    pub(super) loss: f64,
    /// Limit of everything that is sent; if given, the command of `send` has it. Default, and at most: 1.5 times the media
    #[arg(long, value_name = "RATE")]
    max_rate: Option<Rate>,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be between 0 and 1, as in 1e-4".to_owned())
}

/// Parses the time of a measurement.
pub(super) fn duration(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error| format!("{error}"))?;
    let allowed = (Span::from_secs(5)..=Span::from_secs(600)).contains(&span);
    allowed.then_some(span).ok_or_else(|| "must be between 5s and 10min".to_owned())
}

/// All settings that were tried, and the one that is recommended.
pub(super) struct Tried {
    pub(super) candidates: Vec<(Candidate, Outcome)>,
    pub(super) choice: Choice,
    /// The elapsed time of all trials, in seconds.
    pub(super) seconds: f64,
}

impl Tried {
    /// The recommended setting.
    pub(super) fn chosen(&self) -> &(Candidate, Outcome) {
        &self.candidates[self.choice.nth]
    }
}

impl Wanted {
    /// The media, within the limit of the rate.
    pub(super) fn media(&self) -> Result<Media, Failure> {
        if self.media.as_bps() == 0 {
            return Err(Failure::Usage("advise: --media: must be above zero".to_owned()));
        }
        let most = Rate::from_bps(self.media.as_bps().saturating_mul(HALVES) / 2);
        let most = self.max_rate.map_or(most, |limit| limit.min(most));
        let media = Media { rate: self.media, payload: PAYLOAD, most };
        let needs = media.on_the_wire();
        if needs > most {
            let why = format!("--media {} needs {needs} with its headers, more than --max-rate {most}", self.media);
            return Err(failed(why));
        }
        Ok(media)
    }

    /// Tries all candidates in the lab, on all processors.
    pub(super) fn try_all(&self, setting: &Setting, stop: &Stop) -> Result<Tried, Failure> {
        let candidates = Candidate::all(setting.round_trip(), self.latency);
        let start = Instant::now();
        let trials = || {
            // For this thread and those that it starts; a refusal costs nothing.
            let _ = setpriority_process(None, NICENESS);
            let shown = Shown::default();
            let progress = |progress| shown.show(progress);
            let pool = Pool { threads: pool::processors(), stopped: &|| stop.asked(), progress: &progress };
            let length = Setting::LENGTH * candidates.len() as u64;
            let outcomes = pool::run(&candidates, length, pool, |_, candidate| Ok(setting.trial(candidate)));
            shown.end();
            outcomes
        };
        let Ok(outcomes) = thread::scope(|scope| scope.spawn(trials).join().expect("no trial panics"));
        if outcomes.len() < candidates.len() {
            return Err(failed("stopped before all settings were tried"));
        }
        let outcomes = outcomes.into_iter().map(|(_, outcome)| outcome);
        let candidates: Vec<(Candidate, Outcome)> = candidates.into_iter().zip(outcomes).collect();
        let choice = choose(&candidates, self.loss);
        Ok(Tried { candidates, choice, seconds: start.elapsed().as_secs_f64() })
    }

    /// The commands of a setting: `recv`, which listens at `listen`, and `send` to it; `key` is the option of a key.
    pub(super) fn commands(&self, [listen, to]: [&str; 2], key: &str, candidate: &Candidate) -> [String; 2] {
        let limit = self.max_rate.map_or_else(String::new, |limit| format!(" --max-rate {limit}"));
        let (recv, send) = (candidate.recv_options(), candidate.send_options());
        [
            format!("thalweg recv --listen {listen} {key} {recv} --output file:out.ts"),
            format!("thalweg send --to {to} {key} {send}{limit} --input udp://127.0.0.1:5000"),
        ]
    }
}
