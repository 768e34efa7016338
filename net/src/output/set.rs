//! The outputs of one stream, each of which may fail without the others.

use thalweg_core::metric::{Metric, counter};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::Time;

use super::Output;
use crate::error::Error;
use crate::poll::{Interests, Ready};
use crate::report::Report;

const DROPPED: Metric =
    counter("output_dropped_datagrams_total", "Datagrams dropped because an output could not take them");

const SKIPPED: Metric =
    counter("output_skipped_bytes_total", "Bytes skipped at an MPEG-TS output because they belong to no packet");

/// The outputs of one stream.
#[derive(Debug)]
pub struct Outputs {
    outputs: Vec<Output>,
    /// Failures that are not reported yet.
    failures: Vec<Error>,
    /// The counts of outputs that have failed.
    dropped: u64,
    skipped: u64,
    /// The exit code of a command that has ended.
    exit_code: Option<i32>,
}

impl Outputs {
    /// Every metric that [`Probe::probe`] shows.
    pub const METRICS: &[Metric] = &[DROPPED, SKIPPED];

    /// A set of open outputs.
    pub fn new(outputs: Vec<Output>) -> Outputs {
        Outputs { outputs, failures: Vec::new(), dropped: 0, skipped: 0, exit_code: None }
    }

    /// Gives a datagram to every output; [`Outputs::flush`] sends it at the latest.
    pub fn write(&mut self, now: Time, datagram: &[u8]) {
        self.outputs.iter_mut().for_each(|output| output.write(now, datagram));
    }

    /// Writes the taken data, as far as readers take it now.
    ///
    /// # Errors
    /// The last output is lost.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.each(Output::flush)
    }

    /// Continues with data that slow readers have left waiting.
    ///
    /// # Errors
    /// The last output is lost.
    pub fn resume(&mut self, ready: &mut Ready) -> Result<(), Error> {
        self.each(|output| output.resume(ready))
    }

    /// Registers the descriptors to wait for.
    pub fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        self.outputs.iter().for_each(|output| output.interests(interests));
    }

    /// Ends the current stream; the next one gets a file of its own.
    pub fn end_stream(&mut self) {
        self.outputs.iter_mut().for_each(Output::end_stream);
    }

    /// Lets the outputs write the data that they still hold, and no more.
    pub fn finish(&mut self) {
        self.outputs.iter_mut().for_each(Output::finish);
        // An output that fails now has nothing more to lose.
        let _ = self.flush();
    }

    /// True if data waits for a slow reader.
    pub fn is_waiting(&self) -> bool {
        self.outputs.iter().any(Output::is_waiting)
    }

    /// The exit code of the last command that has ended, as [`Output::exit_code`].
    pub fn exit_code(&self) -> Option<i32> {
        self.exit_code
    }

    /// The next report: an output that failed, or the notice of one.
    pub fn poll_report(&mut self) -> Option<Report> {
        if let Some(error) = self.failures.pop() {
            return Some(Report::warning(format!("{error}; continuing without this output")));
        }
        self.outputs.iter_mut().find_map(Output::poll_notice)
    }

    /// Applies `what` to every output, and drops those that fail; an error is that of the last output.
    fn each(&mut self, mut what: impl FnMut(&mut Output) -> Result<(), Error>) -> Result<(), Error> {
        let Outputs { outputs, failures, dropped, skipped, exit_code } = self;
        outputs.retain_mut(|output| match what(output) {
            Ok(()) => true,
            Err(error) => {
                *dropped += output.dropped();
                *skipped += output.skipped().0;
                *exit_code = output.exit_code().or(*exit_code);
                failures.push(error);
                false
            }
        });
        match failures.pop() {
            Some(last) if outputs.is_empty() => Err(last),
            other => {
                failures.extend(other);
                Ok(())
            }
        }
    }
}

impl Probe for Outputs {
    fn probe(&self, visit: &mut Visitor<'_>) {
        let dropped = self.outputs.iter().map(Output::dropped).sum::<u64>() + self.dropped;
        visit(DROPPED.name, dropped as f64);
        let skipped = self.outputs.iter().map(|output| output.skipped().0).sum::<u64>() + self.skipped;
        visit(SKIPPED.name, skipped as f64);
    }
}
