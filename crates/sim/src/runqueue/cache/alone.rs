//! One process alone with a machine's caches, to see what it finds in them after this or that.

use super::execution::{Executed, Execution, Sources, Timing, is_own};
use super::stream::Stream;
use warmcore_cachesim::{Description, Hierarchy, Served};
use warmcore_scenario::RunQueueScenario;
use warmcore_units::{CpuId, Cycles};

/// Where the process runs.
const HERE: CpuId = CpuId(0);
/// Another processor.
const THERE: CpuId = CpuId(1);

/// What happens before the process goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::runqueue) enum Before {
    Nothing,
    /// The caches of its processor are emptied.
    Emptied,
    /// So many lines of fresh data go through them.
    Fresh(u64),
    /// It runs on another processor, if there is one, for an interval.
    Elsewhere,
    /// It computes for an interval without any caches.
    Nowhere,
}

/// The process and the caches.
#[derive(Clone)]
pub(in crate::runqueue) struct Alone {
    description: Description,
    caches: Hierarchy,
    timing: Timing,
    execution: Execution,
    fresh: Stream,
    did: Executed,
}

impl Alone {
    /// The process number `process` of `scenario`, of `application`, with its memory where it is in run number `run`. `None`
    /// if there are no caches.
    pub(in crate::runqueue) fn new(
        scenario: &RunQueueScenario,
        application: usize,
        process: u32,
        run: u32,
    ) -> Option<Self> {
        let caches = scenario.machine.caches.as_ref()?;
        let description = caches.description(scenario.machine.cpus.min(2));
        let mut sources = Sources::new(scenario, u64::from(run))?;
        Some(Self {
            caches: Hierarchy::build(&description).ok()?,
            timing: Timing::new(&description, caches.clock_mhz()),
            execution: sources.start(application, u64::from(process)),
            fresh: sources.fresh(&description, 0),
            did: Executed::default(),
            description,
        })
    }

    /// The lines of the largest cache of a processor's own.
    pub(in crate::runqueue) fn lines(&self) -> u64 {
        let own = self.description.caches.iter().filter(|cache| is_own(cache, HERE));
        own.map(|cache| cache.geometry.lines()).max().unwrap_or(0)
    }

    /// Computes for `interval` nanoseconds.
    pub(in crate::runqueue) fn go_on(&mut self, interval: f64) {
        let Self { caches, timing, execution, did, .. } = self;
        did.add(execution.run(*timing, f64::INFINITY, interval, |reference| caches.access(HERE, reference)));
    }

    /// Lets `before` happen; an `interval` is so many nanoseconds of computing. What was counted until then is forgotten.
    pub(in crate::runqueue) fn prepare(&mut self, before: Before, interval: f64) {
        let Self { caches, timing, execution, fresh, did, description } = self;
        match before {
            Before::Nothing => {}
            Before::Emptied => caches.flush(HERE),
            Before::Fresh(lines) => (0..lines).for_each(|_| {
                caches.access(HERE, fresh.next());
            }),
            Before::Elsewhere if description.cpus().contains(THERE) => {
                execution.run(*timing, f64::INFINITY, interval, |reference| caches.access(THERE, reference));
            }
            Before::Elsewhere | Before::Nowhere => {
                let at_once = |_| Served { cycles: Cycles(0), depth: 0 };
                execution.run(*timing, f64::INFINITY, interval, at_once);
            }
        }
        *did = Executed::default();
    }

    /// What it did since then.
    pub(in crate::runqueue) const fn did(&self) -> Executed {
        self.did
    }
}
