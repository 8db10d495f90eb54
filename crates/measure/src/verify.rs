//! Measures whether a plan improves anything on this host. The four affinity models of Foong, Fung &
//! Newell 2004 are applied in turn to a running workload, and every change is undone afterwards.
//!
//! ```text
//! plan ──► model ──► tuning::apply ──► work, monitored ─► tuning::undo ──► findings
//!          (none, interrupt-only,      (what is done,     (every run      (changes against `none`,
//!           process-only, full)         what it takes)     leaves nothing)  held against A/A)
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`mod@model_plan`] | which lines of a plan belong to which affinity model |
//! | [`work`] | the work done in a run |
//! | [`built_in`] | the built-in load, used if the user gives none |
//! | [`monitor`] | resources used: the cpus' time, thread migrations, softirqs, the processor's counts |
//! | [`findings`] | whether a model differs from no affinity by more than the A/A difference |
//! | [`promise`] | whether the processor time that the plan promises to save is what was found |
//! | [`results`] | the results for other programs |
//!
//! What must hold: a run's changes are journalled like those of `host apply`, and all of them are
//! undone when the run ends, however it ends. A plan is kept only if that is asked for and it brings a gain.

pub mod built_in;
pub mod findings;
pub mod model_plan;
pub mod monitor;
pub mod promise;
pub mod results;
pub mod work;

use crate::blocks::{BlockDesign, BlockError, BlockRun};
use crate::model::Model;
use findings::{Conclusion, VerificationFindings};
use model_plan::model_plan;
use monitor::{Monitor, ResourceUse};
use promise::PromiseFinding;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;
use warmcore_linux::counters::{Counters, Source};
use warmcore_linux::tuning::apply::ApplyError;
use warmcore_linux::tuning::step::StepError;
use warmcore_linux::tuning::{JournalDirectory, JournalError, Plan, System, apply, changes, steps, undo};
use warmcore_linux::{CpuUsage, probe::ProbeError};
use work::{DoneWork, Work, WorkError};

/// Time between a change and its run: the kernel moves threads and interrupts only when they next have
/// something to do.
const SETTLE: Duration = Duration::from_millis(200);

/// The verification of a plan.
#[derive(Debug)]
pub struct Verification<'a> {
    /// The plan, which the caller has checked.
    pub plan: &'a Plan,
    /// The system whose settings the plan changes.
    pub system: &'a dyn System,
    /// The source of the processor's counters.
    pub source: &'a dyn Source,
    /// Where its changes are journalled.
    pub directory: &'a JournalDirectory,
    /// What counts as work.
    pub work: Work,
    /// The length of a run.
    pub time: Duration,
    /// How runs are arranged.
    pub blocks: BlockDesign,
    /// Whether the plan is applied in the end, to stay, if it brings a gain.
    pub keep: bool,
}

/// Why a plan could not be verified. All changes are undone, unless the error is
/// [`Self::NotTakenBack`].
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The plan would change nothing.
    #[error(
        "the plan is in force already, so there is nothing to compare: undo it first (`warmcore host undo`)"
    )]
    AlreadyInForce,
    /// A line of the plan cannot be turned into steps.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A change was refused.
    #[error(transparent)]
    Apply(#[from] Box<ApplyError>),
    /// A change could not be undone.
    #[error("not every change could be undone: {0}: see `warmcore host undo`")]
    NotTakenBack(String),
    /// The work done cannot be measured.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// No intervals can be computed.
    #[error(
        "the kernel, which counts in ticks, saw no cpu busy in a run, or there were fewer than two blocks: expected a \
         workload, or a program that works for 0.1 s or longer"
    )]
    Idle,
    /// The machine cannot be inspected.
    #[error(transparent)]
    Machine(#[from] ProbeError),
    /// The user has stopped it.
    #[error("interrupted: every change was undone")]
    Interrupted,
}

/// The work of one run, and the resources it used.
#[derive(Clone, Debug)]
pub struct ObservedLoad {
    /// Work per second, in the unit of the [`Work`].
    pub rate: f64,
    /// Packets received per second; `None` where they are not counted.
    pub packets: Option<f64>,
    /// Resources used.
    pub resources: ResourceUse,
}

impl Verification<'_> {
    /// Runs every model in every block, `none` twice.
    ///
    /// # Errors
    /// If a change cannot be made or undone, or no work was done. Changes are undone first.
    pub fn run(&self, stop: &AtomicBool) -> Result<VerificationFindings, VerifyError> {
        if changes(steps(self.plan, self.system)?).is_empty() {
            return Err(VerifyError::AlreadyInForce);
        }
        self.directory.require_none_applied(self.system)?;
        let models = model_plan::models_to_try(self.plan);
        let monitor = Monitor::new(self.plan)?;
        let mut counters = Counters::open(self.source, monitor.cpus());
        let run = |number: usize| self.run_once(models[number], &monitor, &mut counters, stop);
        let tried = self.blocks.run(models.len(), stop, run);
        let tried = tried.map_err(|error| match error {
            BlockError::Run(error) => error,
            BlockError::Interrupted => VerifyError::Interrupted,
        })?;
        let mut findings = VerificationFindings::new(&models, &tried, &self.work, &monitor, &counters)
            .ok_or(VerifyError::Idle)?;
        let promise = self.plan.promise.as_ref();
        findings.promise = promise.map(|promise| PromiseFinding::new(promise, &models, &tried));
        if self.keep && findings.conclusion() == Conclusion::Gain {
            let steps = changes(steps(self.plan, self.system)?);
            apply(self.directory.begin(self.system, steps, false)?, stop)?;
            findings.kept = true;
        }
        Ok(findings)
    }

    /// One run under `model`. Its changes are undone afterwards.
    fn run_once(
        &self,
        model: Model,
        monitor: &Monitor,
        counters: &mut Counters,
        stop: &AtomicBool,
    ) -> Result<(ObservedLoad, CpuUsage), VerifyError> {
        let part = model_plan(self.plan, model);
        let steps = changes(steps(&part, self.system)?);
        if steps.is_empty() {
            return self.observe(&part, monitor, counters, stop);
        }
        apply(self.directory.begin(self.system, steps, false)?, stop)?;
        let observed = self.observe(&part, monitor, counters, stop);
        self.undo_changes()?;
        observed
    }

    /// A run with `part` of the plan in force.
    fn observe(
        &self,
        part: &Plan,
        monitor: &Monitor,
        counters: &mut Counters,
        stop: &AtomicBool,
    ) -> Result<(ObservedLoad, CpuUsage), VerifyError> {
        sleep(SETTLE);
        let mut monitored = monitor.start(self.system, counters)?;
        let DoneWork { rate, packets, spent, counted } =
            self.work.run(part, self.system, self.time, stop, &mut monitored)?;
        Ok((ObservedLoad { rate, packets, resources: monitored.resources(&spent, counted)? }, spent))
    }

    fn undo_changes(&self) -> Result<(), VerifyError> {
        let Some(journal) = self.directory.open(self.system, false)? else { return Ok(()) };
        let undone = undo(journal, false)?;
        if undone.is_complete() { Ok(()) } else { Err(VerifyError::NotTakenBack(undone.to_string())) }
    }
}

/// The runs of one model.
pub(crate) type ModelRuns = Vec<BlockRun<ObservedLoad>>;
