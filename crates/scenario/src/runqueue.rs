//! The scenario of a run queue: a machine, its scheduler, and the applications whose processes share it.
//!
//! A scenario is written by hand, or by what records a live system. `warmcore simulate runqueue` predicts how long its
//! applications take, what their caches cost, and who waits how long.

mod application;
mod caches;
mod fair;
mod machine;
mod recorded;
mod references;
mod scheduler;
mod thread;
mod unix;

pub use application::{Application, Blocking, Bursts, Ends, Footprint, Jobs, Lock, WakeSource};
pub use caches::{CacheLevel, KnownMachine, MachineCaches};
pub use fair::FairScheduler;
pub use machine::RunQueueMachine;
pub use recorded::{RecordedDelays, RecordedFigures};
pub use references::{Part, Pattern, References};
pub use scheduler::{Attachment, Scheduler, SchedulerKind};
pub use thread::{RecordedThread, Step, Steps};
pub use unix::UnixScheduler;

use crate::document::Checked;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use warmcore_units::Fault;

/// The most processes that a scenario may have.
pub const MAX_PROCESSES: u32 = 65_536;
/// The times that a scenario may have, in milliseconds: up to a day.
pub(crate) const MILLISECONDS: RangeInclusive<f64> = 0.0..=86_400_000.0;

/// The document.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunQueueScenario {
    /// Version of the document, [`Checked::SCHEMA`].
    pub schema: u32,
    /// Name of the mix, for reports.
    #[serde(default)]
    pub name: String,
    /// Seed of every random choice.
    #[serde(default = "one")]
    pub seed: u64,
    /// The number of independent runs, from which the intervals come.
    #[serde(default = "five")]
    pub runs: u32,
    /// Simulated time in seconds. Without it, a run lasts until all work is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The processors and their caches.
    #[serde(default)]
    pub machine: RunQueueMachine,
    /// Who runs next.
    #[serde(default)]
    pub scheduler: Scheduler,
    /// What was recorded, if the scenario is of that origin: what a simulation is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedFigures>,
    /// What runs.
    pub applications: Vec<Application>,
}

const fn one() -> u64 {
    1
}

const fn five() -> u32 {
    5
}

impl RunQueueScenario {
    /// How many processes exist at the same time.
    #[must_use]
    pub fn processes(&self) -> u32 {
        self.applications.iter().fold(0, |sum, application| sum.saturating_add(application.processes))
    }

    /// Either all goes through simulated caches, or nothing does.
    fn check_references(&self, index: usize, application: &Application) -> Result<(), Fault> {
        let field = |name: &str| format!("applications.{index}.{name}");
        match (&self.machine.caches, &application.references) {
            (None, None) => Ok(()),
            (Some(_), None) => {
                let expected = "the references of its processes, which go through `machine.caches`";
                Err(Fault::new(field("references"), "absent", expected))
            }
            (None, Some(_)) => {
                let expected = "`machine.caches` too, through which they go";
                Err(Fault::new(field("references"), "given without caches", expected))
            }
            (Some(_), Some(_)) if application.footprint != Footprint::default() => {
                let expected = "no footprint beside `references`, from which misses come";
                Err(Fault::new(field("footprint"), "given", expected))
            }
            (Some(_), Some(references)) => {
                references.check_size(&field("references"), application.all_processes())
            }
        }
    }

    fn check_length(&self) -> Result<(), Fault> {
        if !(1..=1000).contains(&self.runs) {
            return Err(Fault::new("runs", self.runs, "between 1 and 1000"));
        }
        match self.seconds {
            Some(seconds) if !(seconds > 0.0 && seconds <= 86_400.0) => {
                Err(Fault::new("seconds", seconds, "above 0, at most 86400 (a day)"))
            }
            // A rounded last digit is no longer run.
            Some(seconds) if self.recorded.is_some_and(|recorded| seconds > 1.001 * recorded.seconds) => {
                let recorded = self.recorded.map_or(0.0, |recorded| recorded.seconds);
                Err(Fault::new("seconds", seconds, format!("at most the {recorded} s that were recorded")))
            }
            Some(_) => Ok(()),
            None => match self.applications.iter().position(|one| one.work_ms.is_none()) {
                Some(index) => Err(Fault::new(
                    format!("applications.{index}.work_ms"),
                    "absent",
                    "the time that a process computes in all, or `seconds` at the top: the run would never end",
                )),
                None => Ok(()),
            },
        }
    }
}

impl Checked for RunQueueScenario {
    const WHAT: &'static str = "scenario of a run queue";
    const SCHEMA: u32 = 1;

    fn check(&self) -> Result<(), Fault> {
        Fault::check_schema(self.schema, Self::SCHEMA)?;
        self.machine.check()?;
        self.scheduler.check()?;
        if let Some(recorded) = &self.recorded {
            recorded.check()?;
        }
        if self.applications.is_empty() {
            return Err(Fault::new("applications", "empty", "at least one application"));
        }
        for (index, application) in self.applications.iter().enumerate() {
            application.check(index, self.machine.cpus, self.processes())?;
            self.check_references(index, application)?;
        }
        if self.applications.iter().all(|one| one.background) {
            let expected =
                "an application that is not in the background: the others are what the mix is judged by";
            return Err(Fault::new("applications.0.background", "true, as of all", expected));
        }
        if self.processes() > MAX_PROCESSES {
            let expected = format!("at most {MAX_PROCESSES} processes in all");
            return Err(Fault::new("applications", format!("{} processes", self.processes()), expected));
        }
        self.check_length()
    }
}

/// Refuses a `value` outside `range`.
pub(crate) fn within(
    field: impl Into<String>,
    value: f64,
    range: RangeInclusive<f64>,
    unit: &str,
) -> Result<(), Fault> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Fault::new(field, value, format!("between {} and {} {unit}", range.start(), range.end())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;
    use std::path::Path;

    const MIX: &str = r#"schema = 1
name = "two matrices"
seconds = 10

[machine]
cpus = 4

[scheduler]
a_p = 6
a_t = 6

[[applications]]
name = "Matrix"
processes = 8
footprint = { reload_misses = 3000, steady_misses_per_ms = 100 }
bursts = { edges_ms = [0, 5, 30], shares = [0.02, 0.03], tail_ms = 500 }
ends = { block = 2, reschedule = 3 }
blocking = { mean_ms = 10 }
"#;

    fn read(text: &str) -> Result<RunQueueScenario, String> {
        parse(text, Path::new("r.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_short_document_is_read_and_written_back() {
        let scenario = read(MIX).unwrap();
        assert_eq!((scenario.processes(), scenario.runs), (8, 5));
        assert_eq!(read(&toml::to_string(&scenario).unwrap()).unwrap(), scenario);
    }

    #[test]
    fn what_cannot_run_is_refused_with_line_and_field() {
        for (from, to, expected) in [
            ("a_p = 6", "a_p = -6", "r.toml:9: "),
            ("a_t = 6", "slice_ms = 3", "`scheduler.slice_ms` is given, expected none"),
            ("a_t = 6", "kind = \"fair\"", "r.toml:9: "),
            ("a_t = 6", "kind = \"fair\"", "`scheduler.a_p` is given, expected none"),
            ("a_t = 6", "decay_to = -0.5", "`scheduler.decay_to` is -0.5, expected between 0 and 1"),
            ("a_t = 6", "decay_to = nan", "`scheduler.decay_to` is NaN"),
            ("cpus = 4", "cpus = 0", "`machine.cpus` is 0"),
            ("processes = 8", "processes = 8\nattached = [4]", "r.toml:15: "),
            ("processes = 8", "processes = 8\nattached = [4]", "expected a cpu below 4"),
            ("seconds = 10", "", "`applications.0.work_ms` is absent"),
            (
                "processes = 8",
                "processes = 8\nbackground = true",
                "`applications.0.background` is true, as of all",
            ),
            ("[0, 5, 30]", "[0, 30, 5]", "`applications.0.bursts.edges_ms` is"),
            ("[0.02, 0.03]", "[0.02, 1.03]", "`applications.0.bursts.shares` is"),
            ("block = 2", "block = -2", "`applications.0.ends.block` is -2"),
            ("name = \"Matrix\"", "name = \"Matrix\"\nnice = 3", "unknown field `nice`"),
        ] {
            let text = MIX.replacen(from, to, 1);
            assert_ne!(text, MIX, "{from}");
            let found = read(&text).expect_err(to);
            assert!(found.contains(expected), "{to}: {found}");
        }
    }

    const DETAILED: &str = r#"schema = 1
seconds = 1

[machine]
caches = { of = "sgi-4d-340" }

[[applications]]
name = "Matrix"
processes = 8
bursts = { tail_ms = 500 }
ends = { reschedule = 3 }
references = { per_us = 8, parts = [
  { kib = 48, share = 1, stores = 0.2, pattern = { loop = { block_kib = 8, repeats = 4 } } },
  { kib = 16, share = 1, code = true },
] }
"#;

    #[test]
    fn caches_and_references_are_read_and_written_back() {
        let scenario = read(DETAILED).unwrap();
        assert_eq!(read(&toml::to_string(&scenario).unwrap()).unwrap(), scenario);
        let described = scenario.machine.caches.map(|caches| caches.description(8));
        assert_eq!(
            described.map(|described| (described.caches.len(), described.cpus().len())),
            Some((24, 8))
        );
        let levels = r#"{ mhz = 1000, memory_cycles = 200, levels = [
  { level = 1, kind = "unified", kib = 32, line_bytes = 64, ways = 8, cycles = 4 },
  { level = 2, kind = "unified", kib = 4096, line_bytes = 64, ways = 16, cycles = 40, shared = true },
] }"#;
        let scenario = read(&DETAILED.replacen(r#"{ of = "sgi-4d-340" }"#, levels, 1)).unwrap();
        let described = scenario.machine.caches.map(|caches| caches.description(4));
        let sharing: Option<Vec<usize>> =
            described.map(|described| described.caches.iter().map(|cache| cache.shared_by.len()).collect());
        assert_eq!(sharing, Some(vec![1, 1, 1, 1, 4]));
    }

    #[test]
    fn caches_without_references_are_refused() {
        let text = DETAILED.split("references").next().unwrap();
        let found = read(text).expect_err("no references");
        assert!(found.contains("`applications.0.references` is absent"), "{found}");
    }

    #[test]
    fn incomplete_or_mixed_caches_are_refused_with_line_and_field() {
        for (from, to, expected) in [
            (r#"of = "sgi-4d-340""#, r#"of = "vax""#, "unknown name `vax`"),
            (r#"of = "sgi-4d-340""#, "", "`machine.caches` is without caches, expected a known machine"),
            (r#"of = "sgi-4d-340""#, r#"of = "dec-3000-600""#, "`machine.caches.memory_cycles` is absent"),
            (r#"of = "sgi-4d-340""#, r#"of = "three-levels""#, "`machine.caches.mhz` is absent"),
            (
                r#"of = "sgi-4d-340""#,
                r#"mhz = 33, memory_cycles = 9, levels = [{ level = 1, kind = "data", kib = 3, line_bytes = 16, ways = 1, cycles = 1 }]"#,
                "r.toml:5: not a usable scenario of a run queue: `machine.caches.levels.0.kib` is 3 KiB",
            ),
            (r#"caches = { of = "sgi-4d-340" }"#, "", "`applications.0.references` is given without caches"),
            ("[machine]", "[machine]\nmiss_ns = 70", "`machine.miss_ns` is 70, expected nothing"),
            ("ends =", "footprint = { reload_misses = 3 }\nends =", "`applications.0.footprint` is given"),
            ("per_us = 8", "per_us = 0", "`applications.0.references.per_us` is 0"),
            (
                "block_kib = 8",
                "block_kib = 80",
                "`applications.0.references.parts.0.pattern.loop.block_kib` is 80",
            ),
            (
                "code = true",
                "code = true, stores = 1",
                "`applications.0.references.parts.1.stores` is 1, expected 0",
            ),
            ("kib = 48", "kib = 480000", "`applications.0.references.parts` is 3750 MiB in all processes"),
        ] {
            let text = DETAILED.replacen(from, to, 1);
            assert_ne!(text, DETAILED, "{from}");
            let found = read(&text).expect_err(to);
            assert!(found.contains(expected), "{to}: {found}");
        }
    }
}
