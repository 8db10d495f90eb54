//! A comparison of layouts for its readers: a page, figures for programs.
//!
//! ```text
//!  Comparison ──┬──► document            warmcore-report
//!               └──► ComparisonFigures   JSON
//! ```

mod answer;
mod code;
mod document;
mod figures;
mod layouts;
mod map;
mod words;

#[cfg(test)]
mod tests;

pub use document::document;
pub use figures::{ComparisonFigures, LayoutFigures, NamedPair, SCHEMA};
