//! `thalweg replay`: one law over a log of feedback, line by line.

mod equation;
mod events;
mod films;
mod line;
mod senders;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use clap::ValueEnum;
use serde::Deserialize;
use thalweg_core::law::ParameterError;
use thalweg_core::law::redundancy::dp_fec::{self, DpFec};
use thalweg_core::law::redundancy::fixed::Fixed;
use thalweg_core::law::redundancy::geneva::{self, Geneva};
use thalweg_core::law::redundancy::{LossReport, Redundancy};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::units::Seconds;

use crate::Failure;
use equation::Equations;
use events::Events;
use films::Films;
use line::{parsed, sample};
use senders::Senders;

/// Run one law over a log of feedback.
///
/// Reads one JSON object a line on standard input and writes the law's state after it, one JSON object a line, on
/// standard output. Any key that is not named here is an error, and so is one that is missing.
///
/// geneva, static and dp-fec read {"lost":1,"delivered":32,"srtt":0.02}: packets lost and delivered since the last line
/// and a round-trip sample in seconds, or null; "t", the time of the report in seconds, is for dp-fec, which wants it.
///
/// newreno reads what a TCP sender meets: {"event":"ack","rtt":0.1,"round_end":false} for each segment acknowledged,
/// {"event":"dup3"} when a loss is found, {"event":"recovered"} when it is repaired, and {"event":"timeout"}. In between
/// nothing grows. "flight" may tell the segments in flight at a dup3 or timeout; without it they fill the window.
/// "again":true says that the segment has timed out before. It writes cwnd and ssthresh in segments. Constants: iw=2
/// segments, ssthresh=inf.
///
/// tcp-stream reads the same, but no "flight": what a loss leaves is half of its own loss window. It writes lwnd, dwnd, their
/// sum swnd and the whole segments of it as send_window, ssthresh, diff (how many wait in the queue) and cap (the ceiling of lwnd) in segments, delay_on, and tau, the
/// least round trip, in seconds. Constants: rate=3.6mbit of the film, mss=1500 bytes, iw=2, ssthresh=inf, thresholds=paper
/// (or vegas), on_loss=reset (or halve).
///
/// tfrc-equation reads {"s":1024,"rtt":0.05,"p":0.01}: packet size in bytes, round trip in seconds, loss event rate; it
/// writes the rate in bytes per second. It has no constants.
///
/// decodability reads states of a lossless sender, as in the last example: loss rate, first undecoded, first unsent and
/// last queued original, and coded packets as [first, last]. It writes, for what is in flight and for each packet that
/// could be sent, the probability that each original will be decodable, the originals still needed, and the cost.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: what would GENEVA have done with one loss among 33 packets at 20 ms? What would TCP Stream
have done with a film of 8 Mb/s? What is worth sending next?
  echo '{\"lost\":1,\"delivered\":32,\"srtt\":0.02}' \\
    | thalweg replay geneva --set state=real --set k=25
  echo '{\"event\":\"ack\",\"rtt\":0.1,\"round_end\":true}' \\
    | thalweg replay tcp-stream --set rate=8mbit
  echo '{\"eps\":0.1,\"b\":1,\"d\":5,\"e\":6,\"received\":[[2,2]],' \\
    '\"in_flight\":[[1,1],[1,4]],\"overhead\":{\"useless\":0,\"received\":0,' \\
    '\"in_flight\":4,\"sum_p_useless\":0.0}}' | thalweg replay decodability"
)]
pub(crate) struct Args {
    /// The law to run.
    law: Law,
    /// Change one of the law's constants; an unknown NAME lists the known ones.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Law {
    /// Multiplicative increase, additive decrease of the repair window
    Geneva,
    /// The same number of repair packets for every block
    Static,
    /// A stand-in for DP-FEC, whose paper is only outlined: its results say nothing about DP-FEC itself
    DpFec,
    /// The congestion window of RFC 5681, in segments
    #[value(name = "newreno")]
    NewReno,
    /// A film over TCP: a loss window up to the playback rate, and a delay window for what is spare
    TcpStream,
    /// The throughput equation of RFC 5348, in bytes per second
    TfrcEquation,
    /// What a lossless sender's packets make decodable, and what they cost
    Decodability,
}

/// Bytes of a line of the log: one of a lossless sender lists what is in flight.
const LONGEST_LINE: u64 = 1 << 20;

/// A law at work on a log.
trait Replayed: Probe {
    /// Takes one line of the log into account.
    ///
    /// # Errors
    /// What is wrong with the line.
    fn take(&mut self, line: &[u8]) -> Result<(), String>;

    /// Writes the state after it, of which the values called `shown` are wanted.
    fn write(&self, shown: &[&str], output: &mut dyn Write) -> io::Result<()> {
        write_state(self, shown, output)
    }
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let mut law = build(args.law, &args.settings).map_err(|error| Failure::Usage(format!("replay: {error}")))?;
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let replayed = replay(&mut *law, shown(args.law), &mut input, &mut output);
    // What came before a bad line still belongs to the reader.
    let written = output.flush();
    match replayed.and_then(|()| written.map_err(Stop::Output)) {
        Ok(()) => Ok(()),
        // Whoever reads has enough: `thalweg replay ... | head`.
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(Stop::Output(error)) => Err(Failure::Failed(format!("replay: cannot write standard output: {error}"))),
        Err(Stop::Input(error)) => Err(Failure::Failed(format!("replay: cannot read standard input: {error}"))),
        Err(Stop::Line(number, why)) => Err(Failure::Failed(format!("replay: standard input, line {number}: {why}"))),
    }
}

/// Why a replay stopped before the end of its input.
enum Stop {
    Input(io::Error),
    Output(io::Error),
    Line(u64, String),
}

/// Reads the NAME=VALUE of a `--set`.
pub(crate) fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn build(law: Law, settings: &[(String, String)]) -> Result<Box<dyn Replayed>, ParameterError> {
    let law_of_repair: Box<dyn Redundancy> = match law {
        Law::Geneva => {
            let mut parameters = geneva::Parameters::default();
            settings.iter().try_for_each(|(name, value)| parameters.set(name, value))?;
            Box::new(Geneva::new(parameters)?)
        }
        Law::Static => {
            let mut law = Fixed::default();
            settings.iter().try_for_each(|(name, value)| law.set(name, value))?;
            Box::new(law)
        }
        Law::DpFec => {
            let mut parameters = dp_fec::Parameters::default();
            settings.iter().try_for_each(|(name, value)| parameters.set(name, value))?;
            Box::new(DpFec::new(parameters)?)
        }
        Law::NewReno => return Ok(Box::new(Events::newreno(settings)?)),
        Law::TcpStream => return Ok(Box::new(Films::new(settings)?)),
        Law::TfrcEquation => return Ok(Box::new(Equations::tfrc(settings)?)),
        Law::Decodability => return Ok(Box::new(Senders::new(settings)?)),
    };
    Ok(Box::new(Reports { law: law_of_repair, needs_t: law == Law::DpFec, last_t: f64::NEG_INFINITY }))
}

/// The values that a line of output has.
fn shown(law: Law) -> &'static [&'static str] {
    match law {
        Law::Geneva => &["ertt", "w_before", "w", "f", "repair", "ipg"],
        Law::Static => &["repair", "ipg"],
        Law::DpFec => &["f", "repair", "impact"],
        Law::NewReno => &["cwnd", "ssthresh"],
        Law::TfrcEquation => &["x"],
        Law::TcpStream => &["lwnd", "dwnd", "swnd", "send_window", "ssthresh", "delay_on", "diff", "cap", "tau"],
        // The answer is more than a row of numbers.
        Law::Decodability => &[],
    }
}

fn replay(
    law: &mut dyn Replayed,
    shown: &[&str],
    input: &mut BufReader<impl Read>,
    output: &mut impl Write,
) -> Result<(), Stop> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line).map_err(Stop::Input)? == 0 {
            break;
        }
        if line.len() as u64 > LONGEST_LINE {
            return Err(Stop::Line(number, format!("it has more than {LONGEST_LINE} bytes")));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        law.take(&line).map_err(|why| Stop::Line(number, why))?;
        law.write(shown, output).map_err(Stop::Output)?;
        // Answer at once when whoever writes waits for it, in large pieces otherwise.
        if input.buffer().is_empty() {
            output.flush().map_err(Stop::Output)?;
        }
    }
    Ok(())
}

/// A law of repair over reports.
struct Reports {
    law: Box<dyn Redundancy>,
    needs_t: bool,
    /// Of the last report, where it is needed.
    last_t: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    lost: u32,
    delivered: u32,
    // May be null, but not left out.
    #[serde(deserialize_with = "Option::deserialize")]
    srtt: Option<f64>,
    t: Option<f64>,
}

impl Replayed for Reports {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let report: Report = parsed(line)?;
        if self.needs_t {
            self.pass(report.t.ok_or("dp-fec needs t, the time of the report in seconds")?)?;
        }
        self.law.on_report(&LossReport {
            lost: report.lost,
            delivered: report.delivered,
            srtt: sample("srtt", report.srtt)?,
            at: Seconds(report.t.unwrap_or_default()),
        });
        Ok(())
    }
}

impl Reports {
    /// Goes on to the time `t` of a report.
    fn pass(&mut self, t: f64) -> Result<(), String> {
        if t < self.last_t {
            return Err(format!("t goes back, from {} to {t} seconds", self.last_t));
        }
        self.last_t = t;
        Ok(())
    }
}

impl Probe for Reports {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.law.probe(visit);
    }
}

/// Writes the values called `shown` as one JSON object: null where not known yet, "inf" where infinite.
fn write_state<L: Probe + ?Sized>(law: &L, shown: &[&str], output: &mut dyn Write) -> io::Result<()> {
    let mut separator = '{';
    let mut result = Ok(());
    law.probe(&mut |name, value| {
        if result.is_ok() && shown.contains(&name) {
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
