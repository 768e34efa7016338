//! Runs beside the interpreter, which other threads can use meanwhile.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use thalweg_workbench::Error;
use thalweg_workbench::pool::{self, Pool};

use crate::error::raised;
use crate::own::take_raised;

/// Performs `work` on other threads, with a pool that a signal of the interpreter stops, as Ctrl-C does. Returns the result,
/// and the exception of the signal if there was one.
pub(crate) fn perform<T: Send>(
    py: Python<'_>,
    jobs: Option<usize>,
    work: impl FnOnce(Pool<'_>) -> Result<T, Error> + Send,
) -> PyResult<(T, Option<PyErr>)> {
    py.detach(|| stoppable(jobs.unwrap_or_else(pool::processors), work))
}

/// Performs `work` on this thread, which keeps the interpreter for laws that are written in Python: it would otherwise be
/// taken anew for each of their calls. Other threads of Python have their turns during these calls.
pub(crate) fn perform_here<T>(
    _py: Python<'_>,
    work: impl FnOnce(Pool<'_>) -> Result<T, Error>,
) -> PyResult<(T, Option<PyErr>)> {
    stoppable(0, work)
}

fn stoppable<T>(threads: usize, work: impl FnOnce(Pool<'_>) -> Result<T, Error>) -> PyResult<(T, Option<PyErr>)> {
    let asked = AtomicBool::new(false);
    let signal = Mutex::new(None);
    #[allow(clippy::redundant_closure_for_method_calls, reason = "the method itself has a lifetime too few")]
    let progress = |_| {
        if let Err(raised) = Python::attach(|py| take_raised().map_or_else(|| py.check_signals(), Err)) {
            asked.store(true, Ordering::Relaxed);
            signal.lock().expect("no thread panics with it").get_or_insert(raised);
        }
    };
    let stopped = || asked.load(Ordering::Relaxed);
    let done = work(Pool { threads, stopped: &stopped, progress: &progress });
    let signal = signal.into_inner().expect("no thread panics with it").or_else(take_raised);
    Ok((done.map_err(raised)?, signal))
}
