//! What arrives: the `[traffic]` table of a scenario.
//!
//! ```toml
//! [traffic]
//! streams = 1000
//! popularity = { zipf = 1.0 }
//! process = { trains = { cars = 8, gap_us = 40 } }
//! sizes = [{ bytes = 64, weight = 3 }, { bytes = 1500, weight = 1 }]
//! ```
//!
//! The rate is not part of it, so that one description serves every point of a sweep. [`Traffic::open`]
//! reads the files it names and returns an [`OpenTraffic`], which generates the arrivals.

mod mixing;
mod open;

pub use mixing::Mixing;
pub use open::{OpenTraffic, TrafficError};

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use warmcore_units::Fault;
use warmcore_workload::packets::{check_send_fraction, check_sizes};
use warmcore_workload::popularity::MAX_STREAMS;
use warmcore_workload::trace::check_time_scale;
use warmcore_workload::{Batch, ClosedLoop, Modulation, OnOff, Popularity, Size, Train};

/// The arriving traffic, except for its rate. The default is that of Salehi 1994: single packets of 8
/// equal streams, at random.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Traffic {
    /// Number of streams; not used for a trace, which has its own.
    pub streams: u32,
    /// How the traffic is divided among the streams: `"uniform"`, or `{ zipf = s }`.
    pub popularity: Popularity,
    /// When packets arrive.
    pub process: Process,
    /// How many packets of one stream arrive together, under the Poisson, constant and modulated processes.
    #[serde(skip_serializing_if = "is_default")]
    pub batch: Batch,
    /// The sizes of packets, in bytes, with weights. If empty, a trace has its own sizes and other packets
    /// have none.
    #[serde(skip_serializing_if = "is_default")]
    pub sizes: Vec<Size>,
    /// The fraction of packets that are sent rather than received. If it is 0, a trace keeps its recorded
    /// directions.
    #[serde(skip_serializing_if = "is_default")]
    pub send_fraction: f64,
}

/// When packets arrive.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Process {
    /// At random, with exponential intervals.
    #[default]
    Poisson,
    /// At equal intervals, each from a randomly drawn stream.
    Constant,
    /// At equal intervals within each stream, which starts at a random phase.
    Periodic,
    /// At random, at a rate that alternates between calm and busy times.
    Modulated(Modulation),
    /// In trains, each of packets of one stream.
    Trains(Train),
    /// From streams that are on and off for heavy-tailed times.
    SelfSimilar(OnOff),
    /// From clients that each wait for the answers to their requests; each stream is one. The rate follows.
    Closed(ClosedLoop),
    /// As in a capture.
    Trace(TraceFile),
}

/// A capture of real traffic.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// A pcap or pcapng file, relative to the document that names it.
    pub file: PathBuf,
    /// The factor on all times if no rate is given; 0.5 doubles the rate.
    #[serde(default = "unscaled")]
    pub time_scale: f64,
}

fn unscaled() -> f64 {
    1.0
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            streams: 8,
            popularity: Popularity::Uniform,
            process: Process::Poisson,
            batch: Batch::ONE,
            sizes: Vec::new(),
            send_fraction: 0.0,
        }
    }
}

impl Traffic {
    /// # Errors
    /// The first field that cannot be used, named from the `traffic` table.
    pub fn check(&self) -> Result<(), Fault> {
        if !(1..=MAX_STREAMS).contains(&self.streams) {
            return Err(Fault::new("streams", self.streams, format!("between 1 and {MAX_STREAMS}")));
        }
        self.popularity.check().map_err(within("popularity"))?;
        self.batch.check().map_err(within("batch"))?;
        self.process.check()?;
        self.check_together()?;
        if !self.sizes.is_empty() {
            check_sizes(&self.sizes)?;
        }
        check_send_fraction(self.send_fraction)
    }

    /// Checks that the fields are compatible.
    fn check_together(&self) -> Result<(), Fault> {
        let process = self.process.name();
        if !self.process.has_batches() && self.batch.mean != 1.0 {
            let expected = format!("1: the process `{process}` has no batches");
            return Err(Fault::new("batch.mean", self.batch.mean, expected));
        }
        if matches!(self.process, Process::Trace(_)) && self.popularity != Popularity::Uniform {
            let expected = "none: a trace has its own streams";
            return Err(Fault::new("popularity", "given", expected));
        }
        Ok(())
    }

    /// Opens the traffic. Reads the file of a trace, if the description names one; a relative path starts
    /// at the working directory.
    ///
    /// # Errors
    /// If a field or the file cannot be used.
    pub fn open(&self) -> Result<OpenTraffic, TrafficError> {
        OpenTraffic::new(self)
    }

    /// Opens traffic that names no file.
    ///
    /// # Errors
    /// If a field cannot be used, or it is a trace.
    pub fn generated(&self) -> Result<OpenTraffic, TrafficError> {
        OpenTraffic::generated(self)
    }
}

impl TraceFile {
    fn check(&self) -> Result<(), Fault> {
        if self.file.to_str().is_none() {
            let expected = "a path in UTF-8, which a document can name";
            return Err(Fault::new("file", self.file.display(), expected));
        }
        check_time_scale(self.time_scale)
    }
}

impl Process {
    fn check(&self) -> Result<(), Fault> {
        let checked = match self {
            Self::Poisson | Self::Constant | Self::Periodic => Ok(()),
            Self::Modulated(modulation) => modulation.check(),
            Self::Trains(train) => train.check(),
            Self::SelfSimilar(sources) => sources.check(),
            Self::Closed(closed) => closed.check(),
            Self::Trace(trace) => trace.check(),
        };
        checked.map_err(within(self.name())).map_err(within("process"))
    }

    /// The name of the process in a document.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Constant => "constant",
            Self::Periodic => "periodic",
            Self::Modulated(_) => "modulated",
            Self::Trains(_) => "trains",
            Self::SelfSimilar(_) => "self-similar",
            Self::Closed(_) => "closed",
            Self::Trace(_) => "trace",
        }
    }

    fn has_batches(&self) -> bool {
        matches!(self, Self::Poisson | Self::Constant | Self::Modulated(_))
    }
}

/// Prefixes a fault's field with `table`.
fn within(table: &str) -> impl FnOnce(Fault) -> Fault {
    move |fault| Fault { field: format!("{table}.{}", fault.field), ..fault }
}

#[cfg(test)]
mod tests;
