//! Which cpus an interrupt goes to, and whether it can be moved.

use warmcore_linux::inventory::{Interrupt, Managed};
use warmcore_topology::CpuSet;

/// Whether `interrupt` can be named and moved. Where nothing says that the kernel manages it, trying
/// is safe: a refused plan is undone as a whole.
pub(super) fn is_movable(interrupt: &Interrupt) -> bool {
    let named = !interrupt.devices.is_empty() && !interrupt.id.actions.is_empty() && !interrupt.shares_name;
    named && interrupt.allowed.is_some() && interrupt.managed != Managed::Yes
}

/// The cpus that `interrupt` goes to: of its effective cpus, those that handled it most often.
pub(super) fn handling_cpus(interrupt: &Interrupt) -> CpuSet {
    let most = interrupt.counts.values().max();
    let busiest: CpuSet =
        interrupt.counts.iter().filter(|&(_, count)| Some(count) == most).map(|(&cpu, _)| cpu).collect();
    let Some(effective) = &interrupt.effective else { return busiest };
    let both = effective.intersection(&busiest);
    if both.is_empty() { effective.clone() } else { both }
}
