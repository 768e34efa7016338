//! Congestion windows.

use pyo3::prelude::*;
use pyo3::types::PyType;
use thalweg_core::law::window::Acked;
use thalweg_core::probe::Visitor;
use thalweg_core::time::{Span, Time};
use thalweg_lab::own::{Window, WindowLaw};

use super::{Instance, Value, call, traced};

/// An acknowledgement, in segments and seconds. It is valid during the call alone: the next one has other values.
#[pyclass(module = "thalweg", get_all)]
#[derive(Default)]
pub(crate) struct Ack {
    /// The time at which it arrived.
    now: f64,
    /// Segments that it acknowledged for the first time.
    newly: u32,
    /// Segments in flight before it arrived.
    flight: u32,
    /// A round-trip sample, or None.
    rtt: Option<f64>,
    /// The smoothed round trip, or None before the first sample.
    srtt: Option<f64>,
    /// True once in each round trip.
    round_end: bool,
    /// True if the window held the sender back; one that did not must not grow.
    window_limited: bool,
}

/// The law of a class.
pub(super) fn law(name: String, class: Py<PyType>) -> Window {
    Window::new(name, move |flow| {
        Python::attach(|py| {
            let instance = Instance::new(py, &class, flow, |context| {
                context.set_item("iw", flow.config.start.iw)?;
                context.set_item("ssthresh", flow.config.start.ssthresh)?;
                context.set_item("playback_bps", flow.config.playback.map(|playback| playback.rate.as_bps()))
            });
            let law = instance.and_then(|instance| PyWindow::new(py, instance));
            law.map(|law| Box::new(law) as Box<dyn WindowLaw>).map_err(|error| traced(py, &error))
        })
    })
}

/// An instance as a law.
struct PyWindow {
    instance: Instance,
    ack: Py<Ack>,
    on_ack: Option<Py<PyAny>>,
    on_repair_ack: Option<Py<PyAny>>,
    on_loss: Option<Py<PyAny>>,
    on_recovered: Option<Py<PyAny>>,
    on_timeout: Option<Py<PyAny>>,
    cwnd: Value,
    ssthresh: Value,
    /// None for a law that does not pace.
    gap: Option<Value>,
}

impl PyWindow {
    fn new(py: Python<'_>, instance: Instance) -> PyResult<PyWindow> {
        let method = |name| instance.method(py, name);
        Ok(PyWindow {
            ack: Py::new(py, Ack::default())?,
            on_ack: method("on_ack"),
            on_repair_ack: method("on_repair_ack"),
            on_loss: method("on_loss"),
            on_recovered: method("on_recovered"),
            on_timeout: method("on_timeout"),
            cwnd: Value::of(py, &instance, "cwnd"),
            ssthresh: Value::of(py, &instance, "ssthresh"),
            gap: instance.has(py, "gap").then(|| Value::of(py, &instance, "gap")),
            instance,
        })
    }

    /// The acknowledgement as Python reads it.
    fn show<'py>(&self, py: Python<'py>, acked: &Acked) -> Bound<'py, Ack> {
        let shown = self.ack.bind(py).clone();
        *shown.borrow_mut() = Ack {
            now: acked.now.as_secs_f64(),
            newly: acked.newly,
            flight: acked.flight,
            rtt: acked.rtt.map(Span::as_secs_f64),
            srtt: acked.srtt.map(Span::as_secs_f64),
            round_end: acked.round_end,
            window_limited: acked.window_limited,
        };
        shown
    }

    fn number(&self, value: &Value) -> Result<f64, String> {
        Python::attach(|py| {
            let read = value.read(py, &self.instance).and_then(|read| read.extract());
            read.map_err(|error| traced(py, &error))
        })
    }
}

/// Calls a method, whose exception is a fault.
fn handle(event: impl for<'py> FnOnce(Python<'py>) -> PyResult<()>) -> Result<(), String> {
    Python::attach(|py| event(py).map_err(|error| traced(py, &error)))
}

impl WindowLaw for PyWindow {
    fn on_ack(&mut self, acked: &Acked) -> Result<(), String> {
        handle(|py| call(py, self.on_ack.as_ref(), (self.show(py, acked),)))
    }

    fn on_repair_ack(&mut self, acked: &Acked, lost: u32) -> Result<(), String> {
        if self.on_repair_ack.is_none() {
            return Ok(());
        }
        handle(|py| call(py, self.on_repair_ack.as_ref(), (self.show(py, acked), lost)))
    }

    fn on_loss(&mut self, now: Time, flight: u32) -> Result<(), String> {
        handle(|py| call(py, self.on_loss.as_ref(), (now.as_secs_f64(), flight)))
    }

    fn on_recovered(&mut self, now: Time) -> Result<(), String> {
        handle(|py| call(py, self.on_recovered.as_ref(), (now.as_secs_f64(),)))
    }

    fn on_timeout(&mut self, now: Time, flight: u32, again: bool) -> Result<(), String> {
        handle(|py| call(py, self.on_timeout.as_ref(), (now.as_secs_f64(), flight, again)))
    }

    fn cwnd(&self) -> Result<f64, String> {
        self.number(&self.cwnd)
    }

    fn ssthresh(&self) -> Result<f64, String> {
        self.number(&self.ssthresh)
    }

    fn gap(&self) -> Result<Option<Span>, String> {
        let Some(gap) = &self.gap else { return Ok(None) };
        let read = Python::attach(|py| {
            let read = gap.read(py, &self.instance).and_then(|read| read.extract::<Option<f64>>());
            read.map_err(|error| traced(py, &error))
        })?;
        match read {
            Some(seconds) if !(seconds > 0.0 && seconds.is_finite()) => {
                Err(format!("gap is {seconds}, expected seconds above 0, or None"))
            }
            seconds => Ok(seconds.map(Span::from_secs_f64)),
        }
    }

    fn probe(&self, visit: &mut Visitor<'_>) {
        self.instance.probe(visit);
    }
}
