//! One run: a video, and later another connection beside it.

use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::scenario::Scenario;
use thalweg_lab::tcp::{Player, Video};
use thalweg_net::error::Error;
use thalweg_testbed::{Cable, Flow};

use super::Job;
use super::scene::Scene;

/// The interval at which a run is observed.
const SLICE: Span = Span::from_millis(100);
const A_SECOND: u64 = 10;

/// The video of the paper (§5.1), endless here; playing begins 10 s after its start, and resumes with 2 s of video.
const VIDEO: Video = Video {
    size: Bytes(2_000_000_000),
    rate: Rate::from_bps(3_600_000),
    playout_delay: Span::from_secs(10),
    rebuffer: Span::from_secs(2),
};

/// The record of a run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Record {
    /// The rates at which the client of the video read in each second, and those of the second connection, Mb/s.
    pub(super) mbps: [Vec<f64>; 2],
    /// The number of stalls.
    pub(super) stalls: u32,
}

impl Record {
    /// The mean rate of a connection from one second to another, Mb/s.
    pub(super) fn mean(&self, of: usize, seconds: Range<usize>) -> f64 {
        let values = &self.mbps[of][seconds];
        values.iter().sum::<f64>() / values.len() as f64
    }
}

/// The number of slices in a run.
pub(super) fn slices(scene: Scene) -> u64 {
    scene.seconds() * A_SECOND
}

/// The path: 100 Mb/s, a round trip of 30 ms, drop-tail.
fn path(queue: u32) -> String {
    format!(
        "seed = 1\n\
         forward.element = [{{ kind = \"drop_tail\", rate = \"100mbit\", queue = {queue} }}, \
         {{ kind = \"wire\", delay = \"15ms\" }}]\n\
         reverse.element = [{{ kind = \"wire\", delay = \"15ms\" }}]\n"
    )
}

/// Performs a run in real time; `controls` are the kernel's names of both carriers. `None` if it was stopped. The last
/// argument is called with the number of slices that are over.
pub(super) fn one(
    job: &Job,
    controls: [&str; 2],
    stopped: &dyn Fn() -> bool,
    mut on_slice: impl FnMut(u64),
) -> Result<Option<Record>, Error> {
    let text = path(job.spot.queue);
    let scenario = Scenario::parse("path", &text, Some(job.seed), &mut |_| Err("there is none".into()));
    let cable = Cable::lay(scenario.map_err(|why| Error::new("path", why))?)?;
    let scene = job.spot.scene;
    let mut both = [Watched::new(0, true), Watched::new(scene.second() * A_SECOND, scene.are_videos())];
    let start = Instant::now();
    for slice in 0..=slices(scene) {
        let due = start + Duration::from_nanos((SLICE * slice).as_nanos());
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if stopped() {
            return Ok(None);
        }
        for (watched, control) in both.iter_mut().zip(controls) {
            watched.look(slice, &cable, control)?;
        }
        on_slice(slice);
    }
    let record = Record { stalls: both.iter().map(Watched::stalls).sum(), mbps: both.map(|watched| watched.mbps) };
    cable.end()?;
    Ok(Some(record))
}

/// A connection and its observations.
struct Watched {
    /// The start, in slices.
    start: u64,
    flow: Option<Flow>,
    /// The player, if the connection carries a video.
    player: Option<Player>,
    /// Bytes that the client had read a second ago.
    before: Bytes,
    mbps: Vec<f64>,
    now: Time,
}

impl Watched {
    fn new(start: u64, is_video: bool) -> Watched {
        let player = is_video.then(|| Player::new(VIDEO, Bytes(1), Time::ZERO + SLICE * start));
        Watched { start, flow: None, player, before: Bytes(0), mbps: Vec::new(), now: Time::ZERO }
    }

    fn look(&mut self, slice: u64, cable: &Cable, control: &str) -> Result<(), Error> {
        self.now = Time::ZERO + SLICE * slice;
        let read = self.flow.as_ref().map_or(Bytes(0), Flow::read);
        if let Some(player) = self.player.as_mut().filter(|_| slice > self.start) {
            player.receive(self.now, read.0);
        }
        if slice > 0 && slice.is_multiple_of(A_SECOND) {
            self.mbps.push(Rate::of(Bytes(read.0 - self.before.0), Span::from_secs(1)).as_mbps_f64());
            self.before = read;
        }
        if slice == self.start {
            self.flow = Some(Flow::start(&cable.hosts, control)?);
        }
        Ok(())
    }

    fn stalls(&self) -> u32 {
        self.player.as_ref().map_or(0, |player| player.seen(self.now).stalls)
    }
}
