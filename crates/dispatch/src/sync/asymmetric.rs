//! A pair of fences: a light one for what is done often, and a heavy one for what is done seldom.
//!
//! Where the system can make all threads of the process pass a fence (`membarrier`, Linux 4.14), the heavy one does that,
//! and the light one only keeps the compiler from changing the order. Elsewhere both are ordinary fences.

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, miri)))))]
pub(crate) use ordinary::{heavy_fence, light_fence, prepare_fences};
#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
pub(crate) use with_membarrier::{heavy_fence, light_fence, prepare_fences};

#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
mod with_membarrier {
    use core::sync::atomic::{Ordering, compiler_fence, fence};
    use rustix::thread::{MembarrierCommand, membarrier};
    use std::sync::OnceLock;

    /// The system may lack memory for a moment.
    const TRIES: u32 = 1_000;

    /// Whether the system can: asked once, as both sides must know the same.
    static CAN: OnceLock<bool> = OnceLock::new();

    /// To be called before threads are started that use the fences.
    pub(crate) fn prepare_fences() {
        CAN.get_or_init(|| membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok());
    }

    #[inline]
    fn can() -> bool {
        CAN.get() == Some(&true)
    }

    #[inline]
    pub(crate) fn light_fence() {
        if can() { compiler_fence(Ordering::SeqCst) } else { fence(Ordering::SeqCst) }
    }

    /// All threads of this process pass a fence. Without, two of them could use one value at once: nothing may go on.
    fn all_pass_a_fence() {
        for _ in 0..TRIES {
            if membarrier(MembarrierCommand::PrivateExpedited).is_ok() {
                return;
            }
            std::thread::yield_now();
        }
        eprintln!("warmcore-dispatch: the system refuses `membarrier`, which it had granted");
        std::process::abort();
    }

    pub(crate) fn heavy_fence() {
        fence(Ordering::SeqCst);
        if can() {
            all_pass_a_fence();
        }
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, miri)))))]
mod ordinary {
    use crate::sync::{Ordering, fence};

    pub(crate) fn prepare_fences() {}

    #[inline]
    pub(crate) fn light_fence() {
        fence(Ordering::SeqCst);
    }

    pub(crate) fn heavy_fence() {
        fence(Ordering::SeqCst);
    }
}
