//! The constants of the scheduler.

use super::task::Ticks;
use core::fmt;
use warmcore_units::Nanos;

/// Which tasks get `a_t` (§4 and §5.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AffinityForm {
    /// The task that ran last on the searching processor gets all of it, and no other task any.
    #[default]
    Simple,
    /// Every task that last ran on the searching processor gets `a_t` less the ticks since then, if that is above 0.
    Complex,
}

/// How much the scheduler favours tasks whose state a processor's cache may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Affinity {
    /// Taken off the priority of tasks that last ran on the searching processor: against migration.
    pub a_p: u32,
    /// Taken off besides for the task that ran there last: for longer effective time slices.
    pub a_t: u32,
    /// Which tasks get `a_t`.
    pub form: AffinityForm,
}

impl Affinity {
    /// The standard scheduler, which ignores caches.
    pub const NONE: Self = Self::simple(0);
    /// Light affinity, `LightAff` (§5.1).
    pub const LIGHT: Self = Self::simple(6);
    /// Heavy affinity, `HeavyAff` (§5.1).
    pub const HEAVY: Self = Self::simple(16);

    /// Simple affinity with both constants equal, as in §5.1.
    #[must_use]
    pub const fn simple(level: u32) -> Self {
        Self { a_p: level, a_t: level, form: AffinityForm::Simple }
    }

    /// Complex affinity with both constants equal (§5.4).
    #[must_use]
    pub const fn complex(level: u32) -> Self {
        Self { a_p: level, a_t: level, form: AffinityForm::Complex }
    }
}

/// How accumulated CPU time is forgotten: every `period`, `cpu` becomes `cpu * numerator / denominator`, rounded down.
///
/// The text gives neither period nor fraction (§4: "periodically decayed to a fraction of its former value").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decay {
    /// Between two decays.
    pub period: Ticks,
    /// The fraction that remains, its numerator.
    pub numerator: u32,
    /// Its denominator.
    pub denominator: u32,
}

impl Default for Decay {
    /// Halved once in a second of 10-ms ticks, as System V does.
    fn default() -> Self {
        Self { period: Ticks(100), numerator: 1, denominator: 2 }
    }
}

/// All constants of the scheduler.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// How much caches count.
    pub affinity: Affinity,
    /// Time between two timer interrupts of a processor.
    pub tick: Nanos,
    /// The longest time that a task runs before the queue is searched again. The driver stops the task.
    pub quantum: Nanos,
    /// How accumulated CPU time is forgotten.
    pub decay: Decay,
    /// The most CPU time that a task accumulates, in ticks. The text gives none.
    pub cap: u32,
    /// Whether a task that yielded on a lock is left out of the next search of its processor (§5.1).
    pub exclude_yielder: bool,
}

impl Default for Parameters {
    /// The standard scheduler of the text: ticks of 10 ms, quanta of 30 ms.
    fn default() -> Self {
        Self {
            affinity: Affinity::NONE,
            tick: Nanos::from_micros(10_000.0),
            quantum: Nanos::from_micros(30_000.0),
            decay: Decay::default(),
            cap: 255,
            exclude_yielder: true,
        }
    }
}

/// The greatest `a_p`, `a_t` and cap: priorities then fit 32 bits with room.
pub const GREATEST: u32 = 1_000_000;

/// A parameter that no scheduler can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InvalidParameter {
    /// `a_p`, `a_t` or the cap is above [`GREATEST`].
    TooLarge(&'static str),
    /// A tick or a quantum is not above zero, or not finite.
    NoTime(&'static str),
    /// The period of decay is no tick at all.
    NoPeriod,
    /// The fraction that remains is above 1, or divides by zero.
    Fraction,
}

impl fmt::Display for InvalidParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge(name) => write!(f, "{name} is above {GREATEST}"),
            Self::NoTime(name) => write!(f, "{name} is not a time above zero"),
            Self::NoPeriod => f.write_str("the period of decay is zero: expected at least one tick"),
            Self::Fraction => f.write_str("the fraction that a decay leaves is not between 0 and 1"),
        }
    }
}

impl core::error::Error for InvalidParameter {}

impl Parameters {
    /// Checks that every value is possible.
    ///
    /// # Errors
    /// The first value that is not.
    pub fn check(&self) -> Result<(), InvalidParameter> {
        let Self { affinity, tick, quantum, decay, cap, .. } = self;
        for (name, value) in [("a_p", affinity.a_p), ("a_t", affinity.a_t), ("the cap", *cap)] {
            if value > GREATEST {
                return Err(InvalidParameter::TooLarge(name));
            }
        }
        for (name, time) in [("the tick", tick), ("the quantum", quantum)] {
            if !(time.0 > 0.0 && time.0.is_finite()) {
                return Err(InvalidParameter::NoTime(name));
            }
        }
        if decay.period.0 == 0 {
            return Err(InvalidParameter::NoPeriod);
        }
        if decay.denominator == 0 || decay.numerator > decay.denominator {
            return Err(InvalidParameter::Fraction);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_parameters_are_named() {
        let good = Parameters::default();
        assert_eq!(good.check(), Ok(()));
        let decay = Decay { denominator: 0, ..Decay::default() };
        assert_eq!(Parameters { decay, ..good }.check(), Err(InvalidParameter::Fraction));
        let decay = Decay { numerator: 3, ..Decay::default() };
        assert_eq!(Parameters { decay, ..good }.check(), Err(InvalidParameter::Fraction));
        let decay = Decay { period: Ticks(0), ..Decay::default() };
        assert_eq!(Parameters { decay, ..good }.check(), Err(InvalidParameter::NoPeriod));
        let quantum = Nanos(f64::NAN);
        assert_eq!(Parameters { quantum, ..good }.check(), Err(InvalidParameter::NoTime("the quantum")));
        let affinity = Affinity::simple(GREATEST + 1);
        assert_eq!(Parameters { affinity, ..good }.check(), Err(InvalidParameter::TooLarge("a_p")));
    }
}
