//! One load, predicted and measured, and where the difference comes from.

use super::figures::{LoadFigures, Repeated};
use super::judge::{Judgement, relative};
use super::predict::Predicted;
use super::quiet::QUIET;
use core::fmt;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The largest share of time in a stack, used by others at the same time, that can be neglected. At a fifth,
/// packets were measured to take a fifth longer than in turns.
pub const NEGLIGIBLE_SHARE_TOGETHER: f64 = 0.05;

/// One load, predicted and measured.
#[derive(Clone, Debug)]
pub struct ComparedPoint {
    /// As a fraction of the predicted capacity.
    pub load: f64,
    /// Packets per second that arrive.
    pub rate: PerSecond,
    /// The prediction.
    pub predicted: Predicted,
    /// The measurement; `None` if no packet was finished.
    pub measured: Option<Repeated>,
}

/// The quantities that are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JudgedQuantity {
    /// The mean delay.
    Delay,
    /// The mean time in stack and handler.
    Stack,
    /// The delay that one packet in a hundred exceeds.
    P99,
}

/// The models that predict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PredictionModel {
    /// The model of caches.
    Caches,
    /// The same without the effects of caches.
    Null,
}

/// The main cause of a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    /// No cause: the prediction is good, or not known to be bad.
    None,
    /// Packets take longer or shorter in the stack than predicted.
    Stack,
    /// They wait longer or shorter for it, the runtime's own time included.
    Waiting,
}

impl JudgedQuantity {
    /// The largest error of a good prediction.
    #[must_use]
    pub const fn limit(self) -> f64 {
        match self {
            Self::Delay => 0.15,
            Self::Stack => 0.1,
            Self::P99 => 0.25,
        }
    }

    /// The value of this quantity in `figures`.
    #[must_use]
    pub const fn value_in(self, figures: &LoadFigures) -> Estimate<Nanos> {
        match self {
            Self::Delay => figures.delay,
            Self::Stack => figures.stack,
            Self::P99 => figures.p99,
        }
    }
}

impl ComparedPoint {
    /// The prediction of `source`, unless it predicts saturation.
    #[must_use]
    pub const fn by(&self, source: PredictionModel) -> Option<&LoadFigures> {
        match source {
            PredictionModel::Caches => self.predicted.model.as_ref(),
            PredictionModel::Null => self.predicted.null.as_ref(),
        }
    }

    /// The measured figures.
    #[must_use]
    pub fn figures(&self) -> Option<&LoadFigures> {
        self.measured.as_ref().map(|measured| &measured.figures)
    }

    /// The prediction of `source` divided by the measurement, minus one, with its interval.
    #[must_use]
    pub fn error(&self, quantity: JudgedQuantity, source: PredictionModel) -> Option<Estimate<f64>> {
        Some(relative(quantity.value_in(self.by(source)?), quantity.value_in(self.figures()?)))
    }

    /// Whether the machine was quiet enough for prediction and measurement to be compared.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.is_near() && self.disturbed() <= QUIET
    }

    /// Whether this load is modelled. It is not if workers use one stack at the same time.
    #[must_use]
    pub fn is_modelled(&self) -> bool {
        self.predicted.together <= NEGLIGIBLE_SHARE_TOGETHER
    }

    /// Whether prediction and measurement can be compared.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        self.is_modelled() && self.is_quiet()
    }

    /// Whether the processors were at the same distance as when the costs were measured.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.measured.as_ref().is_none_or(|measured| measured.near)
    }

    /// The share of packets that arrived while a worker was kept from running.
    #[must_use]
    pub fn disturbed(&self) -> f64 {
        self.measured.as_ref().map_or(1.0, |measured| measured.disturbed)
    }

    /// Whether `quantity` is predicted within its limit; `None` if that cannot be judged.
    #[must_use]
    pub fn judged(&self, quantity: JudgedQuantity, source: PredictionModel) -> Option<Judgement> {
        let error = self.error(quantity, source).filter(|_| self.is_judged())?;
        Some(Judgement::new(error, quantity.limit()))
    }

    /// Whether the prediction is good: both the mean delay and the time in the stack are, since otherwise a
    /// right mean is right by chance. `None` if that cannot be judged.
    #[must_use]
    pub fn judgement(&self, source: PredictionModel) -> Option<Judgement> {
        Some(self.judged(JudgedQuantity::Delay, source)?.and(self.judged(JudgedQuantity::Stack, source)?))
    }

    /// Why the prediction cannot be judged; `None` if it can.
    #[must_use]
    pub fn unjudged(&self) -> Option<&'static str> {
        let reason = if self.measured.is_none() {
            "no packet was finished while the workers ran"
        } else if !self.is_near() {
            "the processors were not as near as the prediction takes them to be"
        } else if !self.is_quiet() {
            "the machine was too busy with other work"
        } else if !self.is_modelled() {
            "workers use one stack at the same time, which is not modelled"
        } else if self.by(PredictionModel::Caches).is_none() {
            "packets come faster than they could be processed, as predicted"
        } else {
            return None;
        };
        Some(reason)
    }

    /// The main cause of the difference in mean delay.
    #[must_use]
    pub fn term(&self) -> Option<Term> {
        let (predicted, measured) = (self.by(PredictionModel::Caches)?, self.figures()?);
        let error = self.error(JudgedQuantity::Delay, PredictionModel::Caches)?;
        if Judgement::new(error, JudgedQuantity::Delay.limit()) != Judgement::Off {
            return Some(Term::None);
        }
        let stack = (predicted.stack.mean - measured.stack.mean).0;
        let rest = (predicted.delay.mean - measured.delay.mean).0 - stack;
        Some(if stack.abs() > rest.abs() { Term::Stack } else { Term::Waiting })
    }
}

impl fmt::Display for JudgedQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Delay => "mean delay",
            Self::Stack => "time in the stack",
            Self::P99 => "99th percentile",
        })
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Stack => "time in the stack",
            Self::Waiting => "waiting and dispatch",
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use warmcore_costs::Situation;

    /// LoadFigures without uncertainty.
    pub(in crate::compare) fn figures(delay: f64, stack: f64) -> LoadFigures {
        let exactly = |nanos: f64| Estimate::new(Nanos(nanos), Nanos(0.0));
        LoadFigures {
            delay: exactly(delay),
            p50: exactly(delay),
            p99: exactly(delay),
            stack: exactly(stack),
            situations: [0.0; Situation::COUNT],
        }
    }

    /// A point with these predicted and measured values of mean delay and time in the stack.
    pub(in crate::compare) fn point(predicted: (f64, f64), measured: (f64, f64)) -> ComparedPoint {
        let measured = figures(measured.0, measured.1);
        ComparedPoint {
            load: 0.5,
            rate: PerSecond(1.0),
            predicted: Predicted {
                model: Some(figures(predicted.0, predicted.1)),
                null: None,
                together: 0.0,
            },
            measured: Some(Repeated {
                overhead: measured.stack,
                throughput: PerSecond(1.0),
                figures: measured,
                disturbed: 0.0,
                near: true,
            }),
        }
    }

    #[test]
    fn a_difference_is_laid_where_most_of_it_comes_from() {
        assert_eq!(point((1_100.0, 500.0), (1_000.0, 400.0)).term(), Some(Term::None));
        assert_eq!(point((1_300.0, 700.0), (1_000.0, 450.0)).term(), Some(Term::Stack));
        assert_eq!(point((700.0, 450.0), (1_000.0, 400.0)).term(), Some(Term::Waiting));
    }

    #[test]
    fn a_mean_is_not_good_where_the_stack_is_off() {
        let by_chance = point((1_000.0, 300.0), (1_000.0, 400.0));
        assert_eq!(by_chance.judged(JudgedQuantity::Delay, PredictionModel::Caches), Some(Judgement::Good));
        assert_eq!(by_chance.judgement(PredictionModel::Caches), Some(Judgement::Off));
        assert_eq!(
            point((1_100.0, 380.0), (1_000.0, 400.0)).judgement(PredictionModel::Caches),
            Some(Judgement::Good)
        );
    }

    #[test]
    fn workers_in_one_stack_at_once_are_measured_and_not_judged() {
        let mut crowded = point((1_000.0, 1.0), (1_000.0, 1.0));
        assert_eq!(crowded.judgement(PredictionModel::Caches), Some(Judgement::Good));
        crowded.predicted.together = 0.2;
        assert!(
            crowded.error(JudgedQuantity::Stack, PredictionModel::Caches).is_some() && crowded.is_quiet()
        );
        assert_eq!(
            (crowded.judgement(PredictionModel::Caches), crowded.judgement(PredictionModel::Null)),
            (None, None)
        );
    }

    #[test]
    fn a_busy_machine_is_measured_and_not_judged() {
        let mut noisy = point((1_000.0, 1.0), (1_000.0, 1.0));
        noisy.measured.as_mut().unwrap().disturbed = 0.3;
        assert!(noisy.error(JudgedQuantity::Delay, PredictionModel::Caches).is_some());
        assert_eq!(
            (noisy.judgement(PredictionModel::Caches), noisy.judgement(PredictionModel::Null)),
            (None, None)
        );
    }
}
