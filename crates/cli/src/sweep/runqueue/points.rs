//! The schedulers that a sweep tries: the scenario's own, and every combination of the values asked for.

use crate::args::runqueue::{LEVELS, SweepRunqueueArguments};
use crate::misuse::misuse;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::{Attachment, FairScheduler, Scheduler, SchedulerKind, UnixScheduler};
use warmcore_sim::runqueue::advice::{Alternative, ApplicationFigures, RunFigures};

/// The name of the scenario's own scheduler.
pub(super) const OWN: &str = "the scenario's own";

/// The values of a sweep, with what stands for those that are not given.
struct Values {
    levels: Vec<u32>,
    quanta: Vec<f64>,
    slices: Vec<f64>,
    attach: Vec<Attachment>,
}

impl Values {
    /// `--levels` and `--quanta` make UNIX schedulers, `--slices` fair ones; without any, those of the scenario's kind are made.
    fn new(base: &RunQueueScenario, given: &SweepRunqueueArguments) -> Self {
        let or = |given: &[f64], own: &[f64]| if given.is_empty() { own.to_vec() } else { given.to_vec() };
        let is_given = [&given.quanta, &given.slices].iter().any(|values| !values.is_empty());
        let is_plain = given.levels.is_empty() && !is_given;
        let is_fair = base.scheduler.kind() == SchedulerKind::Fair;
        let unix = !given.levels.is_empty() || !given.quanta.is_empty() || (is_plain && !is_fair);
        let own_slice = base.scheduler.fair().slice_ms(base.machine.cpus);
        Self {
            levels: match (unix, given.levels.is_empty()) {
                (false, _) => Vec::new(),
                (true, true) => LEVELS.map(|(_, level)| level).to_vec(),
                (true, false) => given.levels.clone(),
            },
            quanta: or(&given.quanta, &[base.scheduler.unix().quantum_ms]),
            slices: match is_plain && is_fair {
                true => [1.0 / 3.0, 1.0, 3.0, 10.0].map(|factor| own_slice * factor).to_vec(),
                false => given.slices.clone(),
            },
            attach: match given.attach.is_empty() {
                true => vec![base.scheduler.attach()],
                false => given.attach.clone(),
            },
        }
    }

    fn combinations(&self) -> f64 {
        let [levels, quanta, slices, attach] =
            [self.levels.len(), self.quanta.len(), self.slices.len(), self.attach.len()]
                .map(|count| count as f64);
        (levels * quanta + slices) * attach
    }
}

/// The scheduler of `base` first, then every other one asked for.
pub(super) fn points(
    base: &RunQueueScenario,
    given: &SweepRunqueueArguments,
) -> miette::Result<Vec<Alternative>> {
    let values = Values::new(base, given);
    check_memory(base, values.combinations())?;
    let cpus = base.machine.cpus;
    let own = complete(&base.scheduler, cpus);
    let mut points = vec![Alternative { name: OWN.to_owned(), scheduler: base.scheduler }];
    let mut add = |scheduler: Scheduler| {
        if complete(&scheduler, cpus) != own {
            points.push(Alternative { name: name(&scheduler, cpus), scheduler });
        }
    };
    for &attach in &values.attach {
        for &quantum_ms in &values.quanta {
            for &level in &values.levels {
                let own = base.scheduler.unix();
                add(UnixScheduler { a_p: level, a_t: level, quantum_ms, attach, ..own }.into());
            }
        }
        for &slice in &values.slices {
            add(FairScheduler { slice_ms: Some(slice), attach, ..base.scheduler.fair() }.into());
        }
    }
    Ok(points)
}

/// The same scheduler with every constant written out, so that equal ones compare equal.
fn complete(scheduler: &Scheduler, cpus: u32) -> Scheduler {
    match scheduler.kind() {
        SchedulerKind::Unix => scheduler.unix().into(),
        SchedulerKind::Fair => {
            let fair = scheduler.fair();
            FairScheduler { slice_ms: Some(fair.slice_ms(cpus)), ..fair }.into()
        }
    }
}

/// A scheduler in a few words.
pub(super) fn name(scheduler: &Scheduler, cpus: u32) -> String {
    let constants = match scheduler.kind() {
        SchedulerKind::Unix => {
            let UnixScheduler { quantum_ms, a_p, a_t, complex, .. } = scheduler.unix();
            let level = match named(a_p) {
                _ if a_p != a_t => format!("a_p {a_p} and a_t {a_t}"),
                Some(name) => format!("affinity {a_p} ({name})"),
                None => format!("affinity {a_p}"),
            };
            let form = if complex { ", complex" } else { "" };
            format!("{level}{form}, quanta of {quantum_ms} ms")
        }
        SchedulerKind::Fair => format!("fair, slices of {} ms", slice(scheduler, cpus)),
    };
    match scheduler.attach() {
        Attachment::None => constants,
        attach => format!("{constants}, attached {attach}"),
    }
}

/// A scheduler beside others in a chart.
pub(super) fn label(scheduler: &Scheduler, cpus: u32) -> String {
    let constants = match scheduler.kind() {
        SchedulerKind::Unix => {
            let UnixScheduler { quantum_ms, a_p, .. } = scheduler.unix();
            let level = named(a_p).map_or_else(|| a_p.to_string(), ToOwned::to_owned);
            format!("{level}, {quantum_ms} ms")
        }
        SchedulerKind::Fair => format!("fair, {} ms", slice(scheduler, cpus)),
    };
    match scheduler.attach() {
        Attachment::None => constants,
        attach => format!("{constants}, {attach}"),
    }
}

/// The name of a level of affinity.
fn named(level: u32) -> Option<&'static str> {
    LEVELS.iter().find(|(_, of)| *of == level).map(|(name, _)| *name)
}

/// A slice in milliseconds, to a microsecond.
fn slice(scheduler: &Scheduler, cpus: u32) -> String {
    let slice = format!("{:.3}", scheduler.fair().slice_ms(cpus));
    slice.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The most memory for all combinations, in bytes.
const MOST: f64 = 1e9;
/// What an application takes in a combination's scenario, as a value and as text in the journal, in bytes.
const APPLICATION: f64 = 1e3;

/// Refuses more combinations than fit the memory.
fn check_memory(base: &RunQueueScenario, combinations: f64) -> miette::Result<()> {
    let applications = base.applications.len() as f64;
    let run = size_of::<RunFigures>() as f64 + applications * size_of::<ApplicationFigures>() as f64;
    let bytes = combinations * (applications * APPLICATION + f64::from(base.runs) * run);
    if bytes <= MOST {
        return Ok(());
    }
    Err(misuse(format!(
        "--levels, --quanta, --slices and --attach have {combinations} combinations, which need {:.1} GB: expected fewer, at \
         most {:.0} GB",
        bytes / 1e9,
        MOST / 1e9
    )))
}
