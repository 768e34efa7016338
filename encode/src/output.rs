//! Standard output, to which the pipeline writes from a thread of its own.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gstreamer::{FlowError, FlowSuccess};
use gstreamer_app::AppSink;
use thalweg_core::time::Time;
use thalweg_net::clock::Clock;

use crate::budget::{Budget, Usage};

/// Standard output and its meter.
#[derive(Debug)]
pub(crate) struct Output {
    clock: Clock,
    /// Without the buffer of [`io::stdout`], which would divide media at its line feeds.
    stdout: File,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    budget: Budget,
    failure: Option<io::Error>,
}

impl Output {
    pub(crate) fn open(clock: Clock) -> io::Result<Output> {
        let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        Ok(Output { clock, stdout, state: Mutex::default() })
    }

    /// Writes the next buffer of `sink`. A reader that is slow lets it wait, and with it the pipeline.
    pub(crate) fn take(&self, sink: &AppSink) -> Result<FlowSuccess, FlowError> {
        let sample = sink.pull_sample().map_err(|_| FlowError::Eos)?;
        let buffer = sample.buffer().ok_or(FlowError::Error)?;
        let bytes = buffer.map_readable().map_err(|_| FlowError::Error)?;
        match (&self.stdout).write_all(&bytes) {
            Ok(()) => {
                self.state().budget.push(self.clock.now(), &bytes);
                Ok(FlowSuccess::Ok)
            }
            Err(error) => {
                self.state().failure = Some(error);
                Err(FlowError::Error)
            }
        }
    }

    /// The use of the last second, if it is known.
    pub(crate) fn usage(&self, now: Time) -> Option<Usage> {
        self.state().budget.usage(now)
    }

    /// The error of writing, if there was one.
    pub(crate) fn take_failure(&self) -> Option<io::Error> {
        self.state().failure.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
