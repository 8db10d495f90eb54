//! Results: values with their half-widths, their provenance, and how they are written to disk.
//!
//! | module | holds |
//! |---|---|
//! | [`document`] | the content of a report, without its layout: verdict, sections, blocks |
//! | [`chart`] | a chart: axes, series of estimates, choices between views |
//! | [`cache_map`] | a map of a cache: its sets, whose lines compete there, what that costs |
//! | [`table`] | a table: a header of any depth, cells with their half-widths |
//! | [`manifest`] | provenance: program, machine, seeds, scenario, command, date |
//! | [`columns`] | a typed table of columns, and its Parquet file |
//! | [`timeline`] | slices and counters over time, for trace viewers |
//! | [`dataset`] | a folder of Parquet files that rows are added to in any order |
//! | [`journal`] | results stored as they are finished, so that an interrupted run can resume |
//! | [`atomic_file`] | writing a file completely or not at all |
//! | [`owned_folder`] | a folder that one process writes into at a time |
//! | [`remedy`] | what a user can do about files that are in the way |
//!
//! A [`Document`] knows neither who produced it nor how it will look, so any study can build one
//! and `report` can render it. Two rules hold everywhere. A figure is an [`Estimate`], so its half-width
//! reaches the reader. A figure that is missing or missed its target is marked where it is shown.

pub mod atomic_file;
pub mod cache_map;
pub mod chart;
pub mod columns;
pub mod dataset;
pub mod document;
pub mod journal;
pub mod manifest;
pub mod owned_folder;
pub mod remedy;
pub mod table;
pub mod timeline;

pub use atomic_file::Existing;
pub use cache_map::CacheMap;
pub use chart::Chart;
pub use columns::{Column, Columns, Values};
pub use dataset::DataSet;
pub use document::{Block, Document, ReportVerdict, Section};
pub use journal::Journal;
pub use manifest::Manifest;
pub use owned_folder::OwnedFolder;
pub use table::Table;
pub use timeline::Timeline;
pub use warmcore_units::{Bytes, Estimate, Fault};
