//! A simulated path for its readers: a page, figures for programs.
//!
//! ```text
//!  Plan::run(trace) ──► Study ──┬──► document ──► warmcore-report
//!  as it lies,             └────► StudyFigures   JSON
//!  strategies, luck
//! ```
//!
//! A [`Study`] holds what one trace costs as it lies, and what it would cost under other layouts.

mod code;
mod document;
mod figures;
mod layouts;
mod lead;
mod luck;
mod map;
mod study;
mod words;

#[cfg(test)]
mod tests;

pub use document::document;
pub use figures::{LayoutFigures, NamedPair, SCHEMA, StudyFigures};
pub use luck::{Luck, Spread};
pub use study::{Layout, Plan, Study, StudyError};
