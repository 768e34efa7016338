//! One lossy path for the lab and for real processes.

use thalweg_lab::experiment::Experiment;
use thalweg_lab::scenario::Blueprint;
use thalweg_lab::statistics::Estimate;

/// A path that loses packets on its way forward; both directions have the same delay.
pub(crate) struct SharedPath {
    /// The element that loses packets.
    pub(crate) loss: &'static str,
    /// The element that delays them.
    pub(crate) wire: &'static str,
}

impl SharedPath {
    /// The path, as a scenario of `thalweg emulate`.
    pub(crate) fn emulated(&self) -> String {
        let SharedPath { loss, wire } = self;
        format!("seed = 1\nforward.element = [{loss}, {wire}]\nreverse.element = [{wire}]\n")
    }

    /// The experiment with the keys of `run` and of its only `flow`, and with the path's losses drawn from `seed`.
    pub(crate) fn simulated(&self, run: &str, flow: &str, seed: u64) -> Experiment {
        let SharedPath { loss, wire } = self;
        let text = format!(
            r#"
            run = {{ {run} }}
            access = {{ rate = "1000gbit", near = "0s", far = "0s" }}
            [[hop]]
            forward = [{loss}, {wire}]
            backward = [{wire}]
            [[flow]]
            {flow}
            "#
        );
        let blueprint = Blueprint::parse("scenario", &text, &[], &mut |file| Err(format!("no {file}")));
        blueprint.and_then(|blueprint| blueprint.experiment(seed)).expect("the scenario")
    }
}

/// Asserts that the 95 % intervals of a figure of the lab's runs and of real ones overlap.
pub(crate) fn agree<F>(lab: &[F], real: &[F], what: &str, of: fn(&F) -> f64) {
    let [lab, real] = [lab, real].map(|all| Estimate::of(all.iter().map(of)));
    let text = |it: &Estimate| format!("{:.5} +- {:.5}", it.mean, it.half_width);
    println!("{what}: lab {}, real {}", text(&lab), text(&real));
    let meet = (lab.mean - real.mean).abs() <= lab.half_width + real.half_width;
    assert!(meet, "{what}: lab {lab:?}, real {real:?}");
}
