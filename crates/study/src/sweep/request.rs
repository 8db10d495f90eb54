//! The fields that a sweep varies, and the resulting points.

use core::ops::RangeInclusive;
use serde::{Deserialize, Serialize};
use warmcore_scenario::document::Checked;
use warmcore_scenario::{PacketScenario, Parallelism, ProcessorPolicy, Unused};
use warmcore_units::{Fault, PerSecond};

/// The loads that are allowed. At lower ones a run lasts so long that its clock cannot resolve a packet's
/// time.
const LOADS: RangeInclusive<f64> = 1e-6..=10.0;

/// A scenario and the fields to vary: `sweep.toml`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Version of the document, [`Checked::SCHEMA`].
    pub schema: u32,
    /// What is varied.
    pub axes: Axes,
    /// Everything else.
    pub scenario: PacketScenario,
}

/// The values to vary; every combination of them is simulated. If a list is empty, the scenario's own value
/// is used.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Axes {
    /// Packets per second.
    pub rates_per_s: Vec<PerSecond>,
    /// Rates as fractions of each combination's capacity; used instead of `rates_per_s`.
    pub loads: Vec<f64>,
    /// How processing is made parallel.
    pub approaches: Vec<Parallelism>,
    /// Choices of a processor.
    pub policies: Vec<ProcessorPolicy>,
    /// Mean numbers of packets in a batch.
    pub batches: Vec<f64>,
    /// Numbers of processors.
    pub processors: Vec<u32>,
}

impl Checked for Request {
    const WHAT: &'static str = "sweep";
    const SCHEMA: u32 = 1;

    fn check(&self) -> Result<(), Fault> {
        Fault::check_schema(self.schema, Self::SCHEMA)?;
        let axes = &self.axes;
        if !axes.loads.is_empty() && !axes.rates_per_s.is_empty() {
            return Err(Fault::new("axes.loads", "given beside rates", "one of the two"));
        }
        if let Some(load) = axes.loads.iter().find(|load| !LOADS.contains(load)) {
            let expected =
                format!("fractions of the capacity from {:e} to {}, such as 0.9", LOADS.start(), LOADS.end());
            return Err(Fault::new("axes.loads", load, expected));
        }
        let any_rate = self.scenario.rate_per_s.unwrap_or(PerSecond(1.0));
        for curve in self.curves() {
            for point in self.points(&curve, Some(any_rate)) {
                point.check()?;
            }
        }
        Ok(())
    }
}

impl Axes {
    /// The number of points of a curve.
    #[must_use]
    pub fn rates(&self) -> usize {
        (self.rates_per_s.len() + self.loads.len()).max(1)
    }
}

impl Request {
    /// Every combination of everything but the rate, ordered by processors, then batches, approach and
    /// policy.
    #[must_use]
    pub fn curves(&self) -> Vec<PacketScenario> {
        let axes = &self.axes;
        let mut curves = vec![self.scenario.clone()];
        vary(&mut curves, &axes.processors, |point, &processors| point.processors = processors);
        vary(&mut curves, &axes.batches, |point, &mean| point.traffic.batch.mean = mean);
        vary(&mut curves, &axes.approaches, |point, &approach| point.scheduling.approach = approach);
        vary(&mut curves, &axes.policies, |point, &policy| point.scheduling.policy = policy);
        curves
    }

    /// Whether every point of the `earlier` request is also a point of this one, so that its results can be
    /// reused.
    #[must_use]
    pub fn includes(&self, earlier: &Self) -> bool {
        let ours = self.all_points();
        self.axes.loads.is_empty() == earlier.axes.loads.is_empty()
            && earlier.all_points().iter().all(|point| ours.contains(point))
    }

    /// Every point, with loads used as rates.
    fn all_points(&self) -> Vec<PacketScenario> {
        let one = Some(PerSecond(1.0));
        self.curves().iter().flat_map(|curve| self.points(curve, one)).collect()
    }

    /// Settings that do not affect any point: the number of stacks matters only if one of the approaches has
    /// several stacks.
    #[must_use]
    pub fn unused(&self) -> Vec<Unused> {
        let rate = self.any_rate();
        let points = self.curves().into_iter().map(|curve| PacketScenario { rate_per_s: rate, ..curve });
        let each: Vec<Vec<Unused>> = points.map(|point| point.unused()).collect();
        let everywhere = |field: &str| each.iter().all(|of| of.iter().any(|one| one.field == field));
        let first = each.first().cloned().unwrap_or_default();
        first.into_iter().filter(|one| everywhere(one.field)).collect()
    }

    /// One of the rates given (any of them if they are loads); `None` if there are none.
    pub(super) fn any_rate(&self) -> Option<PerSecond> {
        let of_load = self.axes.loads.first().map(|&load| PerSecond(load));
        self.axes.rates_per_s.first().copied().or(of_load).or(self.scenario.rate_per_s)
    }

    /// The points of `curve`. Its capacity must be known if loads are given.
    #[must_use]
    pub(super) fn points(&self, curve: &PacketScenario, capacity: Option<PerSecond>) -> Vec<PacketScenario> {
        let loads = self.axes.loads.iter().filter_map(|&load| Some(capacity? * load));
        let rates: Vec<PerSecond> = loads.chain(self.axes.rates_per_s.iter().copied()).collect();
        let mut points = vec![curve.clone()];
        vary(&mut points, &rates, |point, &rate| point.rate_per_s = Some(rate));
        points
    }
}

/// Replaces each scenario by one for each of `values`; without values the scenarios stay as they are.
fn vary<T>(scenarios: &mut Vec<PacketScenario>, values: &[T], set: impl Fn(&mut PacketScenario, &T)) {
    if values.is_empty() {
        return;
    }
    let varied = scenarios.iter().flat_map(|scenario| {
        values.iter().map(|value| {
            let mut scenario = scenario.clone();
            set(&mut scenario, value);
            scenario
        })
    });
    *scenarios = varied.collect();
}
