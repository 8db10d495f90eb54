//! The values of a build: what claims and tables are made of.

use super::points::{Build, Measurements, Point, Protocols, Run, name};
use super::spread::Spread;
use crate::Value;
use warmcore_stats::paired::{change, difference};
use warmcore_units::Estimate;

/// Cycles of the source's processor in a microsecond: 175 MHz.
pub const CYCLES_PER_MICROSECOND: f64 = 175.0;

/// A value, or why there is none.
pub type Found<T> = Result<T, String>;

/// A quantity of a simulated run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Instructions executed.
    Instructions,
    /// All cycles.
    Cycles,
    /// Cycles that an instruction waits for memory.
    MemoryCpi,
    /// Cycles that an instruction takes with a perfect memory.
    InstructionCpi,
    /// Misses of the cache of instructions.
    InstructionMisses,
    /// Those of lines that had been there.
    InstructionReplacements,
    /// Misses of the cache of data with its write buffer.
    DataMisses,
    /// Its accesses.
    DataAccesses,
    /// Its misses of lines that had been there.
    DataReplacements,
    /// Misses of the board's cache.
    BoardMisses,
    /// Its accesses.
    BoardAccesses,
    /// Its misses of lines that had been there.
    BoardReplacements,
    /// The part of instructions in fetched blocks that are never executed, in percent.
    Unused,
    /// Instructions of the path's main line.
    MainLine,
    /// Calls.
    Calls,
}

impl Quantity {
    /// The quantity of `run`.
    #[must_use]
    pub fn of(self, run: &Run) -> f64 {
        let count = match self {
            Self::MemoryCpi => return run.memory_cpi(),
            Self::InstructionCpi => return run.instruction_cpi(),
            Self::Unused => return 100.0 * run.unused,
            Self::Instructions => run.instructions,
            Self::Cycles => run.cycles(),
            Self::InstructionMisses => run.instruction_cache.misses,
            Self::InstructionReplacements => run.instruction_cache.replacements,
            Self::DataMisses => run.data_cache.misses,
            Self::DataAccesses => run.data_cache.accesses,
            Self::DataReplacements => run.data_cache.replacements,
            Self::BoardMisses => run.board_cache.misses,
            Self::BoardAccesses => run.board_cache.accesses,
            Self::BoardReplacements => run.board_cache.replacements,
            Self::MainLine => run.main_line,
            Self::Calls => run.calls,
        };
        count as f64
    }
}

impl Measurements {
    /// What was found of a stack's build.
    ///
    /// # Errors
    /// If nothing was.
    pub fn point(&self, stack: Protocols, build: Build) -> Found<&Point> {
        let is_it = |point: &&Point| (point.stack, point.build) == (stack, build);
        self.points.iter().find(is_it).ok_or_else(|| format!("Nothing was found of {}.", name(stack, build)))
    }

    /// `of` each run of a build: the same in every order if a technique places its functions, under every assumption.
    ///
    /// # Errors
    /// If the build was not simulated.
    pub fn each_order(&self, stack: Protocols, build: Build, of: impl Fn(&Run) -> f64) -> Found<Spread> {
        let point = self.point(stack, build)?;
        let under = |assumption| point.runs_under(assumption).iter().map(&of).collect();
        let is_known = build.is_placed() || point.runs.len() > 1;
        let spread = Spread::new((0..point.assumptions()).map(under).collect(), is_known);
        spread.ok_or_else(|| format!("{} was not simulated.", name(stack, build)))
    }

    /// A quantity of a build over its orders.
    ///
    /// # Errors
    /// If the build was not simulated.
    pub fn spread(&self, stack: Protocols, build: Build, quantity: Quantity) -> Found<Spread> {
        self.each_order(stack, build, |run| quantity.of(run))
    }

    /// By how much a quantity falls from one build to another.
    ///
    /// # Errors
    /// If one of them was not simulated.
    pub fn saved(&self, stack: Protocols, from: Build, to: Build, quantity: Quantity) -> Found<Spread> {
        Ok(self.spread(stack, from, quantity)?.minus(&self.spread(stack, to, quantity)?))
    }

    /// By how many percent a build has fewer i-cache replacement misses than OUT; without end if only OUT has none.
    ///
    /// # Errors
    /// If one of them was not simulated.
    pub fn fewer_replacements(&self, stack: Protocols, build: Build) -> Found<Spread> {
        let of = |build| self.spread(stack, build, Quantity::InstructionReplacements);
        Ok(of(build)?.below(&of(Build::Out)?))
    }

    /// Processing time in microseconds of the source's processor.
    ///
    /// # Errors
    /// If the build was not simulated.
    pub fn microseconds(&self, stack: Protocols, build: Build) -> Found<Spread> {
        self.each_order(stack, build, |run| run.cycles() as f64 / CYCLES_PER_MICROSECOND)
    }

    /// I of Table 8: which part of the saved accesses of the board's cache is due to instructions, in percent. They are what is saved
    /// beside misses of data and writes that were not merged.
    ///
    /// # Errors
    /// If a build was not simulated, or no accesses are saved.
    pub fn due_to_instructions(&self, stack: Protocols, from: Build, to: Build) -> Found<Value> {
        let due = |run: &Run| run.board_cache.accesses as f64 - run.data_cache.misses as f64;
        let part = self.per_saved_access(stack, from, to, due)?;
        let percent = |part: f64| 100.0 * part;
        Ok(Value { mean: percent(part.mean), low: percent(part.low), high: percent(part.high) })
    }

    /// What falls of `quantity` for each access of the board's cache that is saved: the mean of one over that of the other, and the
    /// range over pairs of orders. Without a range if in some of them no access is saved.
    ///
    /// # Errors
    /// If a build was not simulated, or no accesses are saved on average.
    pub fn per_saved_access(
        &self,
        stack: Protocols,
        from: Build,
        to: Build,
        quantity: impl Fn(&Run) -> f64,
    ) -> Found<Value> {
        let accesses = |run: &Run| Quantity::BoardAccesses.of(run);
        let pairs = |of: &dyn Fn(&Run, &Run) -> f64| self.each_pair(stack, from, to, of);
        let saved = pairs(&|from, to| accesses(from) - accesses(to))?;
        let falls = pairs(&|from, to| quantity(from) - quantity(to))?;
        if saved.mean() <= 0.0 {
            return Err(format!("{stack}, {from} to {to}: no accesses of the b-cache are saved."));
        }
        let mean = falls.mean() / saved.mean();
        if saved.value().low <= 0.0 {
            return Ok(Value { mean, low: f64::NEG_INFINITY, high: f64::INFINITY });
        }
        let ratio = pairs(&|from, to| (quantity(from) - quantity(to)) / (accesses(from) - accesses(to)))?;
        let Value { low, high, .. } = ratio.value();
        Ok(Value { mean, low: low.min(mean), high: high.max(mean) })
    }

    /// `of` each pair of runs of two builds.
    fn each_pair(
        &self,
        stack: Protocols,
        from: Build,
        to: Build,
        of: &dyn Fn(&Run, &Run) -> f64,
    ) -> Found<Spread> {
        let is_known = |build| self.spread(stack, build, Quantity::Cycles).map(|spread| spread.is_known());
        let is_known = is_known(from)? && is_known(to)?;
        let (from, to) = (self.point(stack, from)?, self.point(stack, to)?);
        let pairs = |assumption| {
            let to = to.runs_under(assumption);
            from.runs_under(assumption)
                .iter()
                .flat_map(|from| to.iter().map(move |to| of(from, to)))
                .collect()
        };
        let assumptions = from.assumptions().max(to.assumptions());
        let spread = Spread::new((0..assumptions).map(pairs).collect(), is_known);
        spread.ok_or_else(|| format!("{stack} was not simulated."))
    }

    /// Whether round trips were measured, of any build.
    #[must_use]
    pub fn has_round_trips(&self) -> bool {
        self.points.iter().any(|point| !point.round_trips.is_empty())
    }

    /// Round trips of a build, one a block.
    ///
    /// # Errors
    /// If they were not measured.
    pub fn round_trips(&self, stack: Protocols, build: Build) -> Found<&[f64]> {
        let measured = self.point(stack, build)?.round_trips.as_slice();
        if !self.has_round_trips() {
            return Err(
                "No native programs were given (--native), so no round trips were measured.".to_owned()
            );
        }
        if measured.len() < 2 {
            return Err(format!("Round trips of {} were not measured in two blocks.", name(stack, build)));
        }
        Ok(measured)
    }

    /// By how many percent a round trip of one build is longer than that of another, paired by block.
    ///
    /// # Errors
    /// If one of them was not measured.
    pub fn slower(&self, stack: Protocols, build: Build, than: Build) -> Found<Value> {
        let changed = change(self.round_trips(stack, build)?, self.round_trips(stack, than)?);
        changed.as_ref().map(Value::from_change).ok_or_else(|| unpaired(stack, build, than))
    }

    /// By how many nanoseconds one step saves more than another on the client's side, paired by block. Both hosts have the build, so
    /// that is half of a round trip.
    ///
    /// # Errors
    /// If a build of them was not measured.
    pub fn saves_more(
        &self,
        one: (Protocols, Build, Build),
        other: (Protocols, Build, Build),
    ) -> Found<Value> {
        let saved = |(stack, from, to): (Protocols, Build, Build)| -> Found<Vec<f64>> {
            let (from, to) = (self.round_trips(stack, from)?, self.round_trips(stack, to)?);
            Ok(from.iter().zip(to).map(|(from, to)| 0.5 * (from - to)).collect())
        };
        let interval = difference(&saved(one)?, &saved(other)?);
        let interval = interval.ok_or_else(|| unpaired(one.0, one.1, other.2))?;
        Ok(Estimate::new(interval.mean, interval.half_width).into())
    }
}

fn unpaired(stack: Protocols, build: Build, other: Build) -> String {
    format!("Round trips of {} and {other} were not measured in the same blocks.", name(stack, build))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mosberger_1996::example::{changed, of_the_source};

    const OUTLINING: (Protocols, Build, Build) = (Protocols::TcpIp, Build::Std, Build::Out);

    #[test]
    fn what_is_due_to_instructions_is_what_data_does_not_explain() {
        let (stack, from, to) = OUTLINING;
        let share = of_the_source().due_to_instructions(stack, from, to).expect("accesses are saved");
        assert!((share.mean - 100.0 * 73.0 / 103.0).abs() < 1e-9 && share.low == share.high, "{share:?}");
    }

    #[test]
    fn without_saved_accesses_nothing_is_due_to_instructions() {
        let (stack, from, to) = OUTLINING;
        let same = changed(of_the_source(), (stack, to), |run| run.board_cache.accesses = 1286);
        let reason = same.due_to_instructions(stack, from, to).expect_err("no accesses are saved");
        assert_eq!(reason, "TCP/IP, STD to OUT: no accesses of the b-cache are saved.");
    }

    #[test]
    fn an_order_in_which_none_are_saved_leaves_no_range() {
        let mut unlucky = of_the_source();
        let out = unlucky.points.iter_mut().find(|of| (of.stack, of.build) == (Protocols::TcpIp, Build::Out));
        out.expect("it is there").runs[2].board_cache.accesses = 1300;
        let (stack, from, to) = OUTLINING;
        let share = unlucky.due_to_instructions(stack, from, to).expect("some are saved on average");
        assert!(share.mean.is_finite() && share.low.is_infinite() && share.high.is_infinite(), "{share:?}");
    }

    #[test]
    fn a_client_saves_half_of_a_round_trip() {
        let [outlining, cloning] = [OUTLINING, (Protocols::TcpIp, Build::Out, Build::Clo)];
        let more = of_the_source().saves_more(outlining, cloning).expect("all were measured");
        assert!((more.mean - 1000.0 * (7.45 - 5.3)).abs() < 1.0, "{more:?}");
    }
}
