//! A simulated path for its readers: a page, a text for a terminal, figures for programs.
//!
//! ```text
//!  Plan::run(trace) ──► Study ──► document ──► warmcore-report
//!  as it lies,             ├────► text       a terminal
//!  strategies, luck        └────► Figures    JSON
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
mod text;
mod words;

#[cfg(test)]
mod tests;

pub use document::document;
pub use figures::{LayoutFigures, NamedPair, SCHEMA, StudyFigures};
pub use luck::{Luck, Spread};
pub use study::{Arrangement, Layout, Plan, Study, StudyError};
pub use text::text;
