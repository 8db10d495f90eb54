//! Arrivals whose rate changes at random: a Poisson process modulated by a two-state Markov chain (Heffes &
//! Lucantoni 1986, §II).

use crate::arrivals::{Arrival, Arrivals, ImpossibleArrivals};
use crate::marks::Marks;
use crate::micros;
use crate::random::{Key, Purpose, Random};
use rand::RngExt;
use rand_distr::Exp1;
use serde::{Deserialize, Serialize};
use warmcore_units::{Fault, Nanos, PerSecond};

/// How the rate alternates between calm and busy times, both of exponential length.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modulation {
    /// The rate in busy times as a multiple of the rate in calm ones, at least 1.
    pub ratio: f64,
    /// Mean length of a calm time, in microseconds.
    #[serde(rename = "calm_us", with = "micros")]
    pub calm: Nanos,
    /// Mean length of a busy time, in microseconds.
    #[serde(rename = "busy_us", with = "micros")]
    pub busy: Nanos,
}

impl Modulation {
    /// The longest mean length: a day.
    pub const MAX_LENGTH: Nanos = Nanos(86_400e9);
    /// The largest mean number of calm and busy pairs between two arrivals.
    pub const MAX_CYCLES: f64 = 100.0;

    /// Checks the parameters; fields are named from the modulation's table.
    ///
    /// # Errors
    /// The first parameter that cannot be used.
    pub fn check(&self) -> Result<(), Fault> {
        if !(1.0..=1e9).contains(&self.ratio) {
            return Err(Fault::new("ratio", self.ratio, "a multiple of the calm rate, at least 1"));
        }
        for (field, length) in [("calm_us", self.calm), ("busy_us", self.busy)] {
            if !(length.0 > 0.0 && length <= Self::MAX_LENGTH) {
                let expected =
                    format!("a number of microseconds above 0, at most {}", Self::MAX_LENGTH.micros());
                return Err(Fault::new(field, length.micros(), expected));
            }
        }
        Ok(())
    }

    /// Checks that at most [`MAX_CYCLES`](Self::MAX_CYCLES) fit into `interval`, the mean time between arrivals.
    fn check_against(&self, interval: Nanos) -> Result<(), Fault> {
        let least = interval / Self::MAX_CYCLES;
        if self.calm + self.busy >= least {
            return Ok(());
        }
        let expected = format!(
            "with `busy_us` at least {:.1e} at this rate: shorter times would have no effect on the packets",
            least.micros()
        );
        Err(Fault::new("calm_us", self.calm.micros(), expected))
    }

    /// The calm and the busy state.
    fn states(&self) -> [State; 2] {
        let calm = (self.calm + self.busy) / (self.calm + self.busy * self.ratio);
        [
            State { mean_length: self.calm, relative_rate: calm },
            State { mean_length: self.busy, relative_rate: calm * self.ratio },
        ]
    }
}

/// The calm or the busy state.
#[derive(Clone, Copy, Debug)]
struct State {
    mean_length: Nanos,
    /// The rate as a multiple of the mean rate.
    relative_rate: f64,
}

/// Batches of packets with a modulated rate, starting in the steady state.
///
/// Time is stretched while the rate is low and compressed while it is high, so every modulation uses the same
/// exponential intervals.
#[derive(Clone, Debug)]
pub struct Modulated {
    mean_interval: Nanos,
    random: Random,
    clock: Clock,
    marks: Marks,
}

/// Maps time at the mean rate to time in calm and busy states.
#[derive(Clone, Debug)]
struct Clock {
    now: Nanos,
    states: [State; 2],
    busy: bool,
    /// When the current state ends.
    change: Nanos,
    random: Random,
}

impl Modulated {
    /// Packets at a mean rate of `rate`, in batches drawn by `marks`.
    ///
    /// # Errors
    /// If the rate is not a positive number, or the modulation is impossible, or impossible at this rate.
    pub fn new(
        rate: PerSecond,
        modulation: Modulation,
        marks: Marks,
        key: Key,
    ) -> Result<Self, ImpossibleArrivals> {
        modulation.check()?;
        let mean_interval = marks.mean_interval(rate)?;
        modulation.check_against(mean_interval)?;
        Ok(Self {
            mean_interval,
            random: key.stream(Purpose::Interarrival),
            clock: Clock::new(modulation, key),
            marks,
        })
    }
}

impl Arrivals for Modulated {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        self.marks.fill(block, || {
            let interval: f64 = self.random.sample(Exp1);
            self.clock.advance(self.mean_interval * interval)
        });
        block.len()
    }
}

impl Clock {
    fn new(modulation: Modulation, key: Key) -> Self {
        let busy_share = modulation.busy / (modulation.calm + modulation.busy);
        let mut clock = Self {
            now: Nanos::ZERO,
            states: modulation.states(),
            busy: key.stream(Purpose::Start).random_bool(busy_share),
            change: Nanos::ZERO,
            random: key.stream(Purpose::Sojourn),
        };
        // The rest of an exponential time has the same distribution as a whole one.
        clock.change = clock.sojourn();
        clock
    }

    /// Advances by the time in which as many packets are expected as in `interval` at the mean rate; returns
    /// the new time.
    fn advance(&mut self, interval: Nanos) -> Nanos {
        let mut left = interval;
        loop {
            let rate = self.state().relative_rate;
            let end = self.now + left / rate;
            if end <= self.change {
                self.now = end;
                return end;
            }
            left = (left - (self.change - self.now) * rate).max(Nanos::ZERO);
            self.now = self.change;
            self.busy = !self.busy;
            self.change = self.now + self.sojourn();
        }
    }

    fn sojourn(&mut self) -> Nanos {
        let length: f64 = self.random.sample(Exp1);
        self.state().mean_length * length
    }

    fn state(&self) -> State {
        self.states[usize::from(self.busy)]
    }
}
