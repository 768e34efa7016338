//! Laws over logs of their events: one line of JSON in, one line out.

mod deadline;
mod equation;
mod events;
mod line;
mod playback;
mod r3cp;
mod reports;
mod senders;
mod series;
mod shares;
mod tcp_stream;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use serde::Serialize;
use thalweg_core::law::registry::{Description, Scope};
use thalweg_core::law::window::tcp_stream::Variant;
use thalweg_core::law::{ParameterError, predict, redundancy, window};
use thalweg_core::probe::Probe;

use self::deadline::LiveSenders;
use self::equation::{Equations, GcaPoint, GcaRate, TfrcPoint};
use self::events::Events;
use self::playback::Videos;
use self::r3cp::{DesiredRate, RequestedRate};
use self::reports::Reports;
use self::senders::Senders;
use self::series::Series;
use self::shares::{Link, Needs, Shares};
use self::tcp_stream::TcpStreamEvents;

/// A law that runs over a log.
#[derive(Clone, PartialEq, Debug)]
pub struct Law(Kind);

#[derive(Clone, PartialEq, Debug)]
enum Kind {
    Redundancy(redundancy::Choice),
    Predictor(predict::Choice),
    NewReno,
    TcpStream,
    TfrcEquation,
    GcaEquation,
    GcaInverse,
    GcaShare,
    GcaLink,
    Decodability,
    Deadline,
    R3cpRate,
    R3cpTable,
    Playback,
}

impl Law {
    /// The laws of no registry, with their names and lines of help.
    const OTHERS: [(Kind, &'static str, &'static str); 10] = [
        (Kind::TfrcEquation, "tfrc-equation", "The throughput equation of RFC 5348, in bytes per second"),
        (Kind::GcaEquation, "gca-equation", "GCA: the throughput equation, Eq. (2), in bytes per second"),
        (Kind::GcaInverse, "gca-inverse", "GCA: the loss event rate at which Eq. (2) has a given value"),
        (Kind::GcaShare, "gca-share", "Multipliers and parameters of GCA for streams that share by their needs"),
        (Kind::GcaLink, "gca-link", "Rates of flows of TFRC and GCA that share a link"),
        (Kind::Decodability, "decodability", "Decodability and cost of a lossless sender's packets"),
        (Kind::Deadline, "deadline", "The choice of a live sender whose media has a deadline, with its worth"),
        (Kind::R3cpRate, "r3cp-rate", "R3CP+: the rate that the receiver of a stored video desires, Eq. (14)"),
        (Kind::R3cpTable, "r3cp-table", "R3CP+: the rate that this receiver requests, Table 1"),
        (Kind::Playback, "playback", "The outcome of each frame of a video that is played at a fixed pace"),
    ];

    /// Every law, with its name and its line of help. Those of a registry are named and described there.
    pub fn all() -> Vec<(Law, &'static str, String)> {
        let about = |family: &str, law: &Description| format!("{family}: {}", law.about);
        let repair =
            redundancy::Choice::all().into_iter().filter(|law| law.scope != Scope::Sessions).filter_map(|law| {
                let choice = redundancy::Choice::named(law.name)?;
                Some((Kind::Redundancy(choice), law.name, about("Repair", &law)))
            });
        let predictors = predict::Choice::all().into_iter().filter_map(|law| {
            let choice = predict::Choice::named(law.name)?;
            Some((Kind::Predictor(choice), law.name, about("Prediction", &law)))
        });
        let windows = [
            (Kind::NewReno, window::Choice::NewReno(())),
            (Kind::TcpStream, window::Choice::TcpStream(Variant::default())),
        ];
        let windows = windows.map(|(law, choice)| (law, choice.description()));
        let windows = windows.map(|(law, entry)| (law, entry.name, about("Congestion window", &entry)));
        let others = Law::OTHERS.map(|(law, name, about)| (law, name, about.to_owned()));
        let all = repair.chain(predictors).chain(windows).chain(others);
        all.map(|(kind, name, about)| (Law(kind), name, about)).collect()
    }

    /// The law of this name.
    pub fn named(name: &str) -> Option<Law> {
        Law::all().into_iter().find(|(_, other, _)| *other == name).map(|(law, ..)| law)
    }

    /// The values that a line of output has, of those that the law shows; none for all but [`HIDDEN`].
    fn shown(&self) -> Option<&'static [&'static str]> {
        match self.0 {
            Kind::Redundancy(_) | Kind::Predictor(_) | Kind::TfrcEquation | Kind::GcaEquation | Kind::GcaInverse => {
                None
            }
            Kind::NewReno => Some(&["cwnd", "ssthresh"]),
            Kind::TcpStream => {
                Some(&["lwnd", "dwnd", "swnd", "send_window", "ssthresh", "delay_on", "diff", "cap", "tau"])
            }
            Kind::R3cpRate => Some(&["lambda"]),
            Kind::R3cpTable => Some(&["rho"]),
            // The answer is more than a row of numbers.
            Kind::GcaShare | Kind::GcaLink | Kind::Decodability | Kind::Deadline | Kind::Playback => Some(&[]),
        }
    }
}

/// The part of GENEVA's W that belongs to one block, which follows from `ertt`.
const HIDDEN: &str = "g";

/// The greatest length of a line of the log, in bytes: a line of a lossless sender lists the packets in flight.
const LONGEST_LINE: u64 = 1 << 20;

/// A law that runs over a log.
trait Replayed: Probe {
    /// Takes one line of the log into account.
    ///
    /// # Errors
    /// The error in the line.
    fn take(&mut self, line: &[u8]) -> Result<(), String>;

    /// Writes the state after the last line, with the values named by `shown`.
    fn write(&self, shown: Option<&[&str]>, output: &mut dyn Write) -> io::Result<()> {
        write_state(self, shown, output)
    }
}

/// The reason that a replay stopped before the end of its input.
#[derive(Debug)]
pub enum Stop {
    /// The input cannot be read.
    Input(io::Error),
    /// The output cannot be written.
    Output(io::Error),
    /// The line of this number has this error.
    Line(u64, String),
}

/// Refuses all settings, for a law that has no constants.
fn without_settings(settings: &[(String, String)]) -> Result<(), ParameterError> {
    match settings.first() {
        None => Ok(()),
        Some((name, _)) => Err(ParameterError::Unknown { name: name.clone(), known: &[] }),
    }
}

/// The law with its constants, before its first event.
fn build(law: &Law, settings: &[(String, String)]) -> Result<Box<dyn Replayed + Send + Sync>, ParameterError> {
    Ok(match &law.0 {
        Kind::Redundancy(choice) => Box::new(Reports::new(choice, settings)?),
        Kind::NewReno => Box::new(Events::newreno(settings)?),
        Kind::TcpStream => Box::new(TcpStreamEvents::new(settings)?),
        Kind::TfrcEquation => Box::new(Equations::<TfrcPoint>::new(settings)?),
        Kind::GcaEquation => Box::new(Equations::<GcaPoint>::new(settings)?),
        Kind::GcaInverse => Box::new(Equations::<GcaRate>::new(settings)?),
        Kind::GcaShare => Box::new(Shares::<Needs>::new(settings)?),
        Kind::GcaLink => Box::new(Shares::<Link>::new(settings)?),
        Kind::Decodability => Box::new(Senders::new(settings)?),
        Kind::Deadline => Box::new(LiveSenders::new(settings)?),
        Kind::Predictor(choice) => Box::new(Series::new(choice, settings)?),
        Kind::R3cpRate => Box::new(DesiredRate::new(settings)?),
        Kind::R3cpTable => Box::new(RequestedRate::new(settings)?),
        Kind::Playback => Box::new(Videos::new(settings)?),
    })
}

/// A law that runs over a log.
pub struct Replay {
    law: Box<dyn Replayed + Send + Sync>,
    shown: Option<&'static [&'static str]>,
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("shown", &self.shown).finish_non_exhaustive()
    }
}

impl Replay {
    /// The law with its constants in place of the paper's, before its first event.
    ///
    /// # Errors
    /// The law has no such constant, or it cannot have this value.
    pub fn new(law: &Law, settings: &[(String, String)]) -> Result<Replay, ParameterError> {
        Ok(Replay { law: build(law, settings)?, shown: law.shown() })
    }

    /// Takes one line of the log, and writes the state of the law as one line of JSON.
    ///
    /// # Errors
    /// The line has an error, and changed nothing.
    pub fn answer(&mut self, line: &[u8]) -> Result<Vec<u8>, String> {
        let mut answer = Vec::new();
        self.law.take(line)?;
        self.law.write(self.shown, &mut answer).map_err(|error| error.to_string())?;
        Ok(answer)
    }

    /// Answers each line of a log, until its end.
    ///
    /// # Errors
    /// The first line that has an error, or a failure of the input or the output.
    pub fn lines(&mut self, input: &mut BufReader<impl Read>, output: &mut impl Write) -> Result<(), Stop> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            if input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line).map_err(Stop::Input)? == 0 {
                break;
            }
            if line.len() as u64 > LONGEST_LINE {
                return Err(Stop::Line(number, format!("longer than {LONGEST_LINE} bytes")));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            self.law.take(&line).map_err(|why| Stop::Line(number, why))?;
            self.law.write(self.shown, output).map_err(Stop::Output)?;
            // Answer at once if the writer of the log may wait for it, in large pieces otherwise.
            if input.buffer().is_empty() {
                output.flush().map_err(Stop::Output)?;
            }
        }
        Ok(())
    }
}

/// Writes an answer that is more than a row of numbers as one line of JSON.
fn write_answer(answer: &impl Serialize, mut output: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut output, answer)?;
    output.write_all(b"\n")
}

/// Writes the values called `shown` as one JSON object: null where not known yet, "inf" where infinite.
fn write_state<L: Probe + ?Sized>(law: &L, shown: Option<&[&str]>, output: &mut dyn Write) -> io::Result<()> {
    let mut separator = '{';
    let mut result = Ok(());
    law.probe(&mut |name, value| {
        if result.is_ok() && shown.map_or(name != HIDDEN, |shown| shown.contains(&name)) {
            result = write!(output, "{separator}\"{name}\":{}", written(name, value));
            separator = ',';
        }
    });
    result?;
    output.write_all(b"}\n")
}

/// A value in JSON.
fn written(name: &str, value: f64) -> String {
    match value {
        v if v.is_nan() => "null".to_owned(),
        v if v.is_infinite() => "\"inf\"".to_owned(),
        v if name == "delay_on" => (v > 0.0).to_string(),
        // The shortest decimal that reads back as the same number.
        v => v.to_string(),
    }
}
