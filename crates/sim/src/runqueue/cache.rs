//! What processes find in caches, and how long they therefore take: one interface, two models.
//!
//! | module | knows caches as |
//! |---|---|
//! | [`analytic`] | a few numbers for each process: a reload transient, steady misses, what displaces |
//! | `detailed` | simulated ones, through which each process (`execution`) sends references (`stream`) |
//!
//! The machine runs what is on a processor in segments. It tells the model when a segment begins, and asks what has
//! become of it when something happens.

pub(super) mod alone;
pub mod analytic;
mod detailed;
mod execution;
mod stream;

pub use analytic::MissModel;

use super::tally::ApplicationTally;
use analytic::Analytic;
use detailed::{Detailed, Watched};
use warmcore_cachesim::Nothing;
use warmcore_scenario::RunQueueScenario;

/// Computing below this, in nanoseconds, is no computing: rounding of times leaves it.
pub(super) const NOTHING: f64 = 1.0;

/// What a process did in a while on a processor.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Ran {
    /// How far it computed, in nanoseconds.
    pub(super) computed: f64,
    /// Its cache misses.
    pub(super) misses: f64,
    /// Of those, of reloading state, as far as that is known at once.
    pub(super) reload_misses: f64,
}

/// A model of the machine's caches. Processes and cpus are numbered from 0; times are in nanoseconds.
pub(super) trait CacheModel {
    /// `process` is about to compute for `target` on `cpu`. Returns after what time to look at it again: when it has done
    /// so, if that can be foreseen, and otherwise before.
    fn begin(&mut self, process: usize, cpu: usize, target: f64) -> f64;

    /// `process` was on `cpu` for `elapsed` since it began or was last asked for. It computed, for `target` at most.
    fn run(&mut self, process: usize, cpu: usize, elapsed: f64, target: f64) -> Ran;

    /// `process` goes on on another cpu than `last`.
    fn migrate(&mut self, process: usize, last: usize);

    /// The kernel takes an interrupt on `cpu`.
    fn interrupt(&mut self, cpu: usize);

    /// `process` is replaced by a new one.
    fn replace(&mut self, process: usize);

    /// Completes what was counted of each application.
    fn report(&self, applications: &mut [ApplicationTally]);
}

/// The model that a checked `scenario` asks for, in run number `replication`; `watches` misses by kind, if it has any.
/// `None` if the scenario was not checked and its caches are impossible.
pub(super) fn cache_model(
    scenario: &RunQueueScenario,
    replication: u64,
    watches: bool,
) -> Option<Box<dyn CacheModel>> {
    Some(match &scenario.machine.caches {
        None => Box::new(Analytic::new(scenario)),
        Some(caches) if watches => Box::new(Detailed::<Watched>::new(scenario, caches, replication)?),
        Some(caches) => Box::new(Detailed::<Nothing>::new(scenario, caches, replication)?),
    })
}
