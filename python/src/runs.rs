//! The results of runs.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict, PyList};
use thalweg_workbench::frame::{self, Frame};
use thalweg_workbench::part::Part;
use thalweg_workbench::record::Recorded;
use thalweg_workbench::run::Faulted;
use thalweg_workbench::sweep;

use crate::table::Table;

/// The results of runs, as tables; each is made when it is first read.
#[pyclass(frozen, module = "thalweg")]
pub(crate) struct Runs {
    source: Source,
    faults: Py<PyList>,
    tables: [PyOnceLock<Py<Table>>; 5],
}

pub(crate) enum Source {
    /// Runs in memory.
    Recorded(Vec<Recorded>),
    /// Parts of a sweep.
    Parts(Vec<Part>),
}

impl Runs {
    /// Runs, and the [`faults`] of others.
    pub(crate) fn of(source: Source, faults: Bound<'_, PyList>) -> Runs {
        Runs { source, faults: faults.unbind(), tables: [const { PyOnceLock::new() }; 5] }
    }

    fn table(&self, py: Python<'_>, nth: usize, recorded: fn(&[Recorded]) -> Frame, kind: &str) -> PyResult<Py<Table>> {
        let make = || {
            let frame = py.detach(|| match &self.source {
                Source::Recorded(runs) => recorded(runs),
                Source::Parts(parts) => frame::of_parts(parts, kind),
            });
            Py::new(py, Table::of(frame)?)
        };
        self.tables[nth].get_or_try_init(py, make).map(|table| table.clone_ref(py))
    }
}

/// The runs that a law of one's own has ended by a fault, as dicts.
pub(crate) fn faults<'py>(py: Python<'py>, faults: &[Faulted]) -> PyResult<Bound<'py, PyList>> {
    let dict = |Faulted { variant, seed, fault }: &Faulted| -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("scheme", variant)?;
        dict.set_item("seed", seed)?;
        dict.set_item("flow", fault.flow)?;
        dict.set_item("group", &fault.group)?;
        dict.set_item("t_s", fault.at.as_secs_f64())?;
        dict.set_item("text", &fault.text)?;
        Ok(dict)
    };
    PyList::new(py, faults.iter().map(dict).collect::<PyResult<Vec<_>>>()?)
}

#[pymethods]
impl Runs {
    pub(crate) fn __len__(&self) -> usize {
        match &self.source {
            Source::Recorded(runs) => runs.len(),
            Source::Parts(parts) => parts.len(),
        }
    }

    fn __repr__(&self) -> String {
        format!("<thalweg.Runs: {} runs>", self.__len__())
    }

    /// The runs that a law of one's own has ended by a fault, each as a dict with `scheme`, `seed`, `flow`, `group`, `t_s` and
    /// `text`, which has the traceback. In a sweep `scheme` has the values of the parameters that are varied.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.faults.bind(py).clone()
    }

    /// A row for each run: its seed and all quantities.
    #[getter]
    fn summary(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.table(py, 0, frame::summary, "summary")
    }

    /// A row for each flow of each run.
    #[getter]
    fn flows(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.table(py, 1, frame::flows, "flow")
    }

    /// A row for each way of each station of a Wi-Fi cell.
    #[getter]
    fn stations(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.table(py, 2, frame::stations, "station")
    }

    /// A row for each reading of the ends of a flow; empty without an interval.
    #[getter]
    fn intervals(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.table(py, 3, frame::intervals, "interval")
    }

    /// A row for each reading of the queues of a hop; empty without an interval.
    #[getter]
    fn hops(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.table(py, 4, frame::hops, "hop")
    }

    /// The digest of all values of a sweep but the processor times, as `lab sweep --json` has it; None for runs of no sweep.
    #[getter]
    fn digest(&self) -> Option<String> {
        if let Source::Parts(parts) = &self.source { Some(sweep::digest(parts)) } else { None }
    }

    /// The summary as a stream of Arrow's C interface, so that a frame can be made of the runs themselves.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.summary(py)?.get().__arrow_c_stream__(py, requested_schema)
    }
}
