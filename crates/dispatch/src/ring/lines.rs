//! Cache lines that are asked for before they are written, so that whoever writes need not wait for them.

/// How this processor is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// Whether a line can be asked for to be this processor's alone (`prefetchw`): otherwise it comes shared,
    /// and the first write takes it from all others still.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    owned: bool,
}

/// Asks for the cache line in which `place` begins, to be written soon, and does not wait for it: for
/// [handlers that look ahead](crate::LookAhead). It changes nothing but what is in caches, and does nothing at all
/// where it is not known how to ask.
#[inline]
pub fn prefetch<T: ?Sized>(place: &T) {
    Lines::of_this_processor().want(place);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use super::Lines;
    use core::arch::asm;
    use core::arch::x86_64::{__cpuid, _MM_HINT_T0, _mm_prefetch};
    use std::sync::LazyLock;

    /// The first 64-bit processors of one maker end a program that uses `prefetchw`; all others know it, or do
    /// nothing. What says that a processor has 64 bits says this too.
    static OWNED: LazyLock<bool> = LazyLock::new(|| __cpuid(0x8000_0001).ecx & 1 << 8 != 0);

    impl Lines {
        pub(crate) fn of_this_processor() -> Self {
            Self { owned: *OWNED }
        }

        /// Asks for the line in which `place` lies.
        #[inline(always)]
        pub(crate) fn want<T: ?Sized>(self, place: &T) {
            let place = core::ptr::from_ref(place).cast::<i8>();
            if self.owned {
                // SAFETY: it changes nothing but caches, and the processor knows it. There is an intrinsic, but
                // it becomes this instruction only in programs built for newer processors.
                unsafe { asm!("prefetchw [{}]", in(reg) place, options(nostack, preserves_flags, readonly)) };
            } else {
                // SAFETY: it changes nothing but caches.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
            }
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
impl Lines {
    pub(super) const fn of_this_processor() -> Self {
        Self {}
    }

    pub(super) const fn want<T: ?Sized>(self, _: &T) {}
}
