//! Whether an interrupt can be moved.

use warmcore_linux::inventory::{Interrupt, Managed};

/// Whether `interrupt` can be named and moved. Where nothing says that the kernel manages it, trying
/// is safe: a refused plan is undone as a whole.
pub(super) fn is_movable(interrupt: &Interrupt) -> bool {
    let named = !interrupt.devices.is_empty() && !interrupt.id.actions.is_empty() && !interrupt.shares_name;
    named && interrupt.allowed.is_some() && interrupt.managed != Managed::Yes
}
