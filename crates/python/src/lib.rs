//! The native part of the Python package `warmcore`: a thin layer between Python and the other rooms.
//!
//! | module | holds |
//! |---|---|
//! | [`document`] | scenarios as JSON, which Python's objects hold, and as TOML |
//! | [`simulate`] | one scenario to its figures and tables |
//! | [`models`], [`policy`] | the same with a policy, costs or arrivals of one's own |
//! | [`mod@compare`] | two ways to process the same packets |
//! | [`capacity`] | the highest rate of a host |
//! | [`mod@observe`] | everything that can be observed of a point |
//! | [`profile`] | machines' profiles as JSON and TOML |
//! | [`calibrate`] | measuring this machine |
//! | [`reproduce`] | published results, simulated again |
//! | [`figures`] | what a simulation says, by name and unit |
//! | [`sweep`] | grids, their rows and their data sets |
//! | [`table`] | tables that other programs read through Arrow's C stream, without copying |
//! | [`interruptible`] | work without the interpreter's lock that Ctrl-C ends |
//! | [`failure`] | the one map from errors to Python's exceptions |
//!
//! What users see is in Python, in `python/warmcore/`: this module takes and gives documents, and holds no logic of its own.

mod calibrate;
mod capacity;
mod compare;
mod document;
mod failure;
mod figures;
mod interruptible;
mod models;
mod observe;
mod policy;
mod profile;
mod reproduce;
mod simulate;
mod sweep;
mod table;

use pyo3::prelude::*;

/// The native part of `warmcore`. Use `import warmcore` instead.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::calibrate::calibrate;
    #[pymodule_export]
    use super::capacity::capacity;
    #[pymodule_export]
    use super::compare::compare;
    #[pymodule_export]
    use super::document::{of_toml, part, scenario, to_toml};
    #[pymodule_export]
    use super::observe::observe;
    #[pymodule_export]
    use super::policy::{Found, Request, Run, View, Wait};
    #[pymodule_export]
    use super::profile::{profile, profile_toml};
    #[pymodule_export]
    use super::reproduce::reproduce;
    #[pymodule_export]
    use super::simulate::{simulate, simulate_with};
    #[pymodule_export]
    use super::sweep::{DataSet, OwnRow, Plan, grid_row, grid_table, manifest, scheduler_address};
    #[pymodule_export]
    use super::table::Table;

    /// One more than the greatest number of a stream.
    #[pymodule_export]
    const MAX_STREAMS: u32 = warmcore_workload::popularity::MAX_STREAMS;

    /// The version of Warmcore.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
