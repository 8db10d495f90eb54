//! Traffic whose files have been read: it makes arrivals.

use super::{Process, Traffic};
use std::io;
use std::path::{Path, PathBuf};
use warmcore_files::{LONGEST_CAPTURE, read};
use warmcore_units::{Fault, PerSecond, StreamId};
use warmcore_workload::trace::check_time_scale;
use warmcore_workload::{
    Arrivals, Constant, ImpossibleArrivals, Key, Marks, Modulated, Periodic, Poisson, SelfSimilar,
    StreamChoice, Trace, TraceError, Trains, WithDirections, WithSizes,
};

/// A sound description with all that it names: it makes arrivals at any rate, any number of times.
#[derive(Clone, Debug)]
pub struct OpenTraffic {
    traffic: Traffic,
    trace: Option<Trace>,
}

/// Traffic cannot be made as described.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// A field that cannot be used.
    #[error(transparent)]
    Field(#[from] Fault),
    /// Arrivals that cannot be made at the rate asked for.
    #[error(transparent)]
    Arrivals(#[from] ImpossibleArrivals),
    /// The file of a trace could not be read at all.
    #[error("`process.trace.file`: cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file of a trace holds none that can be used.
    #[error("`process.trace.file`: {}: {source}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        source: TraceError,
    },
    /// The packets of a trace have no rate, and no scale brings them to one.
    #[error(
        "`process.trace.file`: it tells no rate and cannot be brought to one, since {}: a rate is between packets; \
         give a capture of packets that come at different times",
        if *packets == 1 { "it has one packet".to_owned() } else { format!("all its {packets} packets come at once") }
    )]
    NoDuration {
        /// How many packets it has.
        packets: usize,
    },
}

impl OpenTraffic {
    pub(super) fn new(traffic: &Traffic, base: &Path) -> Result<Self, TrafficError> {
        traffic.check()?;
        let trace = match &traffic.process {
            Process::Trace(trace) => Some(read_trace(&base.join(&trace.file))?),
            _ => None,
        };
        Ok(Self { traffic: traffic.clone(), trace })
    }

    pub(super) fn generated(traffic: &Traffic) -> Result<Self, TrafficError> {
        traffic.check()?;
        if let Process::Trace(_) = traffic.process {
            return Err(
                Fault::new("process", "trace", "a process that is generated: no file is read here").into()
            );
        }
        Ok(Self { traffic: traffic.clone(), trace: None })
    }

    /// How many streams there are.
    #[must_use]
    pub fn streams(&self) -> u32 {
        self.trace.as_ref().map_or(self.traffic.streams, Trace::streams)
    }

    /// The trace, if it is one.
    #[must_use]
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }

    /// The rate it has by itself: a trace's, at its time scale. `None` where a rate must be given.
    #[must_use]
    pub fn own_rate(&self) -> Option<PerSecond> {
        let Process::Trace(file) = &self.traffic.process else { return None };
        let rate = self.trace.as_ref()?.rate()?;
        Some(rate * file.time_scale.recip())
    }

    /// The rate of the packets if `asked` for, or else their own.
    ///
    /// # Errors
    /// If there is none.
    pub fn rate(&self, asked: Option<PerSecond>) -> Result<PerSecond, TrafficError> {
        let trace = self.trace.as_ref().filter(|trace| trace.rate().is_none());
        match (trace, asked.or_else(|| self.own_rate())) {
            (Some(trace), _) => Err(TrafficError::NoDuration { packets: trace.packets() }),
            (None, rate) => {
                Ok(rate.ok_or_else(|| Fault::new("rate_per_s", "missing", "packets per second, above 0"))?)
            }
        }
    }

    /// The share of the packets that each stream has; they add up to 1.
    ///
    /// # Errors
    /// If the streams are impossible.
    pub fn shares(&self) -> Result<Vec<f64>, TrafficError> {
        match &self.trace {
            Some(trace) => Ok(trace.shares()),
            None => Ok(self.traffic.popularity.shares(self.traffic.streams)?),
        }
    }

    /// The arrivals at a mean of `rate` packets per second. A trace's times are scaled to reach it;
    /// it ends, all others do not.
    ///
    /// # Errors
    /// If there are no such arrivals at this rate.
    pub fn source(&self, rate: PerSecond, key: Key) -> Result<Box<dyn Arrivals>, TrafficError> {
        self.marked(self.bare_source(rate, key)?, key)
    }

    /// The same, but that a trace does not end: its packets come over and over.
    ///
    /// # Errors
    /// As [`source`](Self::source).
    pub fn endless(&self, rate: PerSecond, key: Key) -> Result<Box<dyn Arrivals>, TrafficError> {
        match &self.trace {
            Some(trace) => self.marked(Box::new(trace.cycle(scale(trace, rate)?)?), key),
            None => self.source(rate, key),
        }
    }

    /// `source` with the sizes and directions of the description.
    fn marked(&self, mut source: Box<dyn Arrivals>, key: Key) -> Result<Box<dyn Arrivals>, TrafficError> {
        if !self.traffic.sizes.is_empty() {
            source = Box::new(WithSizes::new(source, &self.traffic.sizes, key)?);
        }
        if self.traffic.send_fraction > 0.0 {
            source = Box::new(WithDirections::new(source, self.traffic.send_fraction, key)?);
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
            // Opened traffic has read its trace.
            Process::Trace(_) => return Err(TrafficError::NoDuration { packets: 0 }),
        })
    }

    /// The streams of one packet after the other, without end, in the proportions of the traffic:
    /// what is waiting where more arrives than can be served. Batches stay together, and a trace
    /// its order; the packets of other processes are drawn one by one.
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

/// Names the field of a fault that a process shows at some rates alone, as those of a scenario are named.
fn at_rate(process: &str) -> impl FnOnce(ImpossibleArrivals) -> ImpossibleArrivals {
    move |error| match error {
        ImpossibleArrivals::Parameter(fault) => {
            let field = format!("traffic.process.{process}.{}", fault.field);
            ImpossibleArrivals::Parameter(Fault { field, ..fault })
        }
        error => error,
    }
}

/// What brings the times of `trace` to `rate`.
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
