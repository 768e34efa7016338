//! One run: a sender, three receivers, and a download on an emulated path.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use thalweg_lab::scenario::Scenario;
use thalweg_net::error::Error;
use thalweg_testbed::{Cable, FAR, Flow, Hosts};

use super::{SETTLING, STREAMS, Way};
use crate::program::{Program, objects};

/// The path: 18 Mb/s, a round trip of 25 ms, and a queue of one bandwidth-delay product.
const PATH: &str = "seed = 1\n\
                    forward.element = [{ kind = \"drop_tail\", rate = \"18mbit\", queue = \"56250B\" }, \
                    { kind = \"wire\", delay = \"12500us\" }]\n\
                    reverse.element = [{ kind = \"wire\", delay = \"12500us\" }]\n";
/// The encoder of each stream: noise, of which x264 makes any rate.
const PIPELINE: &str = "videotestsrc is-live=true pattern=snow ! video/x-raw,width=480,height=270,framerate=30/1 !\n\
                        x264enc name=venc_kbps tune=zerolatency speed-preset=ultrafast vbv-buf-capacity=200 key-int-max=60 !\n\
                        h264parse ! mpegtsmux ! appsink name=appsink\n";
/// The interval at which a run is observed.
const SLICE: Duration = Duration::from_millis(100);
/// The time in which all receivers connect.
const OPENING: Duration = Duration::from_secs(20);
/// The port of the first receiver.
const PORT: u16 = 6001;

/// The record of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// The media that each stream delivered in each second, in Mb/s.
    pub(super) media: [Vec<(f64, f64)>; STREAMS.len()],
    /// The payload that the download got in each second, in Mb/s.
    pub(super) cubic: Vec<(f64, f64)>,
}

impl Record {
    /// The mean of a series once the streams have settled.
    fn mean(series: &[(f64, f64)]) -> f64 {
        let settled = series.iter().filter(|(second, _)| *second > SETTLING as f64);
        let (sum, count) = settled.fold((0.0, 0.0), |(sum, count), (_, mbps)| (sum + mbps, count + 1.0));
        sum / count
    }

    /// The satisfaction of each stream: its rate over its need.
    pub fn satisfactions(&self) -> [f64; STREAMS.len()] {
        std::array::from_fn(|nth| Record::mean(&self.media[nth]) / f64::from(STREAMS[nth].1))
    }

    /// The largest satisfaction less the smallest.
    pub fn spread(&self) -> f64 {
        let all = self.satisfactions();
        all.iter().copied().fold(f64::NEG_INFINITY, f64::max) - all.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The rate of the download, in Mb/s.
    pub fn download(&self) -> f64 {
        Record::mean(&self.cubic)
    }
}

/// Performs a run in real time for `seconds`; `watch` gets the seconds that have passed, and returns true to stop. None if it
/// was stopped.
///
/// # Errors
/// The kernel refuses a device or a control, or a program does not start.
pub(super) fn one(
    way: Way,
    program: &Path,
    folder: &Path,
    seconds: u64,
    watch: impl Fn(u64) -> bool,
) -> Result<Option<Record>, Error> {
    let scenario = Scenario::parse("path", PATH, None, &mut |_| Err("no files".to_owned()));
    let cable = Cable::lay(scenario.map_err(|why| Error::new("path", why))?)?;
    let stage = Stage::open(way, program, folder, &cable.hosts)?;
    let record = stage.watch(seconds, watch);
    stage.close();
    cable.end()?;
    record
}

/// The programs and the connection of a run.
struct Stage {
    sender: Program,
    /// Rows of the receivers, in the order of the streams.
    rows: Vec<Receiver<Value>>,
    /// Held until the end.
    receivers: Vec<Program>,
    flow: Flow,
}

impl Stage {
    fn open(way: Way, program: &Path, folder: &Path, hosts: &Hosts) -> Result<Stage, Error> {
        let (mut receivers, mut rows) = (Vec::new(), Vec::new());
        for nth in 0..STREAMS.len() {
            let mut command = Command::new(program);
            command.args(["recv", "--json", "--latency=200ms", "--output=udp://127.0.0.1:9"]);
            command.arg(format!("--listen={FAR}:{}", PORT + nth as u16)).stdout(Stdio::null());
            let mut receiver = hosts.far.within(|| Program::start(command.stderr(Stdio::piped())))?;
            rows.push(follow(receiver.0.stderr.take().ok_or_else(|| Error::new("thalweg recv", "no output"))?));
            receivers.push(receiver);
        }
        let (pipeline, config) = (folder.join("snow.pipeline"), folder.join("share.toml"));
        let encoder = format!("exec:'{}' encode '{}'", program.display(), pipeline.display());
        for (file, text) in [(&pipeline, PIPELINE.to_owned()), (&config, configuration(way, &encoder))] {
            std::fs::write(file, text).map_err(Error::io(file.display().to_string()))?;
        }
        let mut command = Command::new(program);
        command.arg("share").arg(&config).arg("--quiet").stdout(Stdio::null());
        let sender = hosts.near.within(|| Program::start(&mut command))?;
        let stage = Stage { sender, rows, receivers, flow: Flow::start(hosts, "cubic")? };
        stage.await_media()?;
        Ok(stage)
    }

    /// Waits until each stream delivers media.
    fn await_media(&self) -> Result<(), Error> {
        let until = Instant::now() + OPENING;
        for (rows, (name, _)) in self.rows.iter().zip(STREAMS) {
            while rows.recv_timeout(until.saturating_duration_since(Instant::now())).map_or(Some(false), delivers)
                != Some(true)
            {
                if Instant::now() >= until {
                    return Err(Error::new(name, "no media arrives; does this build have the feature gstreamer?"));
                }
            }
        }
        Ok(())
    }

    fn watch(&self, seconds: u64, watch: impl Fn(u64) -> bool) -> Result<Option<Record>, Error> {
        let mut record = Record { media: Default::default(), cubic: Vec::new() };
        let (start, mut read) = (Instant::now(), self.flow.read().0);
        while start.elapsed() < Duration::from_secs(seconds) {
            if watch(start.elapsed().as_secs()) {
                return Ok(None);
            }
            thread::sleep(SLICE);
            let at = start.elapsed().as_secs_f64();
            for (rows, media) in self.rows.iter().zip(&mut record.media) {
                let rates = rows.try_iter().filter_map(|row| row["media_rate_bps"].as_f64());
                media.extend(rates.map(|bps| (at, bps * 1e-6)));
            }
            if at >= (record.cubic.len() + 1) as f64 {
                let before = std::mem::replace(&mut read, self.flow.read().0);
                record.cubic.push((at, (read - before) as f64 * 8e-6));
            }
        }
        Ok(Some(record))
    }

    fn close(self) {
        drop(self.flow);
        self.sender.end();
        drop(self.receivers);
    }
}

/// The rows that a program prints, as they come.
fn follow(lines: impl Read + Send + 'static) -> Receiver<Value> {
    let (sender, rows) = channel();
    thread::spawn(move || objects(lines).try_for_each(|row| sender.send(row)));
    rows
}

/// True if a row says that media was delivered in its second; none of a row that is an event.
fn delivers(row: Value) -> Option<bool> {
    row["media_rate_bps"].as_f64().map(|bps| bps > 0.0)
}

/// The configuration of `share`.
fn configuration(way: Way, encoder: &str) -> String {
    let mut text = "latency = \"200ms\"\nrepair = \"none\"\n".to_owned();
    for (nth, (name, need)) in STREAMS.into_iter().enumerate() {
        let group = if way == Way::Tfrc { name } else { "all" };
        text += &format!(
            "[[stream]]\nname = \"{name}\"\ninput = {encoder:?}\nto = \"{FAR}:{}\"\nneed = \"{need}mbit\"\ngroup = \"{group}\"\n",
            PORT + nth as u16
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn satisfaction_is_that_of_settled_streams() {
        let series = |mbps: f64| vec![(1.0, 100.0), (21.0, mbps - 1.0), (22.0, mbps + 1.0)];
        let record = Record { media: [4.5, 3.0, 0.75].map(series), cubic: series(2.0) };
        assert_eq!(record.satisfactions(), [0.5, 0.5, 0.25]);
        assert_eq!((record.spread(), record.download()), (0.25, 2.0));
    }

    #[test]
    fn streams_of_tfrc_are_in_groups_of_their_own() {
        let groups = |way| configuration(way, "exec:a").matches("group = \"all\"").count();
        assert_eq!((groups(Way::Tfrc), groups(Way::Shared)), (0, 3));
    }
}
