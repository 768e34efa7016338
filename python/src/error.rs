//! Errors of the workbench as exceptions of Python.

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::{PyErr, create_exception};
use thalweg_workbench::Error;

create_exception!(
    thalweg,
    Interrupted,
    PyKeyboardInterrupt,
    "An interrupted campaign. The completed runs are in its attribute `runs`."
);

/// The exception for an error.
pub(crate) fn raised(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Parameter(_) | Error::Scenario(_) | Error::Part(_) => PyValueError::new_err(text),
        Error::File(_) => PyOSError::new_err(text),
        Error::Run(_) | Error::Unread => PyRuntimeError::new_err(text),
    }
}
