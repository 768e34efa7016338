//! Laws of one's own, written in Python, as laws of the lab.
//!
//! A class is called for each flow: its instance has `rng`, `context` and `probes` before `__init__` runs. An exception is a
//! fault of the law, with its traceback.

mod repair;
mod rng;
mod window;

use std::collections::BTreeSet;
use std::sync::Mutex;

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use thalweg_core::probe::Visitor;
use thalweg_lab::own::Context;
use thalweg_lab::scenario::Laws;

pub(crate) use self::repair::Report;
pub(crate) use self::rng::Rng;
pub(crate) use self::window::Ack;

/// The laws of these classes: each with its name, the class, and true if it is a window.
pub(crate) fn laws(classes: &[(String, Py<PyType>, bool)]) -> PyResult<Laws> {
    let (mut windows, mut repairs) = (Vec::new(), Vec::new());
    for (name, class, is_window) in classes {
        let class = Python::attach(|py| class.clone_ref(py));
        match is_window {
            true => windows.push(window::law(name.clone(), class)),
            false => repairs.push(repair::law(name.clone(), class)),
        }
    }
    Laws::new(windows, repairs).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// An instance of a class, and its attributes.
struct Instance {
    object: Py<PyAny>,
    probes: Py<PyDict>,
}

impl Instance {
    /// The instance for a flow, whose initial state `config` sets.
    fn new<'py, C>(
        py: Python<'py>,
        class: &Py<PyType>,
        flow: &Context<C>,
        config: impl FnOnce(&Bound<'py, PyDict>) -> PyResult<()>,
    ) -> PyResult<Instance> {
        let class = class.bind(py);
        let object = class.call_method1("__new__", (class,))?;
        let context = PyDict::new(py);
        context.set_item("flow", flow.flow)?;
        context.set_item("group", &flow.group)?;
        config(&context)?;
        let probes = PyDict::new(py);
        object.setattr("rng", Rng::new(flow.rng.clone()))?;
        object.setattr("context", context)?;
        object.setattr("probes", &probes)?;
        object.call_method0("__init__")?;
        Ok(Instance { object: object.unbind(), probes: probes.unbind() })
    }

    /// True if it has an attribute of this name.
    fn has(&self, py: Python<'_>, name: &str) -> bool {
        self.object.bind(py).hasattr(name).unwrap_or(false)
    }

    /// A method, bound to the instance; none if there is none of this name.
    fn method(&self, py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
        self.object.getattr(py, name).ok().filter(|found| found.bind(py).is_callable())
    }

    /// Visits what the law has put into `probes`.
    fn probe(&self, visit: &mut Visitor<'_>) {
        Python::attach(|py| {
            for (name, value) in self.probes.bind(py) {
                if let (Ok(name), Ok(value)) = (name.extract::<String>(), value.extract::<f64>()) {
                    visit(kept(name), value);
                }
            }
        });
    }
}

/// A value that is an attribute, or a method without arguments.
struct Value {
    /// The name, made once, since the value is read after each event.
    name: Py<PyString>,
    method: Option<Py<PyAny>>,
}

impl Value {
    fn of(py: Python<'_>, instance: &Instance, name: &str) -> Value {
        Value { name: PyString::intern(py, name).unbind(), method: instance.method(py, name) }
    }

    fn read<'py>(&self, py: Python<'py>, instance: &Instance) -> PyResult<Bound<'py, PyAny>> {
        match &self.method {
            Some(method) => method.bind(py).call0(),
            None => instance.object.bind(py).getattr(self.name.bind(py)),
        }
    }
}

/// Calls a method, if there is one.
fn call<'py>(py: Python<'py>, method: Option<&Py<PyAny>>, args: impl pyo3::call::PyCallArgs<'py>) -> PyResult<()> {
    method.map_or(Ok(()), |method| method.bind(py).call1(args).map(|_| ()))
}

/// An exception that ends more than its run, as Ctrl-C does.
static RAISED: Mutex<Option<PyErr>> = Mutex::new(None);

/// Takes the exception that a law has let through and that ends more than its run, if there is one.
pub(crate) fn take_raised() -> Option<PyErr> {
    RAISED.lock().expect("no thread panics with it").take()
}

/// The text of a fault that such an exception leaves.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// The exception as the text of a fault: its traceback and its message.
fn traced(py: Python<'_>, error: &PyErr) -> String {
    if !error.is_instance_of::<PyException>(py) {
        RAISED.lock().expect("no thread panics with it").get_or_insert(error.clone_ref(py));
        return INTERRUPTED.to_owned();
    }
    let lines = || -> PyResult<String> {
        let format = py.import("traceback")?.getattr("format_exception")?;
        let lines = format.call1((error.get_type(py), error.value(py), error.traceback(py)))?;
        Ok(lines.extract::<Vec<String>>()?.concat())
    };
    lines().unwrap_or_else(|_| error.to_string()).trim_end().to_owned()
}

/// A name that lives as long as the process: names of probes are few.
fn kept(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().expect("no thread panics with it");
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name: &'static str = name.leak();
    names.insert(name);
    name
}
