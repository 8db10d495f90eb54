//! Distributions of times around a mean: of service, and of a client's pauses.
//!
//! A [`TimeDistribution`] is a shape without a unit. It draws factors whose mean is 1, and who uses it multiplies them by the
//! mean, whatever that is.
//!
//! ```toml
//! [service]
//! distribution = { lognormal = 2.0 }
//! ```

use crate::random::Random;
use rand::RngExt;
use rand_distr::weighted::WeightedAliasIndex;
use rand_distr::{Distribution, Exp1, Gamma, LogNormal, OpenClosed01};
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// How times vary around their mean.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeDistribution {
    /// Always the mean.
    #[default]
    Deterministic,
    /// Exponential.
    Exponential,
    /// The sum of this many exponential times.
    Erlang(u32),
    /// Gamma, with this coefficient of variation (the standard deviation over the mean).
    Gamma(f64),
    /// Lognormal, with this coefficient of variation.
    Lognormal(f64),
    /// One of two exponential times, with this coefficient of variation, at least 1: both contribute equally to the mean.
    Hyperexponential(f64),
    /// Pareto, with this shape, above 1. Up to a shape of 2 its variance is infinite.
    Pareto(f64),
    /// Pareto, cut off.
    BoundedPareto(BoundedPareto),
    /// One of these values, in proportion to their weights. Values are relative: they are scaled to a mean of 1.
    Empirical(Vec<WeightedTime>),
}

/// A Pareto distribution between two bounds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundedPareto {
    /// Its shape, above 0.
    pub shape: f64,
    /// The longest time over the shortest, above 1.
    pub ratio: f64,
}

/// A value of an empirical distribution.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedTime {
    /// The value, in any unit.
    pub time: f64,
    /// Its frequency, relative to the others.
    pub weight: f64,
}

/// Draws factors of mean 1 from a checked [`TimeDistribution`].
#[derive(Clone, Debug)]
pub struct TimeFactors {
    law: Law,
}

#[derive(Clone, Debug)]
enum Law {
    One,
    Exponential,
    Gamma(Gamma<f64>),
    Lognormal(LogNormal<f64>),
    /// The probability of the first of two exponential times, and their means.
    Two(f64, [f64; 2]),
    /// `scale * (1 - u * cut)^(-1 / shape)`, with `u` uniform.
    Pareto {
        scale: f64,
        cut: f64,
        power: f64,
    },
    Values(Vec<f64>, WeightedAliasIndex<f64>),
}

impl TimeDistribution {
    /// The largest coefficient of variation and number of stages.
    pub const MOST: f64 = 1_000.0;

    /// The name of the distribution in a document.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Deterministic => "deterministic",
            Self::Exponential => "exponential",
            Self::Erlang(_) => "erlang",
            Self::Gamma(_) => "gamma",
            Self::Lognormal(_) => "lognormal",
            Self::Hyperexponential(_) => "hyperexponential",
            Self::Pareto(_) => "pareto",
            Self::BoundedPareto(_) => "bounded-pareto",
            Self::Empirical(_) => "empirical",
        }
    }

    /// Checks the parameters; a fault's field is named from the distribution.
    ///
    /// # Errors
    /// The first parameter that cannot be used.
    pub fn check(&self) -> Result<(), Fault> {
        let within = |value: f64, from: f64, words: &str| {
            if value >= from && value <= Self::MOST {
                return Ok(());
            }
            Err(Fault::new(self.name(), value, words))
        };
        match self {
            Self::Deterministic | Self::Exponential => Ok(()),
            Self::Erlang(stages) => within(f64::from(*stages), 1.0, "1 to 1000 stages"),
            Self::Gamma(cv) | Self::Lognormal(cv) => {
                within(*cv, 1e-3, "a coefficient of variation from 0.001 to 1000")
            }
            Self::Hyperexponential(cv) => within(*cv, 1.0, "a coefficient of variation from 1 to 1000"),
            Self::Pareto(shape) => {
                within(*shape, 1.001, "a shape from 1.001 to 1000: below that there is no usable mean")
            }
            Self::BoundedPareto(BoundedPareto { shape, ratio }) => {
                if !(*shape > 0.0 && *shape <= 100.0) {
                    return Err(Fault::new("bounded-pareto.shape", shape, "above 0, at most 100"));
                }
                if !(*ratio > 1.0 && *ratio <= 1e12) {
                    let expected = "the longest time over the shortest, above 1, at most 1e12";
                    return Err(Fault::new("bounded-pareto.ratio", ratio, expected));
                }
                Ok(())
            }
            Self::Empirical(values) => check_values(values),
        }
    }

    /// The variance over the square of the mean; infinite if there is no variance.
    #[must_use]
    pub fn squared_variation(&self) -> f64 {
        match self {
            Self::Deterministic => 0.0,
            Self::Exponential => 1.0,
            Self::Erlang(stages) => f64::from(*stages).recip(),
            Self::Gamma(cv) | Self::Lognormal(cv) | Self::Hyperexponential(cv) => cv * cv,
            Self::Pareto(shape) if *shape > 2.0 => (shape * (shape - 2.0)).recip(),
            Self::Pareto(_) => f64::INFINITY,
            Self::BoundedPareto(bounded) => bounded.moment(2.0) / bounded.moment(1.0).powi(2) - 1.0,
            Self::Empirical(values) => moment(values, 2) / moment(values, 1).powi(2) - 1.0,
        }
    }

    /// Whether times that wait for such times have no variance: they have one only if these have a third moment (Pollaczek
    /// and Khinchine), and without it the spread within a run does not show how wrong its mean is.
    #[must_use]
    pub fn is_heavy_tailed(&self) -> bool {
        matches!(self, Self::Pareto(shape) if *shape <= 3.0)
    }

    /// The factors of this distribution.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn factors(&self) -> Result<TimeFactors, Fault> {
        self.check()?;
        let unfit = |why: &dyn core::fmt::Display| Fault::new(self.name(), why, "another parameter");
        let law = match self {
            Self::Deterministic => Law::One,
            Self::Exponential => Law::Exponential,
            Self::Erlang(_) | Self::Gamma(_) => {
                let variation = self.squared_variation();
                Law::Gamma(Gamma::new(variation.recip(), variation).map_err(|why| unfit(&why))?)
            }
            Self::Lognormal(_) => {
                let variance = self.squared_variation().ln_1p();
                Law::Lognormal(LogNormal::new(-variance / 2.0, variance.sqrt()).map_err(|why| unfit(&why))?)
            }
            Self::Hyperexponential(_) => {
                let variation = self.squared_variation();
                let often = (1.0 + ((variation - 1.0) / (variation + 1.0)).sqrt()) / 2.0;
                Law::Two(often, [0.5 / often, 0.5 / (1.0 - often)])
            }
            Self::Pareto(shape) => {
                Law::Pareto { scale: (shape - 1.0) / shape, cut: 1.0, power: -shape.recip() }
            }
            Self::BoundedPareto(bounded) => Law::Pareto {
                scale: bounded.moment(1.0).recip(),
                cut: bounded.cut(),
                power: -bounded.shape.recip(),
            },
            Self::Empirical(values) => {
                let mean = moment(values, 1);
                let weights = values.iter().map(|value| value.weight).collect();
                Law::Values(
                    values.iter().map(|value| value.time / mean).collect(),
                    WeightedAliasIndex::new(weights).map_err(|why| unfit(&why))?,
                )
            }
        };
        Ok(TimeFactors { law })
    }
}

impl BoundedPareto {
    /// The probability that an unbounded time would be within the bounds.
    fn cut(&self) -> f64 {
        -(-self.shape * self.ratio.ln()).exp_m1()
    }

    /// The moment of this `order` if the shortest time is 1.
    fn moment(&self, order: f64) -> f64 {
        let Self { shape, ratio } = *self;
        let above = order - shape;
        let integral = if above.abs() < 1e-9 { ratio.ln() } else { (above * ratio.ln()).exp_m1() / above };
        shape * integral / self.cut()
    }
}

/// The moment of this `order`.
fn moment(values: &[WeightedTime], order: i32) -> f64 {
    let weights: f64 = values.iter().map(|value| value.weight).sum();
    values.iter().map(|value| value.weight * value.time.powi(order)).sum::<f64>() / weights
}

fn check_values(values: &[WeightedTime]) -> Result<(), Fault> {
    for (index, value) in values.iter().enumerate() {
        for (field, number) in [("time", value.time), ("weight", value.weight)] {
            if !(0.0..=1e12).contains(&number) {
                let field = format!("empirical.{index}.{field}");
                return Err(Fault::new(field, number, "a finite number, not negative"));
            }
        }
    }
    // Not a mean of nothing, either.
    if !values.is_empty() && moment(values, 1) > 0.0 {
        return Ok(());
    }
    Err(Fault::new("empirical", "without a mean", "times with weights, one of each above 0"))
}

impl TimeFactors {
    /// Always 1.
    pub const ONE: Self = Self { law: Law::One };

    /// Whether every factor is 1.
    #[must_use]
    pub const fn is_one(&self) -> bool {
        matches!(self.law, Law::One)
    }

    /// Draws a factor.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> f64 {
        match &self.law {
            Law::One => 1.0,
            Law::Exponential => Exp1.sample(random),
            Law::Gamma(law) => law.sample(random),
            Law::Lognormal(law) => law.sample(random),
            Law::Two(often, means) => {
                let mean = means[usize::from(random.random::<f64>() >= *often)];
                let time: f64 = Exp1.sample(random);
                mean * time
            }
            Law::Pareto { scale, cut, power } => {
                // Not 1: without a bound, the factor would be infinite.
                let u: f64 = OpenClosed01.sample(random);
                scale * (1.0 - (1.0 - u) * cut).powf(*power)
            }
            Law::Values(values, index) => values[index.sample(random)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Key, Purpose};

    fn shapes() -> Vec<TimeDistribution> {
        use TimeDistribution as Time;
        let values = [(1.0, 3.0), (10.0, 1.0)].map(|(time, weight)| WeightedTime { time, weight });
        vec![
            Time::Deterministic,
            Time::Exponential,
            Time::Erlang(4),
            Time::Gamma(0.5),
            Time::Gamma(1.5),
            Time::Lognormal(1.2),
            Time::Hyperexponential(2.0),
            Time::Pareto(4.5),
            Time::BoundedPareto(BoundedPareto { shape: 1.0, ratio: 50.0 }),
            Time::BoundedPareto(BoundedPareto { shape: 2.5, ratio: 100.0 }),
            Time::Empirical(values.into()),
        ]
    }

    /// The mean of many draws is within five of its own standard deviations of 1.
    #[test]
    fn factors_have_a_mean_of_1_and_their_variation() {
        const DRAWS: u32 = 200_000;
        for (point, shape) in (0..).zip(shapes()) {
            let factors = shape.factors().unwrap();
            let mut random = Key { seed: 26, point, replication: 0 }.stream(Purpose::Service);
            let drawn: Vec<f64> = (0..DRAWS).map(|_| factors.draw(&mut random)).collect();
            assert!(drawn.iter().all(|factor| factor.is_finite() && *factor >= 0.0), "{shape:?}");
            let n = f64::from(DRAWS);
            let mean = drawn.iter().sum::<f64>() / n;
            let deviation = (shape.squared_variation() / n).sqrt();
            assert!((mean - 1.0).abs() <= 5.0 * deviation + 1e-9, "{shape:?}: {mean} of seed 26, {point}");
            let second = drawn.iter().map(|factor| (factor - 1.0).powi(2)).sum::<f64>() / n;
            let exact = shape.squared_variation();
            assert!((second - exact).abs() <= 0.15 * exact, "{shape:?}: {second} is not {exact}");
        }
    }

    #[test]
    fn impossible_parameters_are_refused_by_name() {
        use TimeDistribution as Time;
        let field = |shape: Time| shape.check().unwrap_err().field;
        assert_eq!(field(Time::Erlang(0)), "erlang");
        assert_eq!(field(Time::Gamma(f64::NAN)), "gamma");
        assert_eq!(field(Time::Hyperexponential(0.5)), "hyperexponential");
        assert_eq!(field(Time::Pareto(1.0)), "pareto");
        let bounded = BoundedPareto { shape: 1.0, ratio: 1.0 };
        assert_eq!(field(Time::BoundedPareto(bounded)), "bounded-pareto.ratio");
        assert_eq!(field(Time::Empirical(Vec::new())), "empirical");
        let negative = WeightedTime { time: -1.0, weight: 1.0 };
        assert_eq!(field(Time::Empirical(vec![negative])), "empirical.0.time");
    }

    #[test]
    fn a_heavy_tail_has_no_variance() {
        assert_eq!(TimeDistribution::Pareto(1.5).squared_variation(), f64::INFINITY);
        assert!((TimeDistribution::Pareto(3.0).squared_variation() - 1.0 / 3.0).abs() < 1e-12);
    }
}
