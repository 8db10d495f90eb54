//! One load, predicted and measured, and where the difference comes from.

use super::figures::ServerFigures;
use crate::compare::judge::{Judgement, relative};
use core::fmt;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The largest error of a good prediction.
pub const LIMIT: f64 = 0.2;
/// Most requests that may be lost for a run to be compared, as a share.
const LOST: f64 = 1e-3;

/// The largest share of requests that stalls may delay.
const DISTURBED: f64 = 0.25;

/// One load, predicted and measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ServerPoint {
    /// As a fraction of the predicted capacity.
    pub load: f64,
    /// Requests per second.
    pub rate: PerSecond,
    /// The prediction; `None` if it is that the server does not keep up.
    pub predicted: Option<ServerFigures>,
    /// The measurement; `None` if no run can be compared.
    pub measured: Option<ServerFigures>,
    /// The share of requests without a reply, in all runs.
    pub lost: f64,
    /// The share of requests that stalls of the machine delayed, which are left out of the delays.
    pub disturbed: f64,
    /// Whether sources were so late in a run that they gave up.
    pub fell_behind: bool,
}

/// The quantities that are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JudgedQuantity {
    /// The mean delay.
    Delay,
    /// The processor time for a request.
    Cpu,
}

/// The part of a prediction that is furthest from the measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    /// No part: the prediction is good, or not known to be bad.
    None,
    /// The worker's processor time.
    WorkerCpu,
    /// The sender's call, softirq included.
    Call,
    /// What a delay has beyond both: late sources, wake-ups, and waiting.
    Waiting,
}

impl JudgedQuantity {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Delay, Self::Cpu];

    /// The value of this quantity in `figures`.
    #[must_use]
    pub fn value_in(self, figures: &ServerFigures) -> Estimate<Nanos> {
        match self {
            Self::Delay => figures.delay,
            Self::Cpu => figures.cpu(),
        }
    }
}

impl ServerPoint {
    /// The prediction divided by the measurement, minus one, with its interval.
    #[must_use]
    pub fn error(&self, quantity: JudgedQuantity) -> Option<Estimate<f64>> {
        let (predicted, measured) = (self.predicted?, self.measured?);
        Some(relative(quantity.value_in(&predicted), quantity.value_in(&measured)))
    }

    /// Whether `quantity` is predicted within [`LIMIT`]; `None` if that cannot be judged.
    #[must_use]
    pub fn judged(&self, quantity: JudgedQuantity) -> Option<Judgement> {
        self.unjudged().is_none().then_some(())?;
        Some(Judgement::new(self.error(quantity)?, LIMIT))
    }

    /// Whether both quantities are predicted well.
    #[must_use]
    pub fn judgement(&self) -> Option<Judgement> {
        Some(self.judged(JudgedQuantity::Delay)?.and(self.judged(JudgedQuantity::Cpu)?))
    }

    /// Why the prediction cannot be judged; `None` if it can.
    #[must_use]
    pub fn unjudged(&self) -> Option<&'static str> {
        if self.measured.is_none() {
            Some("no request was answered")
        } else if self.predicted.is_none() {
            Some("the server does not keep up, as predicted")
        } else if self.fell_behind {
            Some("requests could not be sent as fast as they were due")
        } else if self.disturbed > DISTURBED {
            Some("the machine stood still too often")
        } else if self.lost > LOST {
            Some("requests were lost")
        } else {
            None
        }
    }

    /// The part of the prediction that is furthest from the measurement, if it is not good.
    #[must_use]
    pub fn term(&self) -> Option<Term> {
        if self.judgement()? != Judgement::Off {
            return Some(Term::None);
        }
        let (predicted, measured) = (self.predicted?, self.measured?);
        let away = |value: &dyn Fn(&ServerFigures) -> f64| (value(&predicted) - value(&measured)).abs();
        let terms = [
            (Term::WorkerCpu, away(&|figures| figures.worker_cpu.mean.0)),
            (Term::Call, away(&|figures| figures.call.mean.0)),
            (Term::Waiting, away(&|figures| figures.delay.mean.0 - figures.cpu().mean.0)),
        ];
        // Only what belongs to the quantity that is off.
        let delay_is_off = self.judged(JudgedQuantity::Delay) == Some(Judgement::Off);
        let possible = terms.into_iter().filter(|(term, _)| delay_is_off || *term != Term::Waiting);
        possible.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(term, _)| term)
    }
}

impl fmt::Display for JudgedQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Delay => "mean delay",
            Self::Cpu => "cpu time",
        })
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::WorkerCpu => "the worker's cpu time",
            Self::Call => "softirq and wake-up call",
            Self::Waiting => "waiting",
        })
    }
}
