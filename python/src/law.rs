//! The laws that `thalweg replay` runs, as objects.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use thalweg_workbench::replay::{self, Replay};

/// A law with its constants, fed event by event.
#[pyclass(module = "thalweg._thalweg")]
pub(crate) struct Law {
    law: Replay,
}

#[pymethods]
impl Law {
    /// The law of this name with these values of its constants, as texts.
    #[new]
    fn new(name: &str, settings: Vec<(String, String)>) -> PyResult<Law> {
        let law = replay::Law::named(name).ok_or_else(|| {
            let known: Vec<&str> = replay::Law::all().into_iter().map(|(_, name, _)| name).collect();
            PyValueError::new_err(format!("no law '{name}', expected one of {}", known.join(", ")))
        })?;
        let law = Replay::new(&law, &settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Law { law })
    }

    /// Takes an event as JSON, and returns the state as JSON.
    fn answer<'py>(&mut self, py: Python<'py>, event: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = self.law.answer(event).map_err(PyValueError::new_err)?;
        Ok(PyBytes::new(py, &answer))
    }
}

/// The names of the laws, each with its line of help.
#[pyfunction]
pub(crate) fn laws() -> Vec<(&'static str, String)> {
    replay::Law::all().into_iter().map(|(_, name, about)| (name, about)).collect()
}
