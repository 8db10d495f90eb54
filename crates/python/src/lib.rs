//! The native part of the Python package `warmcore`: a thin layer between Python and the other rooms.
//!
//! | module | holds |
//! |---|---|
//! | [`document`] | scenarios as JSON, which Python's objects hold, and as TOML |
//! | [`simulate`] | one scenario to its figures and tables |
//! | [`figures`] | what a simulation says, by name and unit |
//! | [`sweep`] | grids, their rows and their data sets |
//! | [`table`] | tables that other programs read through Arrow's C stream, without copying |
//! | [`interruptible`] | work without the interpreter's lock that Ctrl-C ends |
//! | [`failure`] | the one map from errors to Python's exceptions |
//!
//! What users see is in Python, in `python/warmcore/`: this module takes and gives documents, and holds no logic of its own.

mod complaint;
mod document;
mod failure;
mod figures;
mod interruptible;
mod simulate;
mod sweep;
mod table;

use pyo3::prelude::*;

/// The native part of `warmcore`. Use `import warmcore` instead.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::document::{of_toml, part, scenario, to_toml};
    #[pymodule_export]
    use super::simulate::simulate;
    #[pymodule_export]
    use super::sweep::{DataSet, Plan, grid, manifest};
    #[pymodule_export]
    use super::table::Table;

    /// The version of Warmcore.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
