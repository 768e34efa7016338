//! One run: a server, viewers, and competing traffic on an emulated path.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::scenario::Scenario;
use thalweg_net::error::{Error, plain};
use thalweg_testbed::{Cable, FAR, Flow, Hosts, NEAR};

use super::record::{Record, Watched};
use super::scene::{Cbr, Scene};
use super::tcp::Reader;
use super::videos::{Videos, psnr};
use super::viewer::Viewer;
use super::{Inputs, Job};
use crate::program::{Program, objects};

/// The interval at which a run is observed.
const SLICE: Duration = Duration::from_millis(100);
/// The port of RTSP in the server's namespace.
const PORT: u16 = 8554;
/// The arrow keys of a terminal.
const AHEAD: &[u8] = b"\x1b[C";
const BACK: &[u8] = b"\x1b[D";
/// The time in which the server opens its port.
const OPENING: Duration = Duration::from_secs(10);

/// Performs a run in real time; none if it was stopped.
///
/// # Errors
/// The kernel refuses a device or a control, or a program does not start.
pub(super) fn one(job: Job, inputs: &Inputs, videos: &Videos, stop: &AtomicBool) -> Result<Option<Record>, Error> {
    let read = |name: &str| std::fs::read_to_string(name).map_err(|error| plain(&error));
    let text = job.scene.path(&inputs.recordings);
    let scenario = Scenario::parse("path", &text, Some(job.seed), &mut |name| read(name));
    let cable = Cable::lay(scenario.map_err(|why| Error::new("path", why))?)?;
    let mut stage = Stage::open(job, inputs, videos, &cable.hosts)?;
    let start = Instant::now();
    let end = Duration::from_secs(job.seconds);
    while start.elapsed() < end {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        stage.look(start.elapsed())?;
        thread::sleep(SLICE);
    }
    let record = stage.close(end);
    cable.end()?;
    record.map(Some)
}

/// The programs and connections of a run.
struct Stage<'a> {
    job: Job,
    inputs: &'a Inputs,
    videos: &'a Videos,
    hosts: &'a Hosts,
    /// The server, until this is dropped.
    _server: Program,
    flows: Vec<Flow>,
    cbr: Option<Source>,
    players: Vec<Player>,
    readers: Vec<Reader>,
    /// The keys that were pressed.
    keys: usize,
}

impl<'a> Stage<'a> {
    fn open(job: Job, inputs: &'a Inputs, videos: &'a Videos, hosts: &'a Hosts) -> Result<Stage<'a>, Error> {
        let server = hosts.near.within(|| {
            let at = format!("--rtsp={NEAR}:{PORT}");
            let mut command = Command::new(&inputs.program);
            command.arg("serve").arg(&videos.folder).args([&at, "--quiet"]);
            Program::start(command.stdout(Stdio::null()).stderr(Stdio::null()))
        })?;
        await_server(hosts)?;
        let flows = (0..job.scene.flows()).map(|_| Flow::start(hosts, "cubic")).collect::<Result<_, _>>()?;
        let cbr = job.scene.cbr().map(|cbr| Source::start(hosts, cbr)).transpose()?;
        let (players, readers) = (Vec::new(), Vec::new());
        Ok(Stage { job, inputs, videos, hosts, _server: server, flows, cbr, players, readers, keys: 0 })
    }

    fn look(&mut self, elapsed: Duration) -> Result<(), Error> {
        let begun = self.players.len() + self.readers.len();
        if let Some(&start) = self.job.scene.starts().get(begun)
            && elapsed.as_secs_f64() >= start
        {
            match self.job.viewer.options() {
                Some(options) => self.players.push(self.player(&options)?),
                None => self.readers.push(Reader::start(self.hosts, self.job.viewer.tcp(), self.job.scene.clip())?),
            }
        }
        if let Some(&at) = self.job.scene.seeks().get(self.keys)
            && elapsed.as_secs_f64() >= at
        {
            let key = if self.keys.is_multiple_of(2) { AHEAD } else { BACK };
            self.players.iter_mut().try_for_each(|player| player.press(key))?;
            self.keys += 1;
        }
        self.readers.iter_mut().for_each(|reader| reader.look(elapsed));
        Ok(())
    }

    fn player(&self, options: &[String; 2]) -> Result<Player, Error> {
        let url = format!("rtsp://{NEAR}:{PORT}/{}", self.job.scene.clip().name());
        if !self.job.scene.seeks().is_empty() {
            // Keys are read from a terminal alone, which util-linux's `script` has.
            let program = self.inputs.program.display();
            let line = format!("'{program}' play {url} --json {} 2>&1 > /dev/null", options.join(" "));
            let mut command = Command::new("script");
            command.args(["-qfec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
            return self.hosts.far.within(|| Player::start(command.stderr(Stdio::null())));
        }
        let mut command = Command::new(&self.inputs.program);
        command.args(["play", &url, "--json"]).args(options).stdin(Stdio::null()).stdout(Stdio::null());
        if self.is_compared() {
            command.arg("--output").arg(format!("file:{}", self.output().display()));
        }
        self.hosts.far.within(|| Player::start(command.stderr(Stdio::piped())))
    }

    /// True if the pictures are compared with those of the video.
    fn is_compared(&self) -> bool {
        self.job.scene == Scene::Beside && self.job.viewer != Viewer::Cubic
    }

    fn output(&self) -> std::path::PathBuf {
        self.videos.folder.join(format!("{:?}.out.ts", self.job.viewer).replace(['(', ')'], ""))
    }

    /// Ends the run, and returns its record.
    fn close(mut self, length: Duration) -> Result<Record, Error> {
        let read: u64 = self.flows.iter().map(|flow| flow.read().0).sum();
        let span = Span::from_millis(length.as_millis() as u64);
        let flows_kbps = (!self.flows.is_empty()).then(|| Rate::of(Bytes(read), span).as_bps() as f64 / 1e3);
        let (is_compared, output, clip) = (self.is_compared(), self.output(), self.job.scene.clip());
        drop(self.cbr.take());
        self.flows.clear();
        let players = std::mem::take(&mut self.players).into_iter().map(Player::end);
        let readers = std::mem::take(&mut self.readers).into_iter().map(|reader| reader.watched);
        let viewers = players.chain(readers).collect();
        let psnr = if is_compared { psnr(&output, &self.videos.path(clip)) } else { None };
        Ok(Record { viewers, flows_kbps, psnr })
    }
}

/// Waits until the server accepts connections.
fn await_server(hosts: &Hosts) -> Result<(), Error> {
    let until = Instant::now() + OPENING;
    hosts.near.within(|| {
        while std::net::TcpStream::connect((NEAR, PORT)).is_err() {
            if Instant::now() > until {
                return Err(Error::new("thalweg serve", "it does not open its port"));
            }
            thread::sleep(SLICE);
        }
        Ok(())
    })
}

/// A running `thalweg play`, and a thread that reads its lines.
struct Player {
    program: Program,
    keys: Option<ChildStdin>,
    reader: JoinHandle<Watched>,
}

impl Player {
    fn start(command: &mut Command) -> Result<Player, Error> {
        let mut program = Program::start(command)?;
        let Child { stdin, stdout, stderr, .. } = &mut program.0;
        let keys = stdin.take();
        let reader = match (stdout.take(), stderr.take()) {
            (Some(lines), _) => thread::spawn(move || read(lines)),
            (None, Some(lines)) => thread::spawn(move || read(lines)),
            (None, None) => return Err(Error::new("thalweg play", "no output")),
        };
        Ok(Player { program, keys, reader })
    }

    fn press(&mut self, key: &[u8]) -> Result<(), Error> {
        self.keys.as_mut().map_or(Ok(()), |keys| keys.write_all(key)).map_err(Error::io("keys of thalweg play"))
    }

    fn end(self) -> Watched {
        drop(self.program);
        self.reader.join().unwrap_or_default()
    }
}

fn read(lines: impl Read) -> Watched {
    let mut watched = Watched::default();
    objects(lines).for_each(|line| watched.take(&line));
    watched
}

/// A source without feedback, until this is dropped.
struct Source {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Source {
    fn start(hosts: &Hosts, cbr: Cbr) -> Result<Source, Error> {
        let socket = hosts.near.within(|| UdpSocket::bind((NEAR, 0)).map_err(Error::io("a source")))?;
        socket.connect((FAR, 9)).map_err(Error::io("a source"))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let thread = thread::spawn(move || {
            let start = Instant::now();
            for nth in 0u32.. {
                let due = cbr.every * nth;
                thread::sleep(due.saturating_sub(start.elapsed()));
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let at = due.as_secs_f64();
                if cbr.on.iter().any(|(from, to)| (*from..*to).contains(&at)) {
                    // The far host refuses the port, which is no concern of the source. 28 bytes are headers.
                    let _ = socket.send(&[0; 972]);
                }
            }
        });
        Ok(Source { is_over, thread: Some(thread) })
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
