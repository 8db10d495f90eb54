//! The state of a task, and what ticks, decays and searches make of it. All integers, so that a scheduler in a kernel
//! computes the same.

use super::parameters::{Affinity, AffinityForm, Decay};
use warmcore_units::CpuId;

/// A point in time, or a duration, in timer interrupts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Ticks(pub u64);

/// What the scheduler knows of a task. A lower priority value runs first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Task {
    /// Priority of a task that has used no CPU time; equal for all tasks of the text.
    pub base: i32,
    /// Accumulated CPU time in ticks, less what decayed.
    pub cpu: u32,
    /// The processor it last ran on; none for a task that never ran.
    pub last_cpu: Option<CpuId>,
    /// When it stopped running there.
    pub last_ran: Ticks,
    /// The only processor it may run on (§5.2).
    pub attached: Option<CpuId>,
}

impl Task {
    /// `prio` of §4, without affinity.
    #[must_use]
    #[inline]
    pub const fn priority(&self) -> i32 {
        self.base.saturating_add_unsigned(self.cpu / 2)
    }

    /// A timer interrupt while the task runs.
    #[inline]
    pub const fn tick(&mut self, cap: u32) {
        if self.cpu < cap {
            self.cpu += 1;
        }
    }

    /// A periodic decay.
    #[inline]
    pub const fn decay(&mut self, decay: Decay) {
        // A fraction of at most 1, so the result fits.
        #[expect(clippy::cast_possible_truncation, reason = "not above `cpu`")]
        let left = (self.cpu as u64 * decay.numerator as u64 / decay.denominator as u64) as u32;
        self.cpu = left;
    }

    /// Whether `cpu` may run it.
    #[must_use]
    #[inline]
    pub fn may_run_on(&self, cpu: CpuId) -> bool {
        self.attached.is_none_or(|only| only == cpu)
    }

    /// What a search of `cpu` at `now` takes off the priority. `ran_last` says whether no other task ran on `cpu` since.
    #[must_use]
    #[inline]
    pub fn boost(&self, affinity: Affinity, cpu: CpuId, now: Ticks, ran_last: bool) -> u32 {
        if self.last_cpu != Some(cpu) {
            return 0;
        }
        let a_t = match affinity.form {
            AffinityForm::Simple if ran_last => affinity.a_t,
            AffinityForm::Simple => 0,
            AffinityForm::Complex => {
                let elapsed = now.0.saturating_sub(self.last_ran.0);
                affinity.a_t.saturating_sub(u32::try_from(elapsed).unwrap_or(u32::MAX))
            }
        };
        affinity.a_p + a_t
    }

    /// Whether this task, just woken by an interrupt, takes the interrupted processor from `running` (§5.3).
    #[must_use]
    #[inline]
    pub const fn preempts(&self, running: &Self) -> bool {
        self.priority() < running.priority()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ticks_are_one_step_of_priority_up_to_the_cap() {
        let mut task = Task { base: 60, ..Task::default() };
        let priorities: [i32; 6] = core::array::from_fn(|_| {
            task.tick(5);
            task.priority()
        });
        assert_eq!(priorities, [60, 61, 61, 62, 62, 62]);
        assert_eq!(task.cpu, 5);
    }

    #[test]
    fn a_decay_leaves_the_fraction_and_rounds_down() {
        let mut task = Task { cpu: 7, ..Task::default() };
        task.decay(Decay { numerator: 2, denominator: 3, ..Decay::default() });
        assert_eq!(task.cpu, 4);
        let mut most = Task { cpu: u32::MAX, ..Task::default() };
        most.decay(Decay { numerator: u32::MAX, denominator: u32::MAX, ..Decay::default() });
        assert_eq!(most.cpu, u32::MAX);
    }

    #[test]
    fn the_simple_boost_is_for_who_ran_last_and_the_complex_one_fades() {
        let here = Task { last_cpu: Some(CpuId(1)), last_ran: Ticks(100), ..Task::default() };
        let boost = |affinity, cpu, now, ran_last| here.boost(affinity, CpuId(cpu), Ticks(now), ran_last);
        assert_eq!(boost(Affinity::LIGHT, 1, 100, true), 12);
        assert_eq!(boost(Affinity::LIGHT, 1, 100, false), 6);
        assert_eq!(boost(Affinity::LIGHT, 2, 100, false), 0);
        let complex = Affinity::complex(6);
        assert_eq!([100, 104, 106, u64::MAX].map(|now| boost(complex, 1, now, false)), [12, 8, 6, 6]);
    }
}
