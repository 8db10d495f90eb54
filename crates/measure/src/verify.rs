//! Whether a plan brings anything on this host: the four affinity models of Foong, Fung & Newell 2004 in
//! turn on a running workload, and everything taken back afterwards.
//!
//! ```text
//! plan ──► model ──► tuning::apply ──► work, watched ──► tuning::undo ──► findings
//!          (none, interrupt-only,      (what is done,     (every run      (changes against `none`,
//!           process-only, full)         what it takes)     leaves nothing)  held against A/A)
//! ```
//!
//! | module | knows |
//! |---|---|
//! | [`model_plan`] | which lines of a plan belong to which affinity model |
//! | [`work`] | how much was done |
//! | [`built_in`] | the load that is there where the user gives none |
//! | [`monitor`] | what it took: the cpus' time, moves of threads, softirqs, what the processor counted |
//! | [`findings`] | whether a model differs from no affinity by more than that differs from itself |
//! | [`results`] | the figures for other programs |
//!
//! What must hold: a run's changes are journalled like those of `host apply`, and none is left when the
//! run ends, however it ends.

pub mod built_in;
pub mod findings;
pub mod model_plan;
pub mod monitor;
pub mod results;
pub mod work;

use crate::blocks::{BlockDesign, BlockError, BlockRun};
use crate::model::Model;
use findings::Findings;
use model_plan::model_plan;
use monitor::{Monitor, ResourceUse};
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;
use warmcore_linux::counters::{Counters, Source};
use warmcore_linux::tuning::apply::ApplyError;
use warmcore_linux::tuning::step::StepError;
use warmcore_linux::tuning::{JournalDirectory, JournalError, Plan, System, apply, changes, steps, undo};
use warmcore_linux::{CpuUsage, probe::ProbeError};
use work::{Work, WorkError};

/// Between a change and the run that it is for: the kernel moves threads and interrupts when they next
/// have something to do.
const SETTLE: Duration = Duration::from_millis(200);

/// What is tried, on what, and how often.
#[derive(Debug)]
pub struct Verification<'a> {
    /// The plan; it was admitted.
    pub plan: &'a Plan,
    /// Where its settings stand.
    pub system: &'a dyn System,
    /// Where counters come from.
    pub source: &'a dyn Source,
    /// Where its changes are journalled.
    pub directory: &'a JournalDirectory,
    /// What counts as work.
    pub work: Work,
    /// The length of a run.
    pub time: Duration,
    /// How runs are arranged.
    pub blocks: BlockDesign,
}

/// A plan could not be verified. Nothing of it is in force, unless [`Self::NotTakenBack`] says so.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The plan changes nothing.
    #[error(
        "everything is as the plan has it: take it back first (`warmcore host undo`), or there is nothing to compare"
    )]
    AlreadyInForce,
    /// A line cannot be made into steps.
    #[error(transparent)]
    Step(#[from] StepError),
    /// No journal can be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A change was refused.
    #[error(transparent)]
    Apply(#[from] Box<ApplyError>),
    /// A change could not be taken back.
    #[error("not everything is as it was before: {0}: see `warmcore host undo`")]
    NotTakenBack(String),
    /// It cannot be told how much work was done.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// There are no intervals.
    #[error(
        "no cpu was busy in a run, or there were fewer than two blocks: expected a workload, or longer runs"
    )]
    Idle,
    /// The machine cannot be looked at.
    #[error(transparent)]
    Machine(#[from] ProbeError),
    /// The user has stopped it.
    #[error("interrupted: everything is as it was before")]
    Interrupted,
}

/// What one run did and took.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Work per second, in the unit of the [`Work`].
    pub rate: f64,
    /// What it took.
    pub resources: ResourceUse,
}

impl Verification<'_> {
    /// Tries every model in every block, `none` twice.
    ///
    /// # Errors
    /// If a change cannot be made or taken back, or no work was done; everything is as it was before then.
    pub fn run(&self, stop: &AtomicBool) -> Result<Findings, VerifyError> {
        if changes(steps(self.plan, self.system)?).is_empty() {
            return Err(VerifyError::AlreadyInForce);
        }
        self.directory.require_none_applied(self.system)?;
        let models = model_plan::models_to_try(self.plan);
        let monitor = Monitor::new(self.plan)?;
        let mut counters = Counters::open(self.source, monitor.cpus());
        let once = |number: usize| self.once(models[number], &monitor, &mut counters, stop);
        let tried = self.blocks.run(models.len(), stop, once);
        let tried = tried.map_err(|error| match error {
            BlockError::Run(error) => error,
            BlockError::Interrupted => VerifyError::Interrupted,
        })?;
        Findings::new(&models, &tried, &self.work, &monitor, &counters).ok_or(VerifyError::Idle)
    }

    /// One run under `model`, with nothing left of it afterwards.
    fn once(
        &self,
        model: Model,
        monitor: &Monitor,
        counters: &mut Counters,
        stop: &AtomicBool,
    ) -> Result<(Observed, CpuUsage), VerifyError> {
        let part = model_plan(self.plan, model);
        let steps = changes(steps(&part, self.system)?);
        if steps.is_empty() {
            return self.observe(&part, monitor, counters, stop);
        }
        apply(self.directory.begin(self.system, steps, false)?, stop)?;
        let observed = self.observe(&part, monitor, counters, stop);
        self.take_back()?;
        observed
    }

    /// A run with `part` of the plan in force.
    fn observe(
        &self,
        part: &Plan,
        monitor: &Monitor,
        counters: &mut Counters,
        stop: &AtomicBool,
    ) -> Result<(Observed, CpuUsage), VerifyError> {
        sleep(SETTLE);
        let mut monitored = monitor.start(self.system, counters)?;
        let (rate, spent, counted) = self.work.run(part, self.system, self.time, stop, &mut monitored)?;
        Ok((Observed { rate, resources: monitored.resources(&spent, counted)? }, spent))
    }

    fn take_back(&self) -> Result<(), VerifyError> {
        let Some(journal) = self.directory.open(self.system, false)? else { return Ok(()) };
        let undone = undo(journal, false)?;
        if undone.is_complete() { Ok(()) } else { Err(VerifyError::NotTakenBack(undone.to_string())) }
    }
}

/// What was tried of one model.
pub(crate) type ModelRuns = Vec<BlockRun<Observed>>;
