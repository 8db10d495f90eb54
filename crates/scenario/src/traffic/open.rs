//! Traffic whose files have been read, ready to generate arrivals.

use super::{Process, Traffic};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_files::{LONGEST_CAPTURE, read};
use warmcore_units::{Fault, PerSecond, StreamId};
use warmcore_workload::trace::check_time_scale;
use warmcore_workload::{
    Arrival, Arrivals, Constant, ImpossibleArrivals, Key, Marks, Modulated, Periodic, Poisson, SelfSimilar,
    Silence, StreamChoice, Trace, TraceError, Trains, WithDirections, WithSizes,
};

/// A valid traffic description with the trace that it names, if any. It generates arrivals at any rate, any
/// number of times.
#[derive(Clone, Debug)]
pub struct OpenTraffic {
    traffic: Traffic,
    trace: Option<Trace>,
    /// Once set, no more packets arrive.
    stop: Option<Arc<AtomicBool>>,
}

/// A source that ends early once `stop` is set.
struct Stoppable {
    source: Box<dyn Arrivals>,
    stop: Arc<AtomicBool>,
}

impl Arrivals for Stoppable {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        if self.stop.load(Ordering::Relaxed) { 0 } else { self.source.fill(block) }
    }
}

/// The traffic cannot be generated as described.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// A field is not valid.
    #[error(transparent)]
    Field(#[from] Fault),
    /// The arrivals cannot be generated at the requested rate.
    #[error(transparent)]
    Arrivals(#[from] ImpossibleArrivals),
    /// The file of a trace could not be read.
    #[error("`process.trace.file`: cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file contains no usable trace.
    #[error("`process.trace.file`: {}: {source}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        source: TraceError,
    },
    /// The packets of a trace have no rate, and scaling cannot give them one.
    #[error(
        "`process.trace.file`: the capture has no rate and cannot be scaled to one, since {}; give a capture of \
         packets at different times",
        if *packets == 1 { "it has one packet".to_owned() } else { format!("all its {packets} packets come at once") }
    )]
    NoDuration {
        /// How many packets the trace has.
        packets: usize,
    },
}

impl OpenTraffic {
    pub(super) fn new(traffic: &Traffic) -> Result<Self, TrafficError> {
        traffic.check()?;
        let trace = match &traffic.process {
            Process::Trace(trace) => Some(read_trace(&trace.file)?),
            _ => None,
        };
        Ok(Self { traffic: traffic.clone(), trace, stop: None })
    }

    /// Traffic that comes from `trace`, whatever file the description names. Its process must be
    /// [`Trace`](Process::Trace).
    ///
    /// # Errors
    /// If a field is not valid.
    pub fn recorded(traffic: &Traffic, trace: Trace) -> Result<Self, TrafficError> {
        traffic.check()?;
        Ok(Self { traffic: traffic.clone(), trace: Some(trace), stop: None })
    }

    pub(super) fn generated(traffic: &Traffic) -> Result<Self, TrafficError> {
        traffic.check()?;
        if let Process::Trace(_) = traffic.process {
            return Err(Fault::new("process", "trace", "a generated process: no file is read here").into());
        }
        Ok(Self { traffic: traffic.clone(), trace: None, stop: None })
    }

    /// The same traffic, of which no more packets arrive once `stop` is set: every run on it then ends within
    /// moments, and what it came to means nothing.
    #[must_use]
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// How many streams there are.
    #[must_use]
    pub fn streams(&self) -> u32 {
        self.trace.as_ref().map_or(self.traffic.streams, Trace::streams)
    }

    /// Whether packets are requests of clients that wait for the answers.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self.traffic.process, Process::Closed(_))
    }

    /// The trace, if it is one.
    #[must_use]
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }

    /// The traffic's own rate, which is that of a trace at its time scale; `None` if a rate must be given.
    #[must_use]
    pub fn own_rate(&self) -> Option<PerSecond> {
        let Process::Trace(file) = &self.traffic.process else { return None };
        let rate = self.trace.as_ref()?.rate()?;
        Some(rate * file.time_scale.recip())
    }

    /// The `asked` rate, or the traffic's own.
    ///
    /// # Errors
    /// If there is neither, or a trace has no rate that could be scaled.
    pub fn rate(&self, asked: Option<PerSecond>) -> Result<PerSecond, TrafficError> {
        let trace = self.trace.as_ref().filter(|trace| trace.rate().is_none());
        match (trace, asked.or_else(|| self.own_rate())) {
            (Some(trace), _) => Err(TrafficError::NoDuration { packets: trace.packets() }),
            (None, rate) => {
                Ok(rate.ok_or_else(|| Fault::new("rate_per_s", "missing", "packets per second, above 0"))?)
            }
        }
    }

    /// Each stream's share of the packets; they add up to 1.
    ///
    /// # Errors
    /// If the streams are impossible.
    pub fn shares(&self) -> Result<Vec<f64>, TrafficError> {
        match &self.trace {
            Some(trace) => Ok(trace.shares()),
            None => Ok(self.traffic.popularity.shares(self.traffic.streams)?),
        }
    }

    /// The arrivals at a mean rate of `rate`. The times of a trace are scaled to that rate, and a trace ends;
    /// other traffic does not.
    ///
    /// # Errors
    /// If there are no such arrivals at this rate.
    pub fn source(&self, rate: PerSecond, key: Key) -> Result<Box<dyn Arrivals>, TrafficError> {
        self.marked(self.bare_source(rate, key)?, key)
    }

    /// The same arrivals, but a trace repeats without end, and the requests of a closed loop arrive by themselves.
    ///
    /// # Errors
    /// As [`source`](Self::source).
    pub fn endless(&self, rate: PerSecond, key: Key) -> Result<Box<dyn Arrivals>, TrafficError> {
        match &self.trace {
            None if self.is_closed() => Ok(Box::new(Poisson::marked(rate, self.marks(key)?, key)?)),
            Some(trace) => self.marked(Box::new(trace.cycle(scale(trace, rate)?)?), key),
            None => self.source(rate, key),
        }
    }

    /// Adds the sizes and directions of the description to `source`.
    fn marked(&self, mut source: Box<dyn Arrivals>, key: Key) -> Result<Box<dyn Arrivals>, TrafficError> {
        if !self.traffic.sizes.is_empty() {
            source = Box::new(WithSizes::new(source, &self.traffic.sizes, key)?);
        }
        if self.traffic.send_fraction > 0.0 {
            source = Box::new(WithDirections::new(source, self.traffic.send_fraction, key)?);
        }
        if let Some(stop) = &self.stop {
            source = Box::new(Stoppable { source, stop: Arc::clone(stop) });
        }
        Ok(source)
    }

    /// The arrivals, without the sizes and directions of the description.
    fn bare_source(&self, rate: PerSecond, key: Key) -> Result<Box<dyn Arrivals>, TrafficError> {
        let Traffic { streams, popularity, .. } = self.traffic;
        if let Some(trace) = &self.trace {
            return Ok(Box::new(trace.replay(scale(trace, rate)?)?));
        }
        Ok(match &self.traffic.process {
            Process::Poisson => Box::new(Poisson::marked(rate, self.marks(key)?, key)?),
            Process::Constant => Box::new(Constant::new(rate, self.marks(key)?)?),
            Process::Periodic => Box::new(Periodic::new(rate, streams, popularity, key)?),
            Process::Modulated(modulation) => Box::new(
                Modulated::new(rate, *modulation, self.marks(key)?, key).map_err(at_rate("modulated"))?,
            ),
            Process::Trains(train) => {
                Box::new(Trains::new(rate, *train, streams, popularity, key).map_err(at_rate("trains"))?)
            }
            Process::SelfSimilar(sources) => {
                Box::new(SelfSimilar::new(rate, *sources, streams, popularity, key)?)
            }
            // Nothing arrives by itself.
            Process::Closed(_) => Box::new(Silence),
            // Not reached: opened traffic has read its trace.
            Process::Trace(_) => return Err(TrafficError::NoDuration { packets: 0 }),
        })
    }

    /// The streams of successive packets, without end, in the proportions of the traffic: the backlog in
    /// overload. Batches stay together, and a trace keeps its order; the packets of other processes are
    /// drawn independently.
    ///
    /// # Errors
    /// If the streams or batches are impossible.
    pub fn mix(&self, key: Key) -> Result<Box<dyn Iterator<Item = StreamId> + Send>, TrafficError> {
        if let Some(trace) = &self.trace {
            return Ok(Box::new(trace.mix()));
        }
        if self.traffic.process.has_batches() {
            return Ok(Box::new(self.marks(key)?.packets()));
        }
        Ok(Box::new(StreamChoice::new(self.traffic.streams, self.traffic.popularity, key)?.streams()))
    }

    fn marks(&self, key: Key) -> Result<Marks, ImpossibleArrivals> {
        Marks::new(self.traffic.streams, self.traffic.popularity, self.traffic.batch, key)
    }
}

/// Prefixes the field of a fault that depends on the rate with its path in a scenario.
fn at_rate(process: &str) -> impl FnOnce(ImpossibleArrivals) -> ImpossibleArrivals {
    move |error| match error {
        ImpossibleArrivals::Parameter(fault) => {
            let field = format!("traffic.process.{process}.{}", fault.field);
            ImpossibleArrivals::Parameter(Fault { field, ..fault })
        }
        error => error,
    }
}

/// The time scale that brings `trace` to `rate`.
fn scale(trace: &Trace, rate: PerSecond) -> Result<f64, TrafficError> {
    let own = trace.rate().ok_or(TrafficError::NoDuration { packets: trace.packets() })?;
    let scale = own.0 / rate.0;
    check_time_scale(scale).map_err(|_| ImpossibleArrivals::NoRate(rate.0))?;
    Ok(scale)
}

fn read_trace(path: &Path) -> Result<Trace, TrafficError> {
    let unreadable = |source| TrafficError::Unreadable { path: path.to_owned(), source };
    let file = read(path, LONGEST_CAPTURE).map_err(unreadable)?;
    Trace::parse(&file).map_err(|source| TrafficError::Unusable { path: path.to_owned(), source })
}
