//! Scenarios with the values of their parameters.

use std::collections::BTreeMap;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use thalweg_lab::scenario::{Blueprint, Value};
use thalweg_workbench::campaign::Campaign;
use thalweg_workbench::pool::Pool;
use thalweg_workbench::record::record;
use thalweg_workbench::source;

use crate::error::{Interrupted, raised};
use crate::own;
use crate::perform::{perform, perform_here};
use crate::runs::{Runs, Source, faults};
use crate::sweep::span;

/// A scenario of the lab with the values of its parameters.
#[pyclass(frozen, module = "thalweg")]
pub(crate) struct Scenario {
    pub(crate) source: source::Source,
    pub(crate) settings: Vec<(String, String)>,
    blueprint: Blueprint,
    laws: Vec<(String, Py<PyType>, bool)>,
    version: BTreeMap<String, String>,
}

#[pymethods]
impl Scenario {
    /// The scenario of this name, or in this file, with these values of its parameters, as texts.
    #[new]
    #[pyo3(signature = (name, settings, laws=Vec::new(), version=BTreeMap::new()))]
    fn new(
        name: &str,
        settings: Vec<(String, String)>,
        laws: Vec<(String, Py<PyType>, bool)>,
        version: BTreeMap<String, String>,
    ) -> PyResult<Scenario> {
        Scenario::of(source::Source::find(name).map_err(raised)?, settings, laws, version)
    }

    /// The scenario with this text, and the texts of the files that it names, as another process has read them.
    #[staticmethod]
    #[pyo3(signature = (name, text, files, settings, laws=Vec::new(), version=BTreeMap::new()))]
    fn given(
        name: String,
        text: String,
        files: BTreeMap<String, String>,
        settings: Vec<(String, String)>,
        laws: Vec<(String, Py<PyType>, bool)>,
        version: BTreeMap<String, String>,
    ) -> PyResult<Scenario> {
        Scenario::of(source::Source::given(name, text, files), settings, laws, version)
    }

    /// The laws of one's own that it may name: name, class, and True for a window.
    #[getter]
    fn laws<'py>(&self, py: Python<'py>) -> Vec<(&str, Bound<'py, PyType>, bool)> {
        self.laws.iter().map(|(name, class, is_window)| (name.as_str(), class.bind(py).clone(), *is_window)).collect()
    }

    /// All that determines what these laws do, by their names.
    #[getter]
    fn version(&self) -> BTreeMap<String, String> {
        self.version.clone()
    }

    /// True if there are such laws, which need the interpreter.
    #[getter]
    pub(crate) fn has_own(&self) -> bool {
        !self.laws.is_empty()
    }

    /// The texts of the files that it names, by name.
    #[getter]
    fn files(&self) -> BTreeMap<&str, &str> {
        let read = self.blueprint.files().iter();
        read.filter_map(|(name, text)| Some((name.as_str(), text.as_deref().ok()?))).collect()
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.source.name()
    }

    /// The description in its file.
    #[getter]
    fn about(&self) -> &str {
        self.blueprint.about()
    }

    /// The text of its file.
    #[getter]
    fn text(&self) -> &str {
        self.source.text()
    }

    /// The values of its parameters, by name.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for parameter in self.blueprint.parameters() {
            let name = &parameter.name;
            match &parameter.value {
                Value::Number(number) => dict.set_item(name, number)?,
                Value::Text(text) => dict.set_item(name, text)?,
                Value::Flag(flag) => dict.set_item(name, flag)?,
            }
        }
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let set = self.settings.iter().map(|(name, value)| format!(", {name}={value}"));
        format!("<thalweg.Scenario {}{}>", self.source.name(), set.collect::<String>())
    }

    /// Runs each of the values of a parameter, or the scenario as it is, with each seed.
    #[pyo3(name = "_run", signature = (seeds, *, over=None, interval=None, jobs=None))]
    fn run(
        &self,
        py: Python<'_>,
        seeds: Vec<u64>,
        over: Option<(String, Vec<String>)>,
        interval: Option<&str>,
        jobs: Option<usize>,
    ) -> PyResult<Runs> {
        let interval = interval.map(span).transpose()?;
        let variants = match over {
            Some((name, values)) => values.into_iter().map(|value| self.with(&name, value)).collect::<PyResult<_>>()?,
            None => vec![(self.scheme(), self.blueprint.clone())],
        };
        let campaign = Campaign { variants, seeds };
        let work = |pool: Pool<'_>| record(&campaign, interval, pool);
        let ((recorded, mut faulted), signal) =
            if self.has_own() { perform_here(py, work)? } else { perform(py, jobs, work)? };
        faulted.retain(|it| it.fault.text != own::INTERRUPTED);
        let runs = Runs::of(Source::Recorded(recorded), faults(py, &faulted)?);
        match signal {
            None => Ok(runs),
            Some(signal) if signal.is_instance_of::<PyKeyboardInterrupt>(py) => {
                let completed = Interrupted::new_err(format!("{} runs were completed", runs.__len__()));
                completed.value(py).setattr("runs", Py::new(py, runs)?)?;
                Err(completed)
            }
            Some(signal) => Err(signal),
        }
    }
}

impl Scenario {
    fn of(
        source: source::Source,
        settings: Vec<(String, String)>,
        laws: Vec<(String, Py<PyType>, bool)>,
        version: BTreeMap<String, String>,
    ) -> PyResult<Scenario> {
        let source = source.with_laws(own::laws(&laws)?, version.clone());
        let blueprint = source.blueprint(&settings).map_err(raised)?;
        Ok(Scenario { source, settings, blueprint, laws, version })
    }

    /// The value of the parameter `scheme`, if there is one.
    fn scheme(&self) -> String {
        let found = self.blueprint.parameters().iter().find(|parameter| parameter.name == "scheme");
        found.map(|parameter| parameter.value.to_string()).unwrap_or_default()
    }

    fn with(&self, name: &str, value: String) -> PyResult<(String, Blueprint)> {
        let settings = [&self.settings[..], &[(name.to_owned(), value.clone())]].concat();
        Ok((value, self.source.blueprint(&settings).map_err(raised)?))
    }
}

/// The names of the built-in scenarios.
#[pyfunction]
pub(crate) fn scenarios() -> Vec<&'static str> {
    source::BUILT_IN.iter().map(|(file, _)| source::short(file)).collect()
}
