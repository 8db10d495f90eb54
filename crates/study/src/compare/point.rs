//! What comes of one load, predicted and measured, and where the difference comes from.

use super::overheads::RuntimeCosts;
use super::quiet::QUIET;
use core::fmt;
use warmcore_costs::Situation;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// A prediction within this fraction of what was measured is good.
pub const GOOD: f64 = 0.15;

/// One load, predicted and measured.
#[derive(Clone, Debug)]
pub struct ComparedPoint {
    /// As a fraction of the predicted capacity.
    pub load: f64,
    /// Packets per second that arrive.
    pub rate: PerSecond,
    /// What the simulator says; `None` if it says that the host is saturated.
    pub predicted: Option<Figures>,
    /// What the clock says; `None` if nothing was finished.
    pub measured: Option<Figures>,
    /// What the runtime cost in the rehearsals.
    pub costs: RuntimeCosts,
    /// The share of packets that met a time in which a worker was kept from running; they are left
    /// out of what was measured.
    pub disturbed: f64,
    /// The same of the rehearsal that the prediction is made with.
    pub rehearsal_disturbed: f64,
    /// Whether the processors were as near to each other as in all that was measured.
    pub near: bool,
}

/// What comes of a load.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Mean delay: from arrival to the end of service.
    pub delay: Estimate<Nanos>,
    /// Half of the packets are faster.
    pub p50: Estimate<Nanos>,
    /// One in a hundred is slower.
    pub p99: Estimate<Nanos>,
    /// Mean time in the protocol stack and its handler.
    pub stack: Estimate<Nanos>,
    /// The share of packets in each situation, by its index.
    pub situations: [f64; Situation::COUNT],
}

/// Where most of a difference comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    /// Nowhere: the prediction is good, or as good as can be told.
    None,
    /// Packets take longer or shorter in the stack than predicted.
    Stack,
    /// They wait longer or shorter for it, the runtime's own time included.
    Waiting,
}

impl ComparedPoint {
    /// The predicted mean delay over the measured one, less one, with its interval.
    #[must_use]
    pub fn error(&self) -> Option<Estimate<f64>> {
        let (predicted, measured) = (self.predicted.as_ref()?.delay, self.measured.as_ref()?.delay);
        let ratio = predicted.mean / measured.mean;
        let half = |estimate: Estimate<Nanos>| estimate.relative_half_width().unwrap_or(0.0);
        Some(Estimate::new(ratio - 1.0, ratio * half(predicted).hypot(half(measured))))
    }

    /// Whether the machine did so little else that prediction and measurement can be held against each
    /// other.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.near && self.disturbed <= QUIET && self.rehearsal_disturbed <= QUIET
    }

    /// Whether the prediction is within [`GOOD`] of what was measured; `None` if that cannot be judged.
    #[must_use]
    pub fn is_good(&self) -> Option<bool> {
        let error = self.error().filter(|_| self.is_quiet())?;
        Some(error.mean.abs() <= GOOD)
    }

    /// Where most of the difference comes from.
    #[must_use]
    pub fn term(&self) -> Option<Term> {
        let (predicted, measured) = (self.predicted.as_ref()?, self.measured.as_ref()?);
        let error = self.error()?;
        if error.mean.abs() <= GOOD.max(error.half_width.unwrap_or(0.0)) {
            return Some(Term::None);
        }
        let stack = (predicted.stack.mean - measured.stack.mean).0;
        let rest = (predicted.delay.mean - measured.delay.mean).0 - stack;
        Some(if stack.abs() > rest.abs() { Term::Stack } else { Term::Waiting })
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
mod tests {
    use super::*;

    fn exactly(nanos: f64) -> Estimate<Nanos> {
        Estimate::new(Nanos(nanos), Nanos(0.0))
    }

    fn figures(delay: f64, stack: f64) -> Figures {
        Figures {
            delay: exactly(delay),
            p50: exactly(delay),
            p99: exactly(delay),
            stack: exactly(stack),
            situations: [0.0; Situation::COUNT],
        }
    }

    fn point(predicted: (f64, f64), measured: (f64, f64)) -> ComparedPoint {
        ComparedPoint {
            load: 0.5,
            rate: PerSecond(1.0),
            predicted: Some(figures(predicted.0, predicted.1)),
            measured: Some(figures(measured.0, measured.1)),
            costs: RuntimeCosts { deciding: exactly(0.0), turning: exactly(0.0) },
            disturbed: 0.0,
            rehearsal_disturbed: 0.0,
            near: true,
        }
    }

    #[test]
    fn a_difference_is_laid_where_most_of_it_comes_from() {
        assert_eq!(point((1_100.0, 500.0), (1_000.0, 400.0)).term(), Some(Term::None));
        assert_eq!(point((1_300.0, 700.0), (1_000.0, 450.0)).term(), Some(Term::Stack));
        assert_eq!(point((700.0, 450.0), (1_000.0, 400.0)).term(), Some(Term::Waiting));
        assert_eq!(ComparedPoint { predicted: None, ..point((1.0, 1.0), (1.0, 1.0)) }.term(), None);
    }

    #[test]
    fn the_error_is_relative_to_the_clock() {
        let error = point((1_200.0, 1.0), (1_000.0, 1.0)).error().unwrap();
        assert!((error.mean - 0.2).abs() < 1e-12);
        assert_eq!(point((1_200.0, 1.0), (1_000.0, 1.0)).is_good(), Some(false));
        let noisy = ComparedPoint { disturbed: 0.3, ..point((1_000.0, 1.0), (1_000.0, 1.0)) };
        assert!(noisy.error().is_some() && noisy.is_good().is_none());
    }
}
