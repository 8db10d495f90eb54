//! Every interleaving, up to some preemptions, of the few steps by which producers and workers meet,
//! by loom. A wake-up that is lost is a deadlock here: no nap and no wait ends by itself.

mod biased;
mod dispatcher;
mod sleepers;
mod slot;
mod strand;
mod waiters;

use crate::shared::{Settings, Shared};
use crate::{Binding, Idle, OnPanic, Overload};

fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// What those who dispatch and workers share, with room for two events.
fn shared(binding: Binding, workers: usize) -> Shared<u32, u32> {
    Shared::new(workers, settings(binding))
}

/// The same, where each key may have one event.
fn shared_with_a_limit() -> Shared<u32, u32> {
    Shared::new(1, Settings { key_limit: Some(1), ..settings(Binding::Static) })
}

fn settings(binding: Binding) -> Settings {
    Settings {
        binding,
        strands: Some(2),
        capacity: 2,
        overload: Overload::Block,
        on_panic: OnPanic::Skip,
        idle: Idle::default(),
        key_limit: None,
        follow_ups: 2,
    }
}
