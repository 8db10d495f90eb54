//! A sweep: one scenario varied along some of its fields, every combination of them simulated.
//!
//! | module | holds |
//! |---|---|
//! | [`request`] | which fields are varied, and the resulting points |
//! | [`present`] | the report |
//!
//! A [`Request`] gives curves, one for each combination of everything but the rate; the points of a curve lie
//! along the rates. If rates are given as loads, which are fractions of a curve's capacity, the capacity is
//! measured first. That is quick, and gives the same result each time.

pub mod present;
pub mod request;

pub use request::{Axes, Request};

use crate::point::{self, NamedFigures};
use rayon::prelude::*;
use std::borrow::Cow;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use warmcore_costs::Profile;
use warmcore_record::Columns;
use warmcore_record::columns::ColumnsError;
use warmcore_scenario::document::Checked;
use warmcore_scenario::{OpenTraffic, PacketScenario, TrafficError};
use warmcore_sim::packet::{Point, PointError, PointResult, highest_rate};
use warmcore_sim::sweep::{SweepError as Ended, sweep};
use warmcore_units::PerSecond;

/// A sweep whose points can all be simulated.
#[derive(Clone, Debug)]
pub struct SweepPlan {
    request: Request,
    /// The traffic of the request. A trace is used by every point.
    traffic: OpenTraffic,
    points: Vec<PacketScenario>,
}

/// The results of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Swept {
    /// The request.
    pub request: Request,
    /// The points with their results: curve after curve, in the order of the rates given.
    pub points: Vec<(PacketScenario, PointResult)>,
}

/// Why a sweep failed.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A point cannot be simulated.
    #[error(transparent)]
    Point(#[from] PointError),
    /// A finished point could not be saved.
    #[error("cannot save a finished point: {0}")]
    Keep(Box<dyn Error + Send + Sync>),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl SweepPlan {
    /// The points of `request` on a host with the costs of `profile`.
    ///
    /// # Errors
    /// If one of the points cannot be simulated.
    pub fn new(request: Request, profile: &Profile) -> Result<Self, PointError> {
        request.check()?;
        let traffic = request.scenario.traffic.open()?;
        if !traffic.is_closed() {
            traffic.rate(request.any_rate())?;
        }
        let curves = request.curves();
        for curve in &curves {
            curve.check_stacks(traffic.streams())?;
            curve.check_length()?;
        }
        let points = curves.into_par_iter().map(|curve| {
            let capacity = match request.axes.loads.is_empty() {
                true => None,
                false => Some(capacity(&curve, &traffic, profile)?),
            };
            Ok(request.points(&curve, capacity))
        });
        let points = points.collect::<Result<Vec<_>, PointError>>()?.concat();
        Ok(Self { request, traffic, points })
    }

    /// Simulates every point, in parallel.
    ///
    /// A point whose result is `known` from an earlier run is not simulated again. Each new result is passed
    /// to `finished`, so that it can be saved. `progress` is called with the number of finished points and
    /// their total. No point is begun once `stop` is set.
    ///
    /// # Errors
    /// If a point cannot be simulated, `finished` fails, or `stop` is set.
    pub fn run(
        self,
        profile: &Profile,
        known: impl Fn(&PacketScenario) -> Option<PointResult> + Sync,
        finished: impl Fn(&PacketScenario, &PointResult) -> Result<(), Box<dyn Error + Send + Sync>> + Sync,
        progress: impl Fn(usize, usize) + Sync,
        stop: &AtomicBool,
    ) -> Result<Swept, SweepError> {
        let (done, all) = (AtomicUsize::new(0), self.points.len());
        let tell = || progress(1 + done.fetch_add(1, Ordering::Relaxed), all);
        let results = sweep(
            &self.points,
            |point| known(point).inspect(|_| tell()),
            |point| {
                let traffic = traffic_of(point, &self.traffic).map_err(PointError::from)?;
                Ok(Point::new(point, &traffic, profile)?.simulate()?)
            },
            |point, result| {
                finished(point, result).map_err(SweepError::Keep)?;
                tell();
                Ok(())
            },
            stop,
        );
        let results = results.map_err(|ended| match ended {
            Ended::Point(error) => error,
            Ended::Interrupted => SweepError::Interrupted,
        })?;
        Ok(Swept { request: self.request, points: self.points.into_iter().zip(results).collect() })
    }
}

/// The capacity of `curve`.
fn capacity(
    curve: &PacketScenario,
    traffic: &OpenTraffic,
    profile: &Profile,
) -> Result<PerSecond, PointError> {
    let traffic = traffic_of(curve, traffic)?;
    Ok(highest_rate(curve, &traffic, profile)?.rate.mean)
}

/// The traffic of `point`, in a sweep over `traffic`. No axis varies a trace, so all points share it.
fn traffic_of<'a>(
    point: &PacketScenario,
    traffic: &'a OpenTraffic,
) -> Result<Cow<'a, OpenTraffic>, TrafficError> {
    Ok(match traffic.trace() {
        Some(_) => Cow::Borrowed(traffic),
        None => Cow::Owned(point.traffic.generated()?),
    })
}

impl Swept {
    /// One row per point: its scenario and its result.
    ///
    /// # Errors
    /// Never, as long as every column has its own name.
    pub fn columns(&self) -> Result<Columns, ColumnsError> {
        point::columns(&self.points)
    }

    /// The figures of each point, in order.
    pub fn figures(&self) -> impl Iterator<Item = NamedFigures> {
        self.points.iter().map(|(scenario, result)| {
            NamedFigures::from_scenario(scenario).followed_by(NamedFigures::from_result(result))
        })
    }

    /// The points of each curve.
    pub fn curves(&self) -> impl Iterator<Item = &[(PacketScenario, PointResult)]> {
        let along = self.request.axes.rates().max(1);
        self.points.chunks(along)
    }
}

#[cfg(test)]
mod tests;
