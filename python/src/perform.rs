//! Runs beside the interpreter, which other threads can use meanwhile.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use thalweg_workbench::Error;
use thalweg_workbench::pool::{self, Pool};

use crate::error::raised;

/// Performs `work` with a pool that a signal of the interpreter stops, as Ctrl-C does. Returns the result, and the exception
/// of the signal if there was one.
pub(crate) fn perform<T: Send>(
    py: Python<'_>,
    jobs: Option<usize>,
    work: impl FnOnce(Pool<'_>) -> Result<T, Error> + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let asked = AtomicBool::new(false);
    let signal = Mutex::new(None);
    let done = py.detach(|| {
        #[allow(clippy::redundant_closure_for_method_calls, reason = "the method itself has a lifetime too few")]
        let progress = |_| {
            if let Err(raised) = Python::attach(|py| py.check_signals()) {
                asked.store(true, Ordering::Relaxed);
                signal.lock().expect("no thread panics with it").get_or_insert(raised);
            }
        };
        let stopped = || asked.load(Ordering::Relaxed);
        let threads = jobs.unwrap_or_else(pool::processors).max(1);
        work(Pool { threads, stopped: &stopped, progress: &progress })
    });
    let signal = signal.into_inner().expect("no thread panics with it");
    Ok((done.map_err(raised)?, signal))
}
