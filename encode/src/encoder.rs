//! The loop around a pipeline: rates from standard input, bit rates to the encoder.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_net::clock::Clock;
use thalweg_net::poll::Interests;
use thalweg_net::signal::Stop;

use crate::Error;
use crate::follower::{Follower, Step};
use crate::lines::Lines;
use crate::output::Output;
use crate::pipeline::{Notice, Pipeline};

/// The time between two looks at the pipeline and its output.
const TICK: Span = Span::from_millis(100);

/// Runs the pipeline of a file until its source ends or `stop` is asked for. Once standard input has ended, the last rate
/// stays. `report` gets lines for the user.
///
/// # Errors
/// The file cannot be read, the pipeline lacks a part or fails, or standard output cannot be written.
pub fn run(file: &Path, stop: &Stop, report: impl FnMut(&str)) -> Result<(), Error> {
    let clock = Clock::start();
    let tried = |what| thalweg_net::Error::io(what);
    let output = Arc::new(Output::open(clock).map_err(tried("standard output"))?);
    let stdin = File::from(io::stdin().as_fd().try_clone_to_owned().map_err(tried("standard input"))?);
    let pipeline = Pipeline::open(file, Arc::clone(&output))?;
    let mut encoder = Encoder {
        clock,
        stdin: Some(stdin),
        lines: Lines::default(),
        follower: Follower::default(),
        output,
        pipeline,
        has_other: false,
        report,
    };
    let outcome = encoder.run(stop);
    encoder.pipeline.stop();
    outcome
}

struct Encoder<R> {
    clock: Clock,
    /// None once it has ended.
    stdin: Option<File>,
    lines: Lines,
    follower: Follower,
    output: Arc<Output>,
    pipeline: Pipeline,
    /// Set once the encoder had another bit rate than it was set to.
    has_other: bool,
    report: R,
}

impl<R: FnMut(&str)> Encoder<R> {
    fn run(&mut self, stop: &Stop) -> Result<(), Error> {
        // A rate that is there already applies from the first picture.
        self.read(Span::ZERO)?;
        self.pipeline.start();
        while !stop.asked() {
            self.read(TICK)?;
            if let Some(error) = self.output.take_failure() {
                return Err(match error.kind() {
                    ErrorKind::BrokenPipe => Error::Unread,
                    _ => thalweg_net::Error::io("standard output")(error).into(),
                });
            }
            match self.pipeline.poll()? {
                Some(Notice::Ended) => break,
                Some(Notice::Warning(text)) => (self.report)(&text),
                None => {}
            }
        }
        Ok(())
    }

    /// Waits for a rate, or for `wait`, and lets the encoder follow.
    fn read(&mut self, wait: Span) -> Result<(), Error> {
        let mut interests = Interests::new();
        if let Some(stdin) = &self.stdin {
            interests.read(stdin);
        }
        let mut ready = interests.wait(wait).map_err(thalweg_net::Error::io("waiting for standard input"))?;
        if self.stdin.is_some() && ready.take() {
            self.take_lines()?;
        }
        let now = self.clock.now();
        if let Some(usage) = self.output.usage(now) {
            self.follower.handle_usage(now, usage);
        }
        while let Some(step) = self.follower.poll_step() {
            self.take_step(step)?;
        }
        Ok(())
    }

    fn take_lines(&mut self) -> Result<(), Error> {
        let Some(stdin) = &mut self.stdin else { return Ok(()) };
        let mut bytes = [0; 4096];
        let rate = match stdin.read(&mut bytes) {
            // The last line may have no end.
            Ok(0) => {
                self.stdin = None;
                self.lines.push(b"\n")
            }
            Ok(len) => self.lines.push(&bytes[..len]),
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => None,
            Err(error) => return Err(thalweg_net::Error::io("standard input")(error).into()),
        };
        if let Some(line) = self.lines.take_bad() {
            (self.report)(&format!("standard input: '{line}' is not `rate BITS_PER_SECOND`; such lines are skipped"));
        }
        if let Some(rate) = rate {
            self.follower.handle_rate(rate);
        }
        Ok(())
    }

    fn take_step(&mut self, step: Step) -> Result<(), Error> {
        let encoder = self.pipeline.encoder();
        match step {
            Step::Set(rate) => {
                let set = self.pipeline.set(rate)?;
                // A unit of kbit/s is no difference.
                let is_other = set.as_bps().abs_diff(rate.as_bps()) >= 1_000 + rate.as_bps() / 100;
                if is_other && !std::mem::replace(&mut self.has_other, true) {
                    (self.report)(&format!("{encoder} has a bitrate of {} in place of {}", kbps(set), kbps(rate)));
                }
            }
            Step::Disobedient { coded, set } => (self.report)(&format!(
                "{encoder} ignores its bitrate: {} in place of {}; `send` drops the rest",
                kbps(coded),
                kbps(set)
            )),
            Step::Crowded { others, rate } => (self.report)(&format!(
                "sound, tables and padding take {} of the {} asked for; too little is left for {encoder}",
                kbps(others),
                kbps(rate)
            )),
        }
        Ok(())
    }
}

fn kbps(rate: Rate) -> String {
    format!("{} kb/s", rate.as_bps() / 1_000)
}
