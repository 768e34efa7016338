//! Sweeps, and the parts that they keep.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use thalweg_core::time::Span;
use thalweg_workbench::part;
use thalweg_workbench::sweep::{Shard, Sweep};

use crate::error::raised;
use crate::perform::perform;
use crate::runs::{Runs, Source};
use crate::scenario::Scenario;

/// Performs the runs of a sweep that have no part in `out`, and returns the parts of the sweep that are there.
#[pyfunction]
#[pyo3(name = "_sweep", signature = (scenario, over, seeds, out, *, interval=None, shard=None, jobs=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn sweep(
    py: Python<'_>,
    scenario: &Scenario,
    over: Vec<(String, Vec<String>)>,
    seeds: Vec<u64>,
    out: PathBuf,
    interval: Option<&str>,
    shard: Option<&str>,
    jobs: Option<usize>,
) -> PyResult<Runs> {
    let interval = interval.map(span).transpose()?;
    let shard = shard.map_or(Ok(Shard::ALL), str::parse).map_err(PyValueError::new_err)?;
    let sweep = Sweep::new(&scenario.source, &scenario.settings, &over, &seeds, interval).map_err(raised)?;
    let (_, signal) = perform(py, jobs, |pool| sweep.run(&out, shard, pool))?;
    match signal {
        Some(signal) => Err(signal),
        None => Ok(Runs::of(Source::Parts(sweep.parts(&out).into_iter().map(|(_, part)| part).collect()))),
    }
}

/// All parts of a folder.
#[pyfunction]
#[pyo3(name = "_load")]
pub(crate) fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Runs> {
    let parts = py.detach(|| part::load(&folder)).map_err(raised)?;
    Ok(Runs::of(Source::Parts(parts)))
}

/// A duration, such as `100ms`.
pub(crate) fn span(text: &str) -> PyResult<Span> {
    text.parse().map_err(|error| PyValueError::new_err(format!("'{text}': {error}")))
}
