//! Sweeps, and the parts that they keep.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use thalweg_core::time::Span;
use thalweg_workbench::part::{self, Part};
use thalweg_workbench::pool::Pool;
use thalweg_workbench::sweep::{self, Shard};

use crate::error::raised;
use crate::perform::{perform, perform_here};
use crate::runs::{Runs, Source, faults};
use crate::scenario::Scenario;

/// The runs of a sweep, each with an index.
#[pyclass(frozen, module = "thalweg._thalweg")]
pub(crate) struct Sweep {
    sweep: sweep::Sweep,
    has_own: bool,
}

#[pymethods]
impl Sweep {
    /// Every combination of the values with every seed.
    #[new]
    #[pyo3(signature = (scenario, over, seeds, *, interval=None))]
    fn new(
        scenario: &Scenario,
        over: Vec<(String, Vec<String>)>,
        seeds: Vec<u64>,
        interval: Option<&str>,
    ) -> PyResult<Sweep> {
        let interval = interval.map(span).transpose()?;
        let sweep = sweep::Sweep::new(&scenario.source, &scenario.settings, &over, &seeds, interval);
        Ok(Sweep { sweep: sweep.map_err(raised)?, has_own: scenario.has_own() })
    }

    fn __len__(&self) -> usize {
        self.sweep.len()
    }

    /// Performs the runs of a shard that have no part in a folder, and keeps each there as it ends.
    #[pyo3(signature = (out, *, shard=None, jobs=None))]
    fn run(&self, py: Python<'_>, out: PathBuf, shard: Option<&str>, jobs: Option<usize>) -> PyResult<()> {
        let shard = shared(shard)?;
        match perform(py, jobs, |pool| self.sweep.run(&out, shard, pool))? {
            (_, Some(signal)) => Err(signal),
            (_, None) => Ok(()),
        }
    }

    /// The indices of the runs of a shard that have no part in a folder, each with its simulated seconds.
    #[pyo3(signature = (out, *, shard=None))]
    fn missing(&self, out: PathBuf, shard: Option<&str>) -> PyResult<Vec<(usize, f64)>> {
        let (missing, _) = self.sweep.missing(&out, shared(shard)?).map_err(raised)?;
        Ok(missing.into_iter().map(|member| (member, self.sweep.duration(member).as_secs_f64())).collect())
    }

    /// Performs some runs, one after the other. Returns the processor time and the part of each, and the faults of runs that a law
    /// of one's own has ended.
    #[allow(clippy::type_complexity, reason = "tuples of Python")]
    fn parts<'py>(
        &self,
        py: Python<'py>,
        members: Vec<usize>,
    ) -> PyResult<(Vec<(f64, Bound<'py, PyBytes>)>, Bound<'py, PyList>)> {
        let work = |pool: Pool<'_>| self.sweep.parts_of(&members, pool);
        let ((parts, faulted), signal) =
            if self.has_own { perform_here(py, work)? } else { perform(py, Some(1), work)? };
        signal.map_or(Ok(()), Err)?;
        let parts = parts.iter().map(|part| (part.cpu_s, PyBytes::new(py, part.text().as_bytes()))).collect();
        Ok((parts, faults(py, &faulted)?))
    }

    /// Keeps a part in a folder.
    #[staticmethod]
    fn keep(out: PathBuf, part: &[u8]) -> PyResult<()> {
        let part = str::from_utf8(part).ok().and_then(Part::parse);
        let part = part.ok_or_else(|| PyValueError::new_err("a part from another process is damaged"))?;
        part.store(&out).map_err(raised)
    }

    /// The runs of the sweep that have a part in a folder, beside the faults of others.
    fn kept(&self, py: Python<'_>, out: PathBuf, faults: Bound<'_, PyList>) -> Runs {
        let parts = py.detach(|| self.sweep.parts(&out));
        Runs::of(Source::Parts(parts.into_iter().map(|(_, part)| part).collect()), faults)
    }
}

fn shared(shard: Option<&str>) -> PyResult<Shard> {
    shard.map_or(Ok(Shard::ALL), str::parse).map_err(PyValueError::new_err)
}

/// All parts of a folder.
#[pyfunction]
#[pyo3(name = "_load")]
pub(crate) fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Runs> {
    let parts = py.detach(|| part::load(&folder)).map_err(raised)?;
    Ok(Runs::of(Source::Parts(parts), PyList::empty(py)))
}

/// A duration, such as `100ms`.
pub(crate) fn span(text: &str) -> PyResult<Span> {
    text.parse().map_err(|error| PyValueError::new_err(format!("'{text}': {error}")))
}
