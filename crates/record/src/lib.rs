//! What came out: values with their half-widths, where they come from, and how they reach a disk.
//!
//! | module | holds |
//! |---|---|
//! | [`document`] | a report before it has a look: verdict, sections, blocks |
//! | [`chart`] | a chart: axes, series of estimates, choices between views |
//! | [`table`] | a table: a header of any depth, cells with their half-widths |
//! | [`manifest`] | provenance: program, machine, seeds, scenario, command, date |
//! | [`columns`] | a typed table of columns, and its Parquet file |
//! | [`journal`] | results kept as they come, so that an interrupted run goes on |
//! | [`atomic_file`] | writing a file completely or not at all |
//!
//! A [`Document`] knows neither who produced it nor how it will look, so any study can build one
//! and `report` can render it. Two things hold everywhere: a figure is an
//! [`Estimate`], so its half-width is never lost on the way to the reader;
//! and a figure that missed its target or is missing says so where it stands.

pub mod atomic_file;
pub mod chart;
pub mod columns;
pub mod document;
pub mod journal;
pub mod manifest;
pub mod table;

pub use atomic_file::Existing;
pub use chart::Chart;
pub use columns::{Column, Columns, Values};
pub use document::{Block, Document, Section, Verdict};
pub use journal::Journal;
pub use manifest::Manifest;
pub use table::Table;
pub use warmcore_units::{Estimate, Fault};
