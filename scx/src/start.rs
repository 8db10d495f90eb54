//! What the scheduler is started with.

use crate::skeleton::types::rq_parameters;
use std::path::PathBuf;
use std::time::Duration;
use warmcore_policy::runqueue::{AffinityForm, Parameters, ParseParametersError};

/// The greatest cap that `bpf/decide.h` allows, `RQ_CAP` there.
const GREATEST_CAP: u32 = 255;

/// What the words on the command line say.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Start {
    /// The constants.
    pub(crate) parameters: Parameters,
    /// Whether tasks are attached to cpus in turn.
    pub(crate) attach: bool,
    /// Between two lines of statistics.
    pub(crate) interval: Duration,
    /// After this time it ends by itself.
    pub(crate) duration: Option<Duration>,
    /// Where decisions are logged.
    pub(crate) decisions: Option<PathBuf>,
}

/// Words that cannot be used.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("{0}; `warmcore host scx start` starts this program")]
    Parameters(#[from] ParseParametersError),
    #[error("`{0}` is not a time in seconds above zero")]
    Seconds(String),
    #[error("the cap is {0}: expected at most {GREATEST_CAP} in the kernel")]
    Cap(u32),
    #[error("the {name} is {nanos} ns: expected at least {least} ns in the kernel")]
    TooShort { name: &'static str, nanos: f64, least: f64 },
}

impl Start {
    /// Reads `attach=yes`, `interval=SECONDS`, `seconds=SECONDS`, `decisions=FILE`, and the words of [`Parameters`].
    pub(crate) fn from_words(words: impl Iterator<Item = String>) -> Result<Self, StartError> {
        let mut start = Self {
            parameters: Parameters::default(),
            attach: false,
            interval: Duration::from_secs(1),
            duration: None,
            decisions: None,
        };
        let mut others = Vec::new();
        for word in words {
            match word.split_once('=') {
                Some(("attach", "yes")) => start.attach = true,
                Some(("interval", value)) => start.interval = seconds(value)?,
                Some(("seconds", value)) => start.duration = Some(seconds(value)?),
                Some(("decisions", file)) => start.decisions = Some(PathBuf::from(file)),
                _ => others.push(word),
            }
        }
        start.parameters = others.join(" ").parse()?;
        start.check()?;
        Ok(start)
    }

    fn check(&self) -> Result<(), StartError> {
        let Parameters { cap, tick, quantum, .. } = self.parameters;
        if cap > GREATEST_CAP {
            return Err(StartError::Cap(cap));
        }
        for (name, nanos) in [("tick", tick.0), ("quantum", quantum.0)] {
            // Below this the scheduler would do nothing but schedule.
            let least = 100_000.0;
            if nanos < least {
                return Err(StartError::TooShort { name, nanos, least });
            }
        }
        Ok(())
    }

    /// The constants as the scheduler takes them.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be above zero")]
    pub(crate) fn constants(&self) -> rq_parameters {
        let Parameters { affinity, tick, quantum, decay, cap, exclude_yielder } = self.parameters;
        rq_parameters {
            tick_ns: tick.0 as u64,
            quantum_ns: quantum.0 as u64,
            decay_period: decay.period.0,
            decay_numerator: decay.numerator,
            decay_denominator: decay.denominator,
            a_p: affinity.a_p,
            a_t: affinity.a_t,
            form: u32::from(affinity.form == AffinityForm::Complex),
            cap,
            exclude_yielder: u32::from(exclude_yielder),
            attach: u32::from(self.attach),
        }
    }
}

fn seconds(word: &str) -> Result<Duration, StartError> {
    let value = word.parse().ok().and_then(|value| Duration::try_from_secs_f64(value).ok());
    value.filter(|time| !time.is_zero()).ok_or_else(|| StartError::Seconds(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Start, StartError> {
        Start::from_words(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn words_of_both_kinds_may_be_mixed() {
        let start = read("a_p=6 attach=yes seconds=1.5 a_t=16 decisions=log").expect("words");
        assert_eq!((start.constants().a_p, start.constants().a_t, start.constants().attach), (6, 16, 1));
        assert_eq!(start.duration, Some(Duration::from_millis(1500)));
        assert_eq!(start.decisions, Some(PathBuf::from("log")));
    }

    #[test]
    fn what_the_kernel_cannot_do_is_said() {
        for (line, expected) in [
            ("cap=256", "at most 255"),
            ("tick_ns=0.5", "at least 100000 ns"),
            ("seconds=0", "not a time"),
            ("decay=2/1", "fraction"),
            ("nonsense", "word 0"),
        ] {
            let error = read(line).expect_err(line).to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
