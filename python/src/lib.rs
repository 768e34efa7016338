//! The extension module of the Python package `thalweg`: it translates between Python and the workbench, and computes
//! nothing itself. `thalweg/__init__.py` has the functions that Python calls.

mod error;
mod law;
mod own;
mod perform;
mod runs;
mod scenario;
mod sweep;
mod table;

/// The extension module.
#[pyo3::pymodule]
mod _thalweg {
    #[pymodule_export]
    use super::error::Interrupted;
    #[pymodule_export]
    use super::law::{Law, laws};
    #[pymodule_export]
    use super::own::{Ack, Report, Rng};
    #[pymodule_export]
    use super::runs::Runs;
    #[pymodule_export]
    use super::scenario::{Scenario, scenarios};
    #[pymodule_export]
    use super::sweep::{Sweep, load};
    #[pymodule_export]
    use super::table::Table;

    /// The version of the lab, which parts of a sweep have.
    #[pymodule_export]
    const VERSION: &str = thalweg_workbench::part::VERSION;
}
