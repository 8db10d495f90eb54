//! The constants of the scheduler as one line of words: how a program hands them to another, and what a log begins with.
//!
//! ```
//! use warmcore_policy::runqueue::{Affinity, Parameters};
//!
//! let light = Parameters { affinity: Affinity::LIGHT, ..Parameters::default() };
//! let line = "a_p=6 a_t=6 form=simple tick_ns=10000000 quantum_ns=30000000 decay=1/2 decay_period=100 cap=255 \
//!             exclude_yielder=yes";
//! assert_eq!(light.to_string(), line);
//! assert_eq!(line.parse(), Ok(light));
//! ```

use super::parameters::{AffinityForm, InvalidParameter, Parameters};
use super::task::Ticks;
use core::fmt;
use core::str::FromStr;
use warmcore_units::Nanos;

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { affinity, tick, quantum, decay, cap, exclude_yielder } = self;
        let form = match affinity.form {
            AffinityForm::Simple => "simple",
            AffinityForm::Complex => "complex",
        };
        write!(f, "a_p={} a_t={} form={form} ", affinity.a_p, affinity.a_t)?;
        write!(f, "tick_ns={} quantum_ns={} ", tick.0, quantum.0)?;
        write!(f, "decay={}/{} decay_period={} ", decay.numerator, decay.denominator, decay.period.0)?;
        write!(f, "cap={cap} exclude_yielder={}", if *exclude_yielder { "yes" } else { "no" })
    }
}

/// Words that are no constants of the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParseParametersError {
    /// A word is not `NAME=VALUE` with a known name and a value of its kind: its place in the line, counted from 0.
    Word(usize),
    /// A value is impossible.
    Invalid(InvalidParameter),
}

impl fmt::Display for ParseParametersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(index) => write!(
                f,
                "word {index} (counted from 0) is no parameter: expected words such as `a_p=6` or `form=simple`"
            ),
            Self::Invalid(invalid) => invalid.fmt(f),
        }
    }
}

impl core::error::Error for ParseParametersError {}

impl FromStr for Parameters {
    type Err = ParseParametersError;

    /// What is not named keeps its default.
    fn from_str(line: &str) -> Result<Self, ParseParametersError> {
        let mut parameters = Self::default();
        for (index, word) in line.split_ascii_whitespace().enumerate() {
            parameters.set(word).ok_or(ParseParametersError::Word(index))?;
        }
        parameters.check().map_err(ParseParametersError::Invalid)?;
        Ok(parameters)
    }
}

impl Parameters {
    /// Takes the value of `NAME=VALUE`; `None` if it cannot.
    fn set(&mut self, word: &str) -> Option<()> {
        let (name, value) = word.split_once('=')?;
        match name {
            "a_p" => self.affinity.a_p = value.parse().ok()?,
            "a_t" => self.affinity.a_t = value.parse().ok()?,
            "form" => {
                self.affinity.form = match value {
                    "simple" => AffinityForm::Simple,
                    "complex" => AffinityForm::Complex,
                    _ => return None,
                }
            }
            "tick_ns" => self.tick = Nanos(value.parse().ok()?),
            "quantum_ns" => self.quantum = Nanos(value.parse().ok()?),
            "decay" => {
                let (numerator, denominator) = value.split_once('/')?;
                self.decay.numerator = numerator.parse().ok()?;
                self.decay.denominator = denominator.parse().ok()?;
            }
            "decay_period" => self.decay.period = Ticks(value.parse().ok()?),
            "cap" => self.cap = value.parse().ok()?,
            "exclude_yielder" => {
                self.exclude_yielder = match value {
                    "yes" => true,
                    "no" => false,
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runqueue::{Affinity, Decay};
    use alloc::string::ToString;

    #[test]
    fn every_constant_survives() {
        let unusual = Parameters {
            affinity: Affinity { a_p: 1, a_t: 2, form: AffinityForm::Complex },
            tick: Nanos(1.5),
            quantum: Nanos(3e9),
            decay: Decay { period: Ticks(7), numerator: 2, denominator: 3 },
            cap: 99,
            exclude_yielder: false,
        };
        assert_eq!(unusual.to_string().parse(), Ok(unusual));
    }

    #[test]
    fn faults_are_named_by_their_place() {
        for (line, index) in
            [("a_p=6 a_t", 1), ("a_p=-1", 0), ("cap=9 form=other", 1), ("decay=1", 0), ("x=1", 0)]
        {
            assert_eq!(line.parse::<Parameters>(), Err(ParseParametersError::Word(index)), "{line}");
        }
        let fraction = ParseParametersError::Invalid(InvalidParameter::Fraction);
        assert_eq!("decay=3/2".parse::<Parameters>(), Err(fraction));
    }
}
