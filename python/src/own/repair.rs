//! Laws of repair.

use pyo3::prelude::*;
use pyo3::types::PyType;
use thalweg_core::law::redundancy::LossReport;
use thalweg_core::probe::Visitor;
use thalweg_lab::own::{Repair, RepairLaw};

use super::{Instance, Value, call, traced};

/// A report of the packets since the last one.
#[pyclass(frozen, module = "thalweg", get_all)]
pub(crate) struct Report {
    /// Packets declared lost since the last report, repair packets among them.
    lost: u32,
    /// Packets reported delivered since the last report.
    delivered: u32,
    /// A round-trip sample in seconds, or None.
    srtt: Option<f64>,
    /// The time of the report, in seconds.
    at: f64,
}

/// The law of a class.
pub(super) fn law(name: String, class: Py<PyType>) -> Repair {
    Repair::new(name, move |flow| {
        Python::attach(|py| {
            let blocks = &flow.config;
            let instance = Instance::new(py, &class, flow, |context| {
                context.set_item("k", blocks.k)?;
                context.set_item("most", blocks.most)?;
                context.set_item("rate_bps", blocks.rate.as_bps())?;
                context.set_item("packet_bytes", blocks.packet.0)?;
                context.set_item("syn", blocks.syn.as_secs_f64())
            });
            let law = instance.map(|instance| PyRepair {
                on_report: instance.method(py, "on_report"),
                repair: Value::of(py, &instance, "repair"),
                w_tot: instance.has(py, "w_tot").then(|| Value::of(py, &instance, "w_tot")),
                instance,
            });
            law.map(|law| Box::new(law) as Box<dyn RepairLaw>).map_err(|error| traced(py, &error))
        })
    })
}

/// An instance as a law.
struct PyRepair {
    instance: Instance,
    on_report: Option<Py<PyAny>>,
    repair: Value,
    /// None for a law without.
    w_tot: Option<Value>,
}

impl RepairLaw for PyRepair {
    fn on_report(&mut self, report: &LossReport) -> Result<(), String> {
        Python::attach(|py| {
            let LossReport { lost, delivered, srtt, at } = *report;
            let report = Report { lost, delivered, srtt: srtt.map(|srtt| srtt.0), at: at.0 };
            call(py, self.on_report.as_ref(), (report,)).map_err(|error| traced(py, &error))
        })
    }

    fn repair(&self) -> Result<f64, String> {
        Python::attach(|py| {
            let read = self.repair.read(py, &self.instance).and_then(|read| read.extract());
            read.map_err(|error| traced(py, &error))
        })
    }

    fn w_tot(&self) -> Result<Option<f64>, String> {
        let Some(w_tot) = &self.w_tot else { return Ok(None) };
        Python::attach(|py| {
            let read = w_tot.read(py, &self.instance).and_then(|read| read.extract());
            read.map_err(|error| traced(py, &error))
        })
    }

    fn probe(&self, visit: &mut Visitor<'_>) {
        self.instance.probe(visit);
    }
}
