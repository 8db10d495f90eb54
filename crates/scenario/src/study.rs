//! The scenario of a study: what to measure and what to predict.

use crate::document::Checked;
use crate::limits::{MAX_PROCESSORS, RATES, RATES_IN_WORDS};
use crate::profile_source::ProfileSource;
use serde::{Deserialize, Serialize};
use warmcore_units::{Fault, PerSecond};

/// Everything a study depends on besides the machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Version of the document, [`Checked::SCHEMA`].
    pub schema: u32,
    /// Seed of every random choice.
    pub seed: u64,
    /// How the machine's costs are measured.
    pub calibration: Calibration,
    /// What is predicted from them.
    pub prediction: Prediction,
}

/// How the costs are obtained.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Where the costs come from.
    pub profile: ProfileSource,
    /// Seconds for the experiments of section 5.
    pub budget_s: f64,
    /// Seconds for t(x).
    pub intervening_budget_s: f64,
    /// Seconds for requests to a server on the kernel's sockets; 0, as in documents that do not say, leaves that path out.
    #[serde(default)]
    pub server_budget_s: f64,
    /// Timed packets in one run.
    pub packets_per_run: u32,
    /// The target half-width of a value, as a fraction of the mean.
    pub target: f64,
    /// A program, with its arguments, that runs between packets when t(x) is measured; empty for the
    /// built-in workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervening: Vec<String>,
}

/// What is predicted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// Numbers of processors; there are as many streams and independent stacks as processors.
    pub processors: Vec<u32>,
    /// Arrival rates; empty to choose them automatically, from near idle to saturation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates_per_s: Vec<PerSecond>,
    /// The target half-width of a mean delay, as a fraction of the mean.
    pub precision: f64,
    /// The most packets of a point.
    pub max_packets: u64,
}

impl Study {
    /// A thorough study within five minutes on two cores.
    #[must_use]
    pub fn standard(processors: Vec<u32>) -> Self {
        Self {
            schema: Self::SCHEMA,
            seed: 1,
            calibration: Calibration {
                profile: ProfileSource::Measure,
                budget_s: 150.0,
                intervening_budget_s: 45.0,
                server_budget_s: 50.0,
                packets_per_run: 1_000,
                target: 0.01,
                intervening: Vec::new(),
            },
            prediction: Prediction {
                processors,
                rates_per_s: Vec::new(),
                precision: 0.005,
                max_packets: 2_000_000,
            },
        }
    }

    /// A first look within a minute on two cores: shorter runs, wider intervals.
    #[must_use]
    pub fn quick(processors: Vec<u32>) -> Self {
        let standard = Self::standard(processors);
        Self {
            calibration: Calibration {
                budget_s: 25.0,
                intervening_budget_s: 8.0,
                server_budget_s: 15.0,
                packets_per_run: 200,
                ..standard.calibration
            },
            prediction: Prediction { precision: 0.02, max_packets: 300_000, ..standard.prediction },
            ..standard
        }
    }
}

impl Checked for Study {
    const WHAT: &'static str = "scenario";
    const SCHEMA: u32 = 1;

    fn check(&self) -> Result<(), Fault> {
        Fault::check_schema(self.schema, Self::SCHEMA)?;
        self.calibration.check()?;
        self.prediction.check()
    }
}

impl Calibration {
    fn check(&self) -> Result<(), Fault> {
        for (name, seconds) in
            [("budget_s", self.budget_s), ("intervening_budget_s", self.intervening_budget_s)]
        {
            if !(seconds > 0.0 && seconds <= 86_400.0) {
                let field = format!("calibration.{name}");
                return Err(Fault::new(field, seconds, "a number of seconds above 0, at most a day"));
            }
        }
        if !(0.0..=86_400.0).contains(&self.server_budget_s) {
            let expected = "a number of seconds from 0, which leaves it out, to a day";
            return Err(Fault::new("calibration.server_budget_s", self.server_budget_s, expected));
        }
        if !(10..=1_000_000).contains(&self.packets_per_run) {
            let field = "calibration.packets_per_run";
            return Err(Fault::new(field, self.packets_per_run, "between 10 and 1000000"));
        }
        check_fraction("calibration.target", self.target)
    }
}

impl Prediction {
    fn check(&self) -> Result<(), Fault> {
        if self.processors.is_empty() {
            let expected = "at least one number of processors";
            return Err(Fault::new("prediction.processors", "empty", expected));
        }
        for (index, &processors) in self.processors.iter().enumerate() {
            if !(1..=MAX_PROCESSORS).contains(&processors) {
                let field = format!("prediction.processors.{index}");
                return Err(Fault::new(field, processors, format!("between 1 and {MAX_PROCESSORS}")));
            }
            if self.processors[..index].contains(&processors) {
                let field = format!("prediction.processors.{index}");
                return Err(Fault::new(field, format!("{processors} again"), "each number once"));
            }
        }
        for (index, rate) in self.rates_per_s.iter().enumerate() {
            if !RATES.contains(&rate.0) {
                let field = format!("prediction.rates_per_s.{index}");
                return Err(Fault::new(field, rate.0, RATES_IN_WORDS));
            }
        }
        if self.max_packets < 10_000 {
            return Err(Fault::new("prediction.max_packets", self.max_packets, "at least 10000"));
        }
        check_fraction("prediction.precision", self.precision)
    }
}

fn check_fraction(field: &str, fraction: f64) -> Result<(), Fault> {
    if fraction > 0.0 && fraction < 1.0 {
        return Ok(());
    }
    Err(Fault::new(field, fraction, "a fraction between 0 and 1, such as 0.01"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;
    use std::path::Path;

    #[test]
    fn both_built_in_studies_are_valid_and_survive_a_toml_round_trip() {
        for study in [Study::standard(vec![2, 8, 64]), Study::quick(vec![1])] {
            let text = toml::to_string(&study).unwrap();
            assert_eq!(parse::<Study>(&text, Path::new("study.toml")).unwrap(), study);
        }
    }

    #[test]
    fn impossible_scenarios_are_refused_with_their_field() {
        let refused = |spoil: fn(&mut Study)| {
            let mut study = Study::standard(vec![2, 8]);
            spoil(&mut study);
            study.check().expect_err("a spoilt scenario is refused").field
        };
        assert_eq!(refused(|s| s.prediction.processors[1] = 0), "prediction.processors.1");
        assert_eq!(refused(|s| s.prediction.processors[1] = 2), "prediction.processors.1");
        assert_eq!(refused(|s| s.prediction.processors.clear()), "prediction.processors");
        assert_eq!(refused(|s| s.prediction.rates_per_s = vec![PerSecond(-1.0)]), "prediction.rates_per_s.0");
        assert_eq!(refused(|s| s.prediction.precision = 1.5), "prediction.precision");
        assert_eq!(refused(|s| s.calibration.budget_s = f64::NAN), "calibration.budget_s");
        assert_eq!(refused(|s| s.calibration.packets_per_run = 0), "calibration.packets_per_run");
        assert_eq!(refused(|s| s.calibration.target = 0.0), "calibration.target");
    }
}
