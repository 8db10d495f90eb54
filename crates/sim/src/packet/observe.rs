//! More of a point than its [`Outcome`]: any quantile, the histogram, each stream, time series,
//! the start that was cut, and single events.
//!
//! | module | holds |
//! |---|---|
//! | [`quantiles`] | any quantile of the delay, or how many packets it would take |
//! | [`histogram`] | the distributions of delays and service times |
//! | [`slower`] | the share of packets that take longer than a limit |
//! | [`streams`] | what each stream experiences |
//! | [`series`] | what happens in windows of simulated time |
//! | [`warmup`] | how the delay settles, and where the start was cut |
//! | [`events`] | the events of the first packets |
//! | `watch` | runs a host and shows every event |
//!
//! The runs of a point are repeated once their lengths and warm-ups are known, with the same arrivals, and this time
//! everything wanted is collected. So a point that is not observed costs nothing more, an observed one twice as much,
//! and its [`PointResult`] is the same.

pub mod events;
pub mod histogram;
pub mod quantiles;
pub mod series;
pub mod slower;
pub mod streams;
pub mod warmup;
pub(super) mod watch;

pub use events::{EventKind, EventTrace};
pub use histogram::Distribution;
pub use quantiles::QuantileFigure;
pub use series::TimeSeries;
pub use slower::SlowerShare;
pub use streams::StreamFigures;
pub use warmup::WarmupSeries;

use crate::packet::capacity::Capacity;
use crate::packet::host::{Packet, Shape};
use crate::packet::outcome::{Ended, Outcome};
use crate::packet::point::{Point, PointError, PointResult};
use crate::packet::steady::{RunExtent, SteadyState};
use crate::packet::system::Finished;
use core::ops::ControlFlow;
use quantiles::Delays;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use series::{MAX_WINDOWS, Windows};
use slower::Slower;
use streams::Streams;
use warmcore_scenario::Mixing;
use warmcore_stats::histogram::Filling;
use warmcore_stats::stopping::FIRST;
use warmcore_units::{Estimate, Fault, Nanos, PerSecond};
use warmup::Batches;
use watch::{Watcher, watch};

/// What is wanted of a point besides its result.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Observations {
    /// Quantiles of the delay, between 0 and 1.
    pub quantiles: Vec<f64>,
    /// A limit of the delay, to know the share of packets that take longer.
    pub slower_than: Option<Nanos>,
    /// The distributions of delays and service times.
    pub histogram: bool,
    /// The figures of each stream.
    pub streams: bool,
    /// A time series with windows of this length.
    pub window: Option<Nanos>,
    /// The delays at the start of the runs, and where they were cut.
    pub warmup: bool,
}

/// What was wanted of a point. Parts that were not wanted are empty.
///
/// A saturated host has no steady state: only its time series is given, of one run that ends while its queues grow.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Observed {
    /// Quantiles of the delay, as [wanted](Observations::quantiles).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<QuantileFigure>,
    /// The share of packets that take longer than a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower: Option<SlowerShare>,
    /// Delays after the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delays: Option<Distribution>,
    /// Service times after the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub services: Option<Distribution>,
    /// By stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamFigures>,
    /// By window of simulated time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<TimeSeries>,
    /// By batch of packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<WarmupSeries>,
}

/// What the runs that are observed may be.
#[derive(Clone, Copy, Debug)]
pub(in crate::packet) struct RunLimits {
    /// Runs that are asked for.
    pub(in crate::packet) replications: usize,
    /// Packets of each, at most.
    pub(in crate::packet) max_packets: u64,
    /// Packets left out at the start of each, if that is given.
    pub(in crate::packet) warmup_packets: u64,
    /// Whether runs are short and many.
    pub(in crate::packet) are_short: bool,
    /// Whether there is one run, of a trace.
    pub(in crate::packet) is_trace: bool,
}

/// Runs that are observed at the same time, at most, so that they need not all be in memory.
const AT_ONCE: usize = 16;

impl Observations {
    /// Whether nothing is wanted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks what can be known before anything is simulated.
    pub(in crate::packet) fn check(&self, limits: &RunLimits) -> Result<(), Fault> {
        self.quantiles.iter().try_for_each(|&p| quantiles::check(p, limits))?;
        if let Some(limit) = self.slower_than
            && !(limit.0 >= 0.0 && limit.0.is_finite())
        {
            return Err(Fault::new("slower_than", limit.0, "a time of zero or more"));
        }
        match self.window {
            Some(window) if !(window.0 > 0.0 && window.0.is_finite()) => {
                Err(Fault::new("time_series", window.0, "a time above zero"))
            }
            _ => Ok(()),
        }
    }

    /// What can be observed of a saturated host that settles after so many packets: its time series, over this extent.
    pub(in crate::packet) fn of_saturated(&self, settled: u64, max_packets: u64) -> (Self, RunExtent) {
        let packets = FIRST.max(settled).min(max_packets);
        let wanted = Self { window: self.window, ..Self::default() };
        (wanted, RunExtent { packets, warmup: 0 })
    }

    /// Checks that the windows of `runs` with packets at this `rate` are not too many.
    pub(in crate::packet) fn check_windows(&self, rate: PerSecond, runs: &[RunExtent]) -> Result<(), Fault> {
        let Some(window) = self.window else { return Ok(()) };
        let packets: u64 = runs.iter().map(|run| run.packets).sum();
        let all = Nanos(rate.interval().0 * packets as f64);
        if all.0 / window.0 <= MAX_WINDOWS as f64 {
            return Ok(());
        }
        let least = Nanos(all.0 / MAX_WINDOWS as f64);
        let expected =
            format!("at least {least}: the runs last {all} together, and have at most {MAX_WINDOWS} windows");
        Err(Fault::new("time_series", window, expected))
    }
}

impl Point<'_> {
    /// As [`simulate`](Self::simulate), with everything `wanted` besides.
    ///
    /// # Errors
    /// If the traffic cannot be generated, a quantile needs more packets than a run may have (the fault says how
    /// many), or a time series has more than [`MAX_WINDOWS`] windows.
    pub fn observe(self, wanted: &Observations) -> Result<(PointResult, Observed), PointError> {
        wanted.check(&self.limits())?;
        let capacity = self.capacity()?;
        self.observe_with(wanted, capacity)
    }

    /// As [`observe`](Self::observe), on a host with this `capacity`, which may have been measured at another rate.
    ///
    /// # Errors
    /// As [`observe`](Self::observe).
    pub fn observe_with(
        self,
        wanted: &Observations,
        capacity: Capacity,
    ) -> Result<(PointResult, Observed), PointError> {
        wanted.check(&self.limits())?;
        let (point, state) = self.state(&capacity)?;
        let result = point.result_of(capacity, state.as_ref().map(|state| state.outcome));
        let observed = match &state {
            Some(state) => point.observe_steady(wanted, state)?,
            None => point.observe_saturated(wanted)?,
        };
        Ok((result, observed))
    }

    fn limits(&self) -> RunLimits {
        RunLimits {
            replications: self.replications() as usize,
            max_packets: self.precision().max_packets,
            warmup_packets: self.warmup_packets().unwrap_or(0),
            are_short: self.mixing() == Mixing::Never,
            is_trace: self.is_trace(),
        }
    }

    fn observe_steady(&self, wanted: &Observations, state: &SteadyState) -> Result<Observed, PointError> {
        wanted.check_windows(self.rate, &state.runs)?;
        let mut all: Option<Observer> = None;
        let runs: Vec<(u64, RunExtent)> = (0..).zip(state.runs.iter().copied()).collect();
        for some in runs.chunks(AT_ONCE) {
            let observed = some
                .par_iter()
                .map(|&(replication, extent)| self.observe_run(wanted, replication, extent, runs.len()));
            for run in observed.collect::<Result<Vec<_>, PointError>>()? {
                match &mut all {
                    Some(all) => all.merge(run),
                    None => all = Some(run),
                }
            }
        }
        Ok(all.map(|all| all.observed(wanted, &self.limits(), &state.outcome)).unwrap_or_default())
    }

    /// The time series of a host whose queues grow.
    fn observe_saturated(&self, wanted: &Observations) -> Result<Observed, PointError> {
        let (wanted, extent) = wanted.of_saturated(self.settled(), self.precision().max_packets);
        wanted.check_windows(self.rate, &[extent])?;
        let run = self.observe_run(&wanted, 0, extent, 1)?;
        Ok(Observed { series: run.windows, ..Observed::default() })
    }

    fn observe_run(
        &self,
        wanted: &Observations,
        replication: u64,
        extent: RunExtent,
        runs: usize,
    ) -> Result<Observer, PointError> {
        let host = self.host(replication);
        let mut arrivals = self.traffic().source(self.rate, host.key)?;
        let mut run = Run::new(wanted, host.shape, extent, replication, runs);
        watch(&host, &mut *arrivals, &mut run);
        Ok(run.closed(replication))
    }
}

/// Collects what is wanted of one run.
pub(in crate::packet) struct Run {
    extent: RunExtent,
    finished: u64,
    delays: Option<Delays>,
    slower: Option<Slower>,
    /// Of delays and service times.
    histograms: Option<[Filling; 2]>,
    streams: Option<Streams>,
    windows: Option<Windows>,
    batches: Option<Batches>,
}

impl Watcher for Run {
    fn arrives(&mut self, packet: &Packet) -> ControlFlow<()> {
        if let Some(windows) = &mut self.windows {
            windows.arrives(packet);
        }
        ControlFlow::Continue(())
    }

    fn drops(&mut self, packet: &Packet) {
        if let Some(windows) = &mut self.windows {
            windows.drops(packet);
        }
    }

    fn finishes(&mut self, finished: &Finished) -> ControlFlow<()> {
        self.finished += 1;
        if let Some(delays) = &mut self.delays {
            delays.push(finished.delay().0);
        }
        if let Some(slower) = &mut self.slower {
            slower.finishes(finished.delay());
        }
        if let Some(windows) = &mut self.windows {
            windows.finishes(finished);
        }
        if let Some(batches) = &mut self.batches {
            batches.finishes(finished);
        }
        if self.finished > self.extent.warmup {
            if let Some([delays, services]) = &mut self.histograms {
                delays.push(finished.delay().0);
                services.push(finished.service().0);
            }
            if let Some(streams) = &mut self.streams {
                streams.finishes(finished);
            }
        }
        if self.finished == self.extent.packets { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Run {
    /// Collects what is `wanted` of the run of this number among `runs`, which is as long as `extent`.
    pub(in crate::packet) fn new(
        wanted: &Observations,
        shape: Shape,
        extent: RunExtent,
        replication: u64,
        runs: usize,
    ) -> Self {
        Self {
            extent,
            finished: 0,
            delays: (!wanted.quantiles.is_empty()).then(Delays::default),
            slower: wanted.slower_than.map(|limit| Slower::new(limit, extent)),
            histograms: wanted.histogram.then(Default::default),
            streams: wanted.streams.then(|| Streams::new(shape.streams, extent, runs)),
            windows: wanted.window.map(|window| Windows::new(window, shape.processors)),
            batches: (wanted.warmup && replication < warmup::SHOWN as u64)
                .then(|| Batches::new(replication, extent)),
        }
    }

    pub(in crate::packet) fn closed(self, replication: u64) -> Observer {
        Observer {
            delays: self.delays.map(|delays| vec![(delays, self.extent.warmup)]).unwrap_or_default(),
            slower: self.slower.iter().map(Slower::share).collect(),
            histograms: self.histograms.map(|both| both.map(|filling| filling.trimmed())),
            streams: self.streams.map(Streams::closed),
            windows: self.windows.map(|windows| windows.series(replication)),
            batches: self.batches.map(Batches::series),
        }
    }
}

/// What was collected of one run, or of several.
pub(in crate::packet) struct Observer {
    /// By run, with the warm-up of each.
    delays: Vec<(Delays, u64)>,
    /// By run.
    slower: Vec<Estimate<f64>>,
    histograms: Option<[histogram::Counts; 2]>,
    streams: Option<Streams>,
    pub(in crate::packet) windows: Option<TimeSeries>,
    batches: Option<WarmupSeries>,
}

impl Observer {
    /// Adds a later run.
    fn merge(&mut self, other: Self) {
        self.delays.extend(other.delays);
        self.slower.extend(other.slower);
        if let (Some(ours), Some(theirs)) = (&mut self.histograms, other.histograms) {
            ours.iter_mut().zip(&theirs).for_each(|(ours, theirs)| ours.merge(theirs));
        }
        if let (Some(ours), Some(theirs)) = (&mut self.streams, other.streams) {
            ours.merge(&theirs);
        }
        if let (Some(ours), Some(theirs)) = (&mut self.windows, other.windows) {
            ours.append(theirs);
        }
        if let (Some(ours), Some(theirs)) = (&mut self.batches, other.batches) {
            ours.append(theirs);
        }
    }

    /// The figures, without intervals where those of `outcome` have none.
    pub(in crate::packet) fn observed(
        self,
        wanted: &Observations,
        limits: &RunLimits,
        outcome: &Outcome,
    ) -> Observed {
        let has_intervals = matches!(outcome.ended, Ended::Precise | Ended::Exhausted | Ended::FixedLength)
            && outcome.delay.half_width.is_some_and(|half| half.0.is_finite());
        let quantile = |&p: &f64| {
            let figure = quantiles::figure(p, &self.delays, limits);
            if has_intervals { figure } else { figure.without_interval() }
        };
        let [delays, services] = match self.histograms {
            Some(both) => both.map(|counts| Some(Distribution::from(&counts))),
            None => [None, None],
        };
        let streams = self.streams.map(|streams| streams.figures());
        let slower = wanted.slower_than.map(|limit| SlowerShare::new(limit, &self.slower));
        let half_width = |share: SlowerShare| share.half_width.filter(|_| has_intervals);
        Observed {
            quantiles: wanted.quantiles.iter().map(quantile).collect(),
            slower: slower.map(|share| SlowerShare { half_width: half_width(share), ..share }),
            delays,
            services,
            streams: streams.map(|all| if has_intervals { all } else { all.without_intervals() }),
            series: self.windows,
            warmup: self.batches,
        }
    }
}
