//! Many concurrent players of one video.
//!
//! A player takes ten seconds of the video at once and then reads at 5/4 of its rate, if the server is fast enough. It
//! begins to play once two seconds are buffered. If the buffer runs out, it stalls until two seconds are buffered
//! again.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::http::plain;
use crate::program::allow_files;
use crate::report::{Bound, Target, Unit, grid};
use crate::site::{Site, Tool, VIDEO};
use crate::statistics::median;

/// The number of concurrent players.
pub const COUNT: usize = 500;
/// The video's rate in bits per second.
pub const RATE: f64 = 3.6e6;
/// The seconds of video that are taken at once, and the ratio of the read rate to the play rate after that.
const AHEAD: f64 = 10.0;
const FASTER: f64 = 1.25;
/// The buffered seconds at which playing begins.
const START: f64 = 2.0;
/// The interval between a player's reads.
const LOOK: Duration = Duration::from_millis(20);
/// The time before the measured interval, in which only stalls count.
const WARM_UP: Duration = Duration::from_secs(10);

/// The results of a run.
#[derive(Clone, Copy, Debug)]
pub struct Played {
    /// The rate of the slowest player, in bits per second.
    pub slowest: f64,
    /// The median rate, in bits per second.
    pub median: f64,
    /// The number of stalls of all players, from the first request on.
    pub stalls: usize,
    /// The number of processors that the server used.
    pub cpu: f64,
}

impl Played {
    /// The targets under this law, with the measured values.
    pub fn targets(&self, law: &str) -> [(Target, f64); 3] {
        let target = |what: &str, bound, unit| Target { what: format!("{COUNT} players, {law}: {what}"), bound, unit };
        [
            (target("the slowest", Bound::AtLeast(RATE), Unit::Kilobits), self.slowest),
            (target("stalls", Bound::AtMost(0.0), Unit::Count), self.stalls as f64),
            (target("processors", Bound::AtMost(1.0), Unit::Ratio), self.cpu),
        ]
    }
}

/// The table of the results of several servers.
pub fn table(played: &[(&str, Played)]) -> String {
    let row = |(name, played): &(&str, Played)| {
        let [slowest, median] = [played.slowest, played.median].map(|rate| Unit::Kilobits.write(rate));
        [(*name).to_owned(), slowest, median, played.stalls.to_string(), format!("{:.3}", played.cpu)]
    };
    let rows: Vec<[String; 5]> = played.iter().map(row).collect();
    grid([&format!("{COUNT} players"), "the slowest", "median", "stalls", "processors"], &rows)
}

/// Runs the players against `tool` serving `folder`, and measures for this long after the warm-up.
pub fn play<'a>(
    (name, tool): &(&'a str, Tool),
    folder: &Path,
    measured: Duration,
) -> Result<(&'a str, Played), String> {
    // Each end of a connection takes a file descriptor.
    allow_files(2 * COUNT as u64)?;
    let mut site = tool.start(folder, None)?;
    let played = watch(&mut site, measured).map_err(|error| format!("{name}: {error}"))?;
    let [slowest, median] = [played.slowest, played.median].map(|rate| Unit::Kilobits.write(rate));
    let Played { stalls, cpu, .. } = played;
    eprintln!("players: {name}: {slowest} and more, {median} typically, {stalls} stalls, {cpu:.3} processors");
    Ok((name, played))
}

fn watch(site: &mut Site, measured: Duration) -> Result<Played, String> {
    let failed = |error: &dyn std::fmt::Display| format!("a player: {error}");
    let players: Result<Vec<Player>, _> = (0..COUNT).map(|_| Player::start(site)).collect();
    let mut players = players.map_err(|error| failed(&error))?;
    let mut room = vec![0; 1 << 20];
    let mut until = |end: Instant, players: &mut [Player]| -> Result<(), String> {
        while Instant::now() < end {
            let next = Instant::now() + LOOK;
            players.iter_mut().try_for_each(|player| player.look(&mut room)).map_err(|error| failed(&error))?;
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        Ok(())
    };
    let read = |players: &[Player]| players.iter().map(|player| player.read).collect::<Vec<f64>>();
    until(Instant::now() + WARM_UP, &mut players)?;
    let (start, before, cpu) = (Instant::now(), read(&players), site.program.cpu());
    until(start + measured, &mut players)?;
    let (elapsed, after, cpu) = (start.elapsed().as_secs_f64(), read(&players), site.program.cpu() - cpu);
    site.program.check()?;
    let rates: Vec<f64> = after.iter().zip(before).map(|(after, before)| (after - before) * 8.0 / elapsed).collect();
    Ok(Played {
        slowest: rates.iter().copied().fold(f64::INFINITY, f64::min),
        median: median(rates),
        stalls: players.iter().map(|player| player.stalls).sum(),
        cpu: cpu.as_secs_f64() / elapsed,
    })
}

/// One player.
struct Player {
    stream: TcpStream,
    asked: Instant,
    /// The number of bytes read.
    read: f64,
    /// The start of the current playing, and the number of bytes played before it.
    playing: Option<Instant>,
    played: f64,
    stalls: usize,
}

impl Player {
    fn start(site: &Site) -> std::io::Result<Player> {
        let mut client = plain(site.address)?;
        let asked = Instant::now();
        let (_, read) = client.ask(VIDEO)?;
        let stream = client.into_stream();
        stream.set_nonblocking(true)?;
        Ok(Player { stream, asked, read: read as f64, playing: None, played: 0.0, stalls: 0 })
    }

    /// Reads the available bytes up to the allowed rate, and updates the state of playing.
    fn look(&mut self, room: &mut [u8]) -> std::io::Result<()> {
        let bytes = |seconds: f64| seconds * RATE / 8.0;
        let may = bytes(AHEAD + FASTER * self.asked.elapsed().as_secs_f64());
        while self.read + 1.0 <= may {
            let most = room.len().min((may - self.read) as usize);
            match self.stream.read(&mut room[..most]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(len) => self.read += len as f64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        match self.playing {
            None if self.read >= self.played + bytes(START) => self.playing = Some(Instant::now()),
            Some(since) if self.played + bytes(since.elapsed().as_secs_f64()) > self.read => {
                self.stalls += 1;
                (self.playing, self.played) = (None, self.read);
            }
            _ => {}
        }
        Ok(())
    }
}
