//! Choosing a processor (§2.3, §3).
//!
//! | policy | schedules for | work-conserving under Locking |
//! |---|---|---|
//! | [`MostRecentlyUsed`] | code affinity | yes |
//! | [`LeastRecentlyUsed`] | nothing: the baseline | yes |
//! | [`WiredStreams`] | stream affinity | no |

use warmcore_units::CpuId;

/// The idle processors, as a policy may see them.
pub trait View {
    /// Whether `cpu` is running no protocol code.
    fn is_idle(&self, cpu: CpuId) -> bool;
    /// The idle processor that ran protocol code last.
    fn most_recent(&self) -> Option<CpuId>;
    /// The idle processor whose last protocol code is longest ago.
    fn least_recent(&self) -> Option<CpuId>;
}

/// What is to happen to a packet that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It runs now, on this idle processor.
    Run(CpuId),
    /// It waits in its [`Line`].
    Wait,
}

/// Where packets wait, and so which of them a processor may take when it has finished one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line {
    /// One line for all processors: whoever finishes first serves its head.
    Common,
    /// A line for each processor.
    PerProcessor,
}

/// A rule for choosing a processor.
pub trait Policy {
    /// Where packets wait under this policy.
    const LINE: Line;

    /// Where a packet whose stream (or stack) is at home on `home` goes now.
    fn place(&self, home: CpuId, view: &impl View) -> Decision;
}

/// The processor that most recently executed protocol code: likely to hold it in cache still.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MostRecentlyUsed;

/// The processor least likely to hold protocol code: what scheduling without a thought for
/// caches can do at worst.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeastRecentlyUsed;

/// The processor the stream is wired to, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WiredStreams;

impl Policy for MostRecentlyUsed {
    const LINE: Line = Line::Common;

    #[inline]
    fn place(&self, _home: CpuId, view: &impl View) -> Decision {
        view.most_recent().map_or(Decision::Wait, Decision::Run)
    }
}

impl Policy for LeastRecentlyUsed {
    const LINE: Line = Line::Common;

    #[inline]
    fn place(&self, _home: CpuId, view: &impl View) -> Decision {
        view.least_recent().map_or(Decision::Wait, Decision::Run)
    }
}

impl Policy for WiredStreams {
    const LINE: Line = Line::PerProcessor;

    #[inline]
    fn place(&self, home: CpuId, view: &impl View) -> Decision {
        if view.is_idle(home) { Decision::Run(home) } else { Decision::Wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recency;

    #[test]
    fn each_policy_chooses_its_processor() {
        let mut idle = Recency::filled(4);
        for cpu in [2, 0, 3, 1] {
            idle.remove(cpu);
            idle.push(cpu);
        }
        let home = CpuId(3);
        assert_eq!(MostRecentlyUsed.place(home, &idle), Decision::Run(CpuId(1)));
        assert_eq!(LeastRecentlyUsed.place(home, &idle), Decision::Run(CpuId(2)));
        assert_eq!(WiredStreams.place(home, &idle), Decision::Run(home));
        idle.remove(3);
        assert_eq!(WiredStreams.place(home, &idle), Decision::Wait);
        (0..3).for_each(|cpu| idle.remove(cpu));
        assert_eq!(MostRecentlyUsed.place(home, &idle), Decision::Wait);
        assert_eq!(LeastRecentlyUsed.place(home, &idle), Decision::Wait);
    }
}
