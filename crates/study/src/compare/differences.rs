//! What another scheduling changes at one rate, predicted and measured. Predictions are made to answer this.

use super::Compared;
use super::judge::{Judgement, relative};
use super::point::{ComparedPoint, JudgedQuantity, PredictionModel};
use warmcore_scenario::Scheduling;
use warmcore_units::{Estimate, PerSecond};

/// The largest error of a predicted difference that counts as good, as a fraction of the delay that both
/// differences refer to.
pub const LIMIT: f64 = 0.15;

/// The mean delay under one scheduling divided by that under the first one, minus one.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// The scheduling.
    pub scheduling: Scheduling,
    /// The rate.
    pub rate: PerSecond,
    /// According to the model.
    pub predicted: Estimate<f64>,
    /// According to the null model, if it has a value.
    pub null: Option<Estimate<f64>>,
    /// As measured.
    pub measured: Estimate<f64>,
}

impl Difference {
    /// Whether the predicted difference is within [`LIMIT`] of the measured one.
    #[must_use]
    pub fn judged(&self) -> Judgement {
        self.judge(self.predicted)
    }

    /// The same for the null model.
    #[must_use]
    pub fn null_judged(&self) -> Option<Judgement> {
        self.null.map(|null| self.judge(null))
    }

    fn judge(&self, predicted: Estimate<f64>) -> Judgement {
        let half = |estimate: Estimate<f64>| estimate.half_width.unwrap_or(f64::INFINITY);
        let error = predicted.mean - self.measured.mean;
        Judgement::new(Estimate::new(error, half(predicted).hypot(half(self.measured))), LIMIT)
    }

    /// Whether the better scheduling was predicted to be better; `None` if measurement or prediction cannot
    /// tell which one is, because the difference is within its own interval.
    #[must_use]
    pub fn order_is_right(&self) -> Option<bool> {
        let sign = |Estimate { mean, half_width }: Estimate<f64>| {
            half_width.is_some_and(|half| mean.abs() > half).then(|| mean.signum())
        };
        Some(sign(self.measured)? == sign(self.predicted)?)
    }
}

/// The differences between the first of `all` and each other one, at every rate at which both can be judged.
#[must_use]
pub fn differences(all: &[Compared]) -> Vec<Difference> {
    let Some((first, others)) = all.split_first() else { return Vec::new() };
    let of = |other: &Compared| {
        let pairs = first.points.iter().zip(&other.points);
        let scheduling = other.scheduling;
        pairs.filter_map(move |(first, other)| difference(scheduling, first, other)).collect::<Vec<_>>()
    };
    others.iter().flat_map(of).collect()
}

fn difference(scheduling: Scheduling, first: &ComparedPoint, other: &ComparedPoint) -> Option<Difference> {
    if !(first.is_judged() && other.is_judged()) {
        return None;
    }
    let between =
        |one, other| relative(JudgedQuantity::Delay.value_in(other), JudgedQuantity::Delay.value_in(one));
    let by = |source| Some(between(first.by(source)?, other.by(source)?));
    Some(Difference {
        scheduling,
        rate: other.rate,
        predicted: by(PredictionModel::Caches)?,
        null: by(PredictionModel::Null),
        measured: between(first.figures()?, other.figures()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(predicted: f64, measured: (f64, f64)) -> Difference {
        Difference {
            scheduling: Scheduling::default(),
            rate: PerSecond(1.0),
            predicted: Estimate::new(predicted, 0.01),
            null: None,
            measured: Estimate::new(measured.0, measured.1),
        }
    }

    #[test]
    fn the_wrong_order_is_noticed_where_the_clock_can_tell() {
        assert_eq!(difference(-0.1, (0.2, 0.05)).order_is_right(), Some(false));
        assert_eq!(difference(0.1, (0.2, 0.05)).order_is_right(), Some(true));
        assert_eq!(difference(-0.1, (0.02, 0.05)).order_is_right(), None);
    }

    #[test]
    fn a_predicted_difference_within_its_own_interval_has_no_order() {
        assert_eq!(difference(0.005, (0.2, 0.05)).order_is_right(), None);
        assert_eq!(difference(-0.005, (0.2, 0.05)).order_is_right(), None);
    }

    #[test]
    fn a_difference_is_judged_by_how_far_it_is_from_the_measured_one() {
        assert_eq!(difference(0.2, (0.22, 0.05)).judged(), Judgement::Good);
        assert_eq!(difference(-0.2, (0.22, 0.05)).judged(), Judgement::Off);
        assert_eq!(difference(0.1, (0.22, 0.05)).judged(), Judgement::Undecided);
        assert_eq!(difference(0.1, (0.22, 0.05)).null_judged(), None);
    }
}
