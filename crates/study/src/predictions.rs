//! Predictions of a study: what they are, how uncertain they are, and why there may be none.
//!
//! [`predict`](crate::predict) simulates them and [`resample`](crate::resample) says how they change with other
//! costs; [`decide`](crate::decide) and the report only read them.

use warmcore_costs::execution::IncompleteProfile;
use warmcore_scenario::Combination;
use warmcore_sim::packet::{Capacity, Outcome, PointError};
use warmcore_units::{Estimate, Nanos, PerSecond};
use warmcore_workload::ImpossibleArrivals;

/// A load at which a machine is neither idle nor under pressure, as a fraction of the common default's
/// capacity.
pub const ORDINARY_LOAD: f64 = 0.5;

/// Half the width of the interval that holds 95% of a normal distribution, in standard deviations.
pub const NORMAL_95: f64 = 1.96;

/// The predictions for one number of processors.
#[derive(Clone, PartialEq, Debug)]
pub struct HostPredictions {
    /// The number of processors. There are as many streams, and under IPS as many stacks.
    pub processors: u32,
    /// The arrival rates, ascending.
    pub rates: Vec<PerSecond>,
    /// Each combination's capacity and its points.
    pub curves: Vec<Curve>,
    /// The changes of the predictions with other costs that are as likely as the measured ones.
    pub draws: Vec<Draw>,
    /// How much a ratio may be off in another study: 95% half-width of its logarithm.
    pub between_studies: f64,
}

/// One combination of policies at all rates.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// The combination.
    pub combination: Combination,
    /// The highest rate it keeps up with.
    pub capacity: Capacity,
    /// The outcome at each of the host's rates; `None` if the combination is saturated there.
    pub points: Vec<Option<Outcome>>,
}

/// How the predictions for a host change with other costs that are as likely as the measured ones.
#[derive(Clone, PartialEq, Debug)]
pub struct Draw {
    /// The factor of each curve's capacity.
    pub capacities: Vec<f64>,
    /// The factors of the figures of each curve at each rate; `None` if the combination is saturated, with
    /// these costs or with the measured ones.
    pub factors: Vec<Vec<Option<[f64; PointMetric::ALL.len()]>>>,
}

impl Draw {
    /// The factor of a curve's mean delay at a rate.
    pub(crate) fn delay(&self, curve: usize, rate: usize) -> Option<f64> {
        Some(self.factors[curve][rate]?[PointMetric::Delay as usize])
    }
}

/// A figure of the packets of one point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointMetric {
    /// Their mean delay.
    Delay,
    /// The delay that 99% of the packets do not exceed.
    P99,
    /// Their mean time in service.
    Service,
}

impl PointMetric {
    /// All of them, in the order of a [`Draw`]'s factors.
    pub const ALL: [Self; 3] = [Self::Delay, Self::P99, Self::Service];

    /// This figure of `outcome`, with the half-width of the simulation alone.
    #[must_use]
    pub const fn simulated(self, outcome: &Outcome) -> Estimate<Nanos> {
        match self {
            Self::Delay => outcome.delay,
            Self::P99 => outcome.quantiles.p99,
            Self::Service => outcome.service,
        }
    }
}

/// Why a prediction failed.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// The profile lacks costs that are needed.
    #[error(transparent)]
    Profile(#[from] IncompleteProfile),
    /// Such arrivals are impossible.
    #[error(transparent)]
    Arrivals(#[from] ImpossibleArrivals),
    /// A point cannot be simulated.
    #[error(transparent)]
    Point(#[from] PointError),
    /// A rate that no combination keeps up with.
    #[error(
        "`prediction.rates_per_s` asks for {asked}, expected at most {best}: the capacity of the best \
         combination ({combination}) on {processors} processors"
    )]
    AboveCapacity {
        /// The rate.
        asked: PerSecond,
        /// The highest capacity.
        best: PerSecond,
        /// The combination that has it.
        combination: Combination,
        /// The number of processors.
        processors: u32,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl HostPredictions {
    /// The outcome of one curve at one rate, if it certainly has a steady state there.
    pub(crate) fn steady(&self, curve: usize, rate: usize) -> Option<Outcome> {
        self.curves[curve].points[rate].and_then(Outcome::steady)
    }

    /// A figure of one curve at one rate, with the half-width from the simulation and the costs; `None` if it
    /// is saturated.
    pub(crate) fn figure(&self, figure: PointMetric, of: usize, rate: usize) -> Option<Estimate<Nanos>> {
        let simulated = figure.simulated(self.curves[of].points[rate].as_ref()?);
        if simulated.half_width.is_some_and(|half| !half.0.is_finite()) {
            return Some(simulated);
        }
        let mean = simulated.mean.0;
        let factors = self.draws.iter().filter_map(|draw| Some(draw.factors[of][rate]?[figure as usize]));
        let Estimate { mean, half_width } = scattered(mean, factors);
        Some(Estimate { mean: Nanos(mean), half_width: half_width.map(Nanos) })
    }

    /// Whether one curve keeps up with one rate under all drawn costs.
    pub(crate) fn always_keeps_up(&self, of: usize, rate: usize) -> bool {
        self.draws.iter().all(|draw| draw.factors[of][rate].is_some())
    }

    /// The mean delay of one curve as a multiple of another's at one rate; `None` where one of them is
    /// saturated.
    pub(crate) fn delay_ratio(&self, of: usize, over: usize, rate: usize) -> Option<Estimate<f64>> {
        let delay = |curve: usize| Some(self.steady(curve, rate)?.delay.mean.0);
        let factors =
            self.draws.iter().filter_map(|draw| Some(draw.delay(of, rate)? / draw.delay(over, rate)?));
        Some(scattered(delay(of)? / delay(over)?, factors))
    }

    /// The capacity of one curve as a multiple of another's.
    pub(crate) fn capacity_ratio(&self, of: usize, over: usize) -> Estimate<f64> {
        let rate = |curve: usize| self.curves[curve].capacity.rate.mean.0;
        scattered(
            rate(of) / rate(over),
            self.draws.iter().map(|draw| draw.capacities[of] / draw.capacities[over]),
        )
    }

    /// `ratio` with a half-width that includes the differences between studies of the machine.
    pub(crate) fn in_another_study(&self, ratio: Estimate<f64>) -> Estimate<f64> {
        let relative = ratio.relative_half_width().unwrap_or(0.0).hypot(self.between_studies);
        Estimate::new(ratio.mean, ratio.mean * relative)
    }

    /// The capacity of one curve.
    pub(crate) fn capacity(&self, of: usize) -> Estimate<PerSecond> {
        let rate = scattered(
            self.curves[of].capacity.rate.mean.0,
            self.draws.iter().map(|draw| draw.capacities[of]),
        );
        Estimate { mean: PerSecond(rate.mean), half_width: rate.half_width.map(PerSecond) }
    }
}

/// `mean` with the half-width given by the spread of `factors`; infinite with fewer than two.
fn scattered(mean: f64, factors: impl Iterator<Item = f64>) -> Estimate<f64> {
    let logarithms: Vec<f64> = factors.map(f64::ln).collect();
    let count = logarithms.len() as f64;
    let centre = logarithms.iter().sum::<f64>() / count;
    let squares: f64 = logarithms.iter().map(|of| (of - centre).powi(2)).sum();
    let deviation = if count < 2.0 { f64::INFINITY } else { (squares / (count - 1.0)).sqrt() };
    Estimate::new(mean, mean * NORMAL_95 * deviation)
}
