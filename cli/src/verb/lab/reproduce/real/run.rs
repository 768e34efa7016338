//! One run: a film alone, beside a background, and alone again.

use std::thread;
use std::time::{Duration, Instant};

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::scenario::Scenario;
use thalweg_lab::tcp::{Player, Video};
use thalweg_net::error::Error;
use thalweg_net::signal::Stop;
use thalweg_net::testbed::{Cable, Flow};

use super::Job;

/// How long it is, s.
const SECONDS: u64 = 90;
/// When the background is there, s.
const BACKGROUND: std::ops::Range<u64> = 30..60;
/// What is under way is looked at this often.
const SLICE: Duration = Duration::from_millis(100);
const A_SECOND: u64 = 10;
/// How many looks a run has.
pub(super) const SLICES: u64 = SECONDS * A_SECOND;

/// The film of the paper (§5.1), which never ends here; playing begins 10 s after it, and goes on with 2 s of film.
const FILM: Video = Video {
    size: Bytes(2_000_000_000),
    rate: Rate::from_bps(3_600_000),
    playout_delay: Span::from_secs(10),
    rebuffer: Span::from_secs(2),
};

/// What came of a run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Record {
    /// What the film's client read in each second, Mb/s.
    pub(super) film: Vec<f64>,
    /// The same of the background's.
    pub(super) background: Vec<f64>,
    /// How often the film stood still.
    pub(super) stalls: u32,
}

/// 100 Mb/s, 30 ms, drop-tail.
fn path(queue: u32) -> String {
    format!(
        "seed = 1\n\
         forward.element = [{{ kind = \"drop_tail\", rate = \"100mbit\", queue = {queue} }}, \
         {{ kind = \"wire\", delay = \"15ms\" }}]\n\
         reverse.element = [{{ kind = \"wire\", delay = \"15ms\" }}]\n"
    )
}

/// Runs it, in real time; none if it was stopped. `told` hears how many slices are over.
pub(super) fn one(job: &Job, control: &str, stop: &Stop, mut told: impl FnMut(u64)) -> Result<Option<Record>, Error> {
    let text = path(job.queue);
    let scenario = Scenario::parse("path", &text, Some(job.seed), &mut |_| Err("there is none".into()));
    let cable = Cable::lay(scenario.map_err(|why| Error::new("path", why))?)?;
    let film = Flow::start(&cable, control)?;
    let mut background: Option<Flow> = None;
    let mut player = Player::new(FILM, Bytes(1), Time::ZERO);
    let mut seen = Record { film: Vec::new(), background: Vec::new(), stalls: 0 };
    let (start, mut before) = (Instant::now(), [Bytes(0); 2]);
    for slice in 1..=SLICES {
        thread::sleep((start + SLICE * slice as u32).saturating_duration_since(Instant::now()));
        if stop.asked() {
            return Ok(None);
        }
        player.receive(Time::ZERO + Span::from_millis(100 * slice), film.read().0);
        told(slice);
        if !slice.is_multiple_of(A_SECOND) {
            continue;
        }
        let now = [film.read(), background.as_ref().map_or(Bytes(0), Flow::read)];
        let [film_mbps, background_mbps] =
            [0, 1].map(|of: usize| Rate::of(Bytes(now[of].0 - before[of].0), Span::from_secs(1)).as_mbps_f64());
        seen.film.push(film_mbps);
        seen.background.push(background_mbps);
        before = now;
        if slice == BACKGROUND.start * A_SECOND {
            background = Some(Flow::start(&cable, "cubic")?);
        } else if slice == BACKGROUND.end * A_SECOND {
            background = None;
            before[1] = Bytes(0);
        }
    }
    seen.stalls = player.seen(Time::ZERO + Span::from_secs(SECONDS)).stalls;
    drop(film);
    cable.end()?;
    Ok(Some(seen))
}

impl Record {
    /// The mean rate of the film from one second to another, Mb/s.
    pub(super) fn film_mbps(&self, seconds: std::ops::Range<usize>) -> f64 {
        mean(&self.film[seconds])
    }

    /// The same of the background.
    pub(super) fn background_mbps(&self, seconds: std::ops::Range<usize>) -> f64 {
        mean(&self.background[seconds])
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
