//! Interrupting the other processors on which this process runs, to measure what that costs them.
//!
//! The kernel can make all running threads of a process pass a fence (`membarrier`, Linux 4.14): it sends an inter-processor
//! interrupt to each processor that runs one.

use rustix::thread::{MembarrierCommand, membarrier};

/// Interrupts processors on which other threads of this process run.
#[derive(Clone, Copy, Debug)]
pub struct Interrupter(());

impl Interrupter {
    /// `None` if the kernel cannot, or does not let this process.
    #[must_use]
    pub fn new() -> Option<Self> {
        membarrier(MembarrierCommand::RegisterPrivateExpedited).ok().map(|()| Self(()))
    }

    /// Interrupts each of those processors once. Returns whether the kernel did.
    pub fn interrupt(self) -> bool {
        membarrier(MembarrierCommand::PrivateExpedited).is_ok()
    }
}
