//! Which other schedulers are tried for a mix: less and more affinity, shorter and longer quanta or slices, attaching.

use super::Alternative;
use warmcore_policy::runqueue::Affinity;
use warmcore_scenario::runqueue::{Attachment, FairScheduler, Scheduler, SchedulerKind, UnixScheduler};

/// Each process fixed to a processor for life, one after the other.
const ATTACHED: &str = "attached scheduling";

/// The alternatives to `own` on a machine with so many processors: less and more affinity, shorter and longer quanta or
/// slices, attaching.
#[must_use]
pub fn alternatives(own: &Scheduler, cpus: u32) -> Vec<Alternative> {
    match own.kind() {
        SchedulerKind::Unix => unix_alternatives(own.unix()),
        SchedulerKind::Fair => fair_alternatives(own.fair(), cpus),
    }
}

/// Shorter and longer slices, attaching, and the levels of affinity that `warmcore host scx` loads.
fn fair_alternatives(own: FairScheduler, cpus: u32) -> Vec<Alternative> {
    let slices = [1.0 / 3.0, 3.0, 10.0].map(|factor| {
        let slice_ms = own.slice_ms(cpus) * factor;
        let scheduler = FairScheduler { slice_ms: Some(slice_ms), ..own };
        Alternative { name: milliseconds("slices", slice_ms), scheduler: scheduler.into() }
    });
    let attached = FairScheduler { attach: Attachment::RoundRobin, ..own };
    let unix = UnixScheduler { attach: own.attach, ..UnixScheduler::default() };
    let levels = [("no", Affinity::NONE), ("light", Affinity::LIGHT), ("heavy", Affinity::HEAVY)];
    let levels = levels.map(|(name, affinity)| Alternative {
        name: format!("UNIX, {name} affinity"),
        scheduler: unix.with(affinity).into(),
    });
    let attached = Alternative { name: ATTACHED.to_owned(), scheduler: attached.into() };
    let all = slices.into_iter().chain([attached]).chain(levels);
    all.filter(|one| one.scheduler != own.into()).collect()
}

fn milliseconds(what: &str, ms: f64) -> String {
    format!("{what} of {ms:.3} ms").replace(".000", "")
}

fn unix_alternatives(own: UnixScheduler) -> Vec<Alternative> {
    let named = |name: String, scheduler: UnixScheduler| Alternative { name, scheduler: scheduler.into() };
    let levels = [
        ("no affinity", Affinity::NONE),
        ("light affinity", Affinity::LIGHT),
        ("heavy affinity", Affinity::HEAVY),
    ];
    let affinities = levels.into_iter().map(|(name, affinity)| named(name.to_owned(), own.with(affinity)));
    let complex = named("complex affinity".to_owned(), own.with(Affinity::complex(6)));
    let quanta = [1.0 / 3.0, 3.0].map(|factor| {
        let quantum_ms = own.quantum_ms * factor;
        named(milliseconds("quanta", quantum_ms), UnixScheduler { quantum_ms, ..own })
    });
    let attached = named(ATTACHED.to_owned(), UnixScheduler { attach: Attachment::RoundRobin, ..own });
    let all = affinities.chain([complex]).chain(quanta).chain([attached]);
    all.filter(|one| one.scheduler != own.into()).collect()
}
