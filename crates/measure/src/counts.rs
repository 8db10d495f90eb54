//! Results of the processor's counters for the runs of an experiment, per unit of work, and how cycles
//! are determined without counters.
//!
//! Foong, Fung & Newell 2004 measure cost in GHz/Gbps, which is cycles per bit ("Results and
//! Analysis"), and count misses per unit of work (figure 5).

use core::fmt;
use serde::Serialize;
use warmcore_linux::counters::{Code, CounterError, Counters, Event, EventCounts};
use warmcore_stats::Spread;
use warmcore_units::{Nanos, PerSecond};

/// How cycles are determined, for all runs of an experiment alike.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cycles {
    /// Counted by the processor: cycles in which cpus were not halted.
    Counted,
    /// Computed from the time in which cpus were busy and this clock rate: the first cpu's before the
    /// first run, as reported by the kernel.
    AtClock(PerSecond),
    /// Unknown: there are no counters, and the kernel reports no clock rate.
    Unknown,
}

impl Cycles {
    /// [`Counted`](Self::Counted) if the counters counted in all of `runs`, else from `clock`.
    pub(crate) fn new<'a>(runs: impl IntoIterator<Item = &'a EventCounts>, clock: Option<PerSecond>) -> Self {
        let mut runs = runs.into_iter().peekable();
        let has_runs = runs.peek().is_some();
        match clock {
            _ if has_runs && runs.all(|run| run.get(Event::Cycles).is_ok()) => Self::Counted,
            Some(clock) => Self::AtClock(clock),
            None => Self::Unknown,
        }
    }

    /// The cycles of a run in which cpus were busy for `busy` in total.
    pub(crate) fn of_run(self, counted: &EventCounts, busy: Nanos) -> Option<f64> {
        match self {
            Self::Counted => counted.get(Event::Cycles).ok().map(|tally| tally.count),
            Self::AtClock(clock) => Some(clock.0 * busy.secs()),
            Self::Unknown => None,
        }
    }
}

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counted => f.write_str("cycles are counted by the processor"),
            Self::AtClock(PerSecond(clock)) => write!(
                f,
                "cycles are busy time at {:.2} GHz, the rate of the first cpu as the kernel reports it",
                clock / 1e9
            ),
            Self::Unknown => {
                f.write_str("no cycles: nothing counts them, and the kernel reports no clock rate")
            }
        }
    }
}

/// Count of each [`Event`] per unit of a run's work.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PerUnit([Option<f64>; Event::ALL.len()]);

impl PerUnit {
    /// Divides the counts of a run by its units of work.
    pub(crate) fn of_run(counted: &EventCounts, work: f64) -> Self {
        Self(
            Event::ALL
                .map(|event| counted.get(event).ok().filter(|_| work > 0.0).map(|tally| tally.count / work)),
        )
    }

    /// The count of one event; `None` if it was not counted.
    #[must_use]
    pub fn get(&self, event: Event) -> Option<f64> {
        self.0[event as usize]
    }
}

/// Which events were counted in all runs of an experiment, and why the others were not.
#[derive(Clone, PartialEq, Debug)]
pub struct Coverage([EventCoverage; Event::ALL.len()]);

/// How one event was counted.
#[derive(Clone, PartialEq, Debug)]
pub struct EventCoverage {
    /// The event.
    pub event: Event,
    /// The counter used, and the least fraction of the time in which it counted, from 0 to 1; below 1,
    /// counts are scaled. Or why it was not counted.
    pub counted: Result<(Code, f64), CounterError>,
}

impl Coverage {
    /// The coverage of `runs`, counted by `counters`.
    pub(crate) fn new(counters: &Counters, runs: &[&EventCounts]) -> Self {
        let least = |event| {
            let tallies = runs.iter().map(|run| run.get(event));
            tallies
                .map(|tally| tally.map(|tally| tally.running))
                .try_fold(1.0, |least, running| running.map(|running| f64::min(least, running)))
        };
        Self(Event::ALL.map(|event| {
            let counted = counters.code(event).and_then(|code| Ok((code, least(event)?)));
            EventCoverage { event, counted: counted.map_err(Clone::clone) }
        }))
    }

    /// All events.
    #[must_use]
    pub const fn events(&self) -> &[EventCoverage] {
        &self.0
    }

    /// Whether anything was counted.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.0.iter().any(|covered| covered.counted.is_ok())
    }

    /// The same for other programs.
    #[must_use]
    pub fn results(&self) -> [CoverageResults; Event::ALL.len()] {
        self.0.each_ref().map(|covered| {
            let counted = covered.counted.as_ref();
            CoverageResults {
                event: covered.event.name(),
                counted_as: counted.ok().map(|(code, _)| code.name),
                counts: counted.ok().map(|(code, _)| code.counts),
                part_of_time: counted.ok().map(|(_, running)| *running),
                why_not: counted.err().map(ToString::to_string),
            }
        })
    }
}

/// A line for each event; one line if none was counted.
impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let none = self.0.iter().find_map(|covered| covered.counted.as_ref().err());
        if let Some(why) = none.filter(|_| !self.is_any()) {
            return write!(f, "No counters here: {why}.");
        }
        let lines = self.0.iter().map(|EventCoverage { event, counted }| match counted {
            Ok((code, running)) if *running < 1.0 => format!(
                "{event} are {code}; counted in {:.0}% of the time or more, and scaled to all of it.",
                running * 100.0
            ),
            Ok((code, _)) => format!("{event} are {code}."),
            Err(why) => format!("{event} are not counted: {why}."),
        });
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

/// One event of a [`Coverage`], for other programs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CoverageResults {
    /// The event.
    pub event: &'static str,
    /// The processor's or the kernel's name of the counter; `null` if nothing was counted.
    pub counted_as: Option<&'static str>,
    /// What the counter counts.
    pub counts: Option<&'static str>,
    /// The least fraction of the time in which it was counted, from 0 to 1; below 1, counts are scaled.
    pub part_of_time: Option<f64>,
    /// Why nothing was counted.
    pub why_not: Option<String>,
}

/// Counts per unit of work, run by run, for other programs; `null` where nothing was counted.
#[derive(Clone, Debug, Serialize)]
pub struct CountedResults {
    /// Cycles in which cpus were not halted.
    pub cycles: Option<Spread>,
    /// Instructions.
    pub instructions: Option<Spread>,
    /// Misses of the second level of caches.
    pub l2_misses: Option<Spread>,
    /// Misses of the third, or the last, level.
    pub l3_misses: Option<Spread>,
}

impl CountedResults {
    /// Calls `spread` for each event.
    #[must_use]
    pub fn from_fn(spread: impl Fn(Event) -> Option<Spread>) -> Self {
        let [cycles, instructions, l2_misses, l3_misses] = Event::ALL.map(spread);
        Self { cycles, instructions, l2_misses, l3_misses }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_linux::fake::counters::{FakeCounter, FakeSource};
    use warmcore_units::CpuId;

    /// A run on two cpus.
    fn run(counters: &mut Counters) -> EventCounts {
        let before = counters.read();
        counters.read().since(&before)
    }

    fn open(source: &FakeSource) -> Counters {
        Counters::open(source, &[CpuId(0), CpuId(1)])
    }

    #[test]
    fn counted_cycles_are_preferred_to_busy_time_at_a_clock_rate() {
        let (clock, busy) = (Some(PerSecond(2e9)), Nanos::from_secs(1.5));
        let mut none = open(&FakeSource::zen());
        let mut some = open(&FakeSource::zen().with("cycles", FakeCounter::always_running(500)));
        let (bare, counted) = (run(&mut none), run(&mut some));
        assert_eq!(Cycles::new([&counted, &counted], clock), Cycles::Counted);
        assert_eq!(Cycles::Counted.of_run(&counted, busy), Some(1000.0));
        assert_eq!(Cycles::new([&counted, &bare], clock), Cycles::AtClock(PerSecond(2e9)));
        assert_eq!(Cycles::AtClock(PerSecond(2e9)).of_run(&counted, busy), Some(3e9));
        assert_eq!((Cycles::new([&bare], None), Cycles::new([], None)), (Cycles::Unknown, Cycles::Unknown));
        assert_eq!(Cycles::Unknown.of_run(&counted, busy), None);
        let per_unit = PerUnit::of_run(&counted, 4000.0);
        assert_eq!((per_unit.get(Event::Cycles), per_unit.get(Event::L2Misses)), (Some(0.25), None));
        assert_eq!(PerUnit::of_run(&counted, 0.0), PerUnit::default());
    }

    #[test]
    fn the_coverage_says_what_was_counted_and_what_was_not() {
        let mut counters = open(&FakeSource::zen());
        let runs = [run(&mut counters)];
        let told = Coverage::new(&counters, &runs.each_ref()).to_string();
        assert!(told.starts_with("No counters here: the system answered `No such file"), "{told}");
        assert!(told.contains("to `cycles` on cpu0") && !told.contains('\n'), "{told}");

        let source = FakeSource::zen()
            .with("cycles", FakeCounter::always_running(1000))
            .with("instructions", FakeCounter { step: 10, running: 0.2 })
            .with("l2_cache_req_stat.ic_dc_miss_in_l2", FakeCounter { step: 10, running: 0.8 });
        let mut counters = open(&source);
        let runs = [run(&mut counters), run(&mut counters)];
        let coverage = Coverage::new(&counters, &runs.each_ref());
        let told = coverage.to_string();
        for line in [
            "cycles are `cycles`: cycles in which a cpu was not halted.",
            "instructions are not counted: it shared a hardware counter",
            "L2 misses are `l2_cache_req_stat.ic_dc_miss_in_l2`: ",
            "counted in 80% of the time or more",
            "L3 misses are not counted: the system answered",
        ] {
            assert!(told.contains(line), "{line}: {told}");
        }
        let [cycles, instructions, ..] = coverage.results();
        assert_eq!((cycles.counted_as, cycles.part_of_time), (Some("cycles"), Some(1.0)));
        assert!(instructions.why_not.is_some_and(|why| why.contains("20%")));
    }
}
