//! The execution time of a packet: Salehi, Kurose & Towsley 1994, §4.1 to §4.3, for any number
//! of cache levels.
//!
//! With `t_0` the time with everything in the first level and `t_k` the time with levels 1 to
//! `k` flushed, eq. 3 reads, nearest level first,
//!
//! ```text
//! t(x) = (1-F_1) t_0 + F_1 ((1-F_2) t_1 + F_2 ((1-F_3) t_2 + … F_n t_n))
//! ```
//!
//! where `F_k` is the [`Displacement`] of level `k`. The times of one situation come from one row of
//! Table 2; `t_n`, fully cold, depends on the approach only.

mod curve;

use crate::displacement::Displacement;
use crate::profile::Profile;
use crate::situation::{Approach, Situation};
use curve::Curve;
use warmcore_units::Nanos;

/// The most cache levels a model can have.
pub const MAX_LEVELS: usize = 4;

/// Computes a packet's service time from its situation and the idle times of the cache levels.
#[derive(Clone, Debug)]
pub struct ExecutionModel {
    /// `t_0 … t_n` of each situation.
    times: [[f64; MAX_LEVELS + 1]; Situation::COUNT],
    levels: Vec<LevelModel>,
    /// t(x) of each situation, if processors share no level: all levels have then been idle for the same
    /// time, and one table lookup is enough.
    private: Option<[Curve; Situation::COUNT]>,
    acquire: Nanos,
    release: Nanos,
}

#[derive(Clone, Debug)]
struct LevelModel {
    shared_by: u32,
    displacement: Displacement,
    curve: Curve,
}

/// A profile lacks what a model of this many processors needs.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum IncompleteProfile {
    /// Migration was not measured.
    #[error(
        "the profile of {name} has no migration times (only one processor was measured): it can \
         predict 1 processor, not {processors}"
    )]
    NoMigration {
        /// The profile.
        name: String,
        /// How many processors were asked for.
        processors: u32,
    },
    /// More cache levels than [`MAX_LEVELS`].
    #[error("the profile of {name} has {levels} cache levels; the model takes at most {MAX_LEVELS}")]
    TooManyLevels {
        /// The profile.
        name: String,
        /// How many levels it has.
        levels: usize,
    },
}

impl ExecutionModel {
    /// The model of `processors` processors like those of `profile` under `approach`.
    ///
    /// Only modelled processors count as sharers of a level: a single processor shares with none.
    ///
    /// # Errors
    /// If the profile lacks what is needed.
    pub fn new(profile: &Profile, approach: Approach, processors: u32) -> Result<Self, IncompleteProfile> {
        if profile.levels.len() > MAX_LEVELS {
            let levels = profile.levels.len();
            return Err(IncompleteProfile::TooManyLevels { name: profile.name.clone(), levels });
        }
        if processors > 1 && !profile.is_complete() {
            return Err(IncompleteProfile::NoMigration { name: profile.name.clone(), processors });
        }
        let levels = profile.levels.iter().map(|level| {
            let shared_by = level.shared_by.min(processors);
            let displacement = Displacement::new(profile.intervening, level.geometry, shared_by);
            LevelModel { shared_by, displacement, curve: Curve::from_fn(|x| displacement.fraction(x)) }
        });
        let levels: Vec<LevelModel> = levels.collect();
        let times = times_of(profile, approach);
        let overhead = |field: fn(&crate::profile::FreeMemory) -> Nanos| {
            profile.free_memory.as_ref().map_or(Nanos::ZERO, field).max(Nanos::ZERO)
        };
        Ok(Self {
            private: private_curves(&times, &levels),
            times,
            levels,
            acquire: overhead(|pool| pool.acquire.mean),
            release: overhead(|pool| pool.release.mean),
        })
    }

    /// The time to receive one packet in `situation`, where `idle(k)` is the time since level `k` (0 is the
    /// nearest) last saw protocol processing.
    #[must_use]
    #[inline]
    pub fn receive(&self, situation: Situation, idle: impl Fn(usize) -> Nanos) -> Nanos {
        let flushed = self.levels.iter().enumerate().map(|(level, model)| model.curve.at(idle(level)));
        Nanos(interpolate(&self.times[situation.index()], flushed))
    }

    /// The time to receive one packet in `situation` right after another: nothing is flushed.
    #[must_use]
    #[inline]
    pub fn receive_hot(&self, situation: Situation) -> Nanos {
        Nanos(self.times[situation.index()][0])
    }

    /// The time to receive one packet in `situation` when every level was idle for `x`: t(x).
    #[must_use]
    #[inline(always)]
    pub fn receive_after(&self, situation: Situation, x: Nanos) -> Nanos {
        match self.private() {
            Some(private) => private.receive_after(situation, x),
            None => self.receive(situation, |_| x),
        }
    }

    /// The times of processors that share no cache level, if these do not.
    #[must_use]
    #[inline]
    pub fn private(&self) -> Option<PrivateTimes<'_>> {
        self.private.as_ref().map(PrivateTimes)
    }

    /// Whether no processors share a cache level, so that [`receive_after`](Self::receive_after) suffices.
    #[must_use]
    #[inline]
    pub const fn is_private(&self) -> bool {
        self.private.is_some()
    }

    /// The time of a fully cold packet over that of a hot one in the warmest situation: t_cold,cold /
    /// t_hot,hot (§8).
    #[must_use]
    pub fn cold_to_hot(&self) -> f64 {
        let warmest = Situation::default();
        self.receive_after(warmest, Nanos::INFINITY) / self.receive_hot(warmest)
    }

    /// `F(x)` of each level, nearest first; exact, while [`receive`](Self::receive) interpolates.
    pub fn flushed(&self, x: Nanos) -> impl Iterator<Item = f64> {
        self.levels.iter().map(move |model| model.displacement.fraction(x))
    }

    /// How many processors share each level, nearest first.
    pub fn sharers(&self) -> impl Iterator<Item = u32> {
        self.levels.iter().map(|model| model.shared_by)
    }

    /// The extra time to acquire memory when the pool's lines were last written elsewhere (§4.3).
    #[must_use]
    pub const fn acquire_overhead(&self) -> Nanos {
        self.acquire
    }

    /// The extra time to release memory when the pool's lines were last written elsewhere (§4.3).
    #[must_use]
    pub const fn release_overhead(&self) -> Nanos {
        self.release
    }
}

/// t(x) of each situation, where processors share no cache level.
#[derive(Clone, Copy, Debug)]
pub struct PrivateTimes<'a>(&'a [Curve; Situation::COUNT]);

impl PrivateTimes<'_> {
    /// As [`ExecutionModel::receive_after`].
    #[must_use]
    #[inline(always)]
    pub fn receive_after(&self, situation: Situation, x: Nanos) -> Nanos {
        Nanos(self.0[situation.index()].at(x))
    }
}

/// Eq. 3 as a function of one idle time, for each situation; `None` if processors share a level.
fn private_curves(
    times: &[[f64; MAX_LEVELS + 1]; Situation::COUNT],
    levels: &[LevelModel],
) -> Option<[Curve; Situation::COUNT]> {
    let alone = levels.iter().all(|level| level.shared_by <= 1);
    let flushed = levels.iter().map(|level| &level.curve);
    alone.then(|| {
        times.each_ref().map(|times| Curve::combined(flushed.clone(), |flushed| interpolate(times, flushed)))
    })
}

/// Eq. 3: `times` are `t_0 … t_n`, and `flushed` the fractions `F_1 … F_n` of the levels.
#[inline]
pub(crate) fn interpolate(times: &[f64], flushed: impl Iterator<Item = f64>) -> f64 {
    let mut time = 0.0;
    let mut reached = 1.0;
    let mut coldest = 0;
    for (level, flushed) in flushed.enumerate() {
        time += reached * (1.0 - flushed) * times[level];
        reached *= flushed;
        if reached == 0.0 {
            return time;
        }
        coldest = level + 1;
    }
    time + reached * times[coldest]
}

/// `t_0 … t_n` of each situation. A situation that was not measured stays NaN; it is never used, since then
/// only one processor can be modelled.
fn times_of(profile: &Profile, approach: Approach) -> [[f64; MAX_LEVELS + 1]; Situation::COUNT] {
    let mut table = [[f64::NAN; MAX_LEVELS + 1]; Situation::COUNT];
    let times = profile.times.get(approach);
    for situation in Situation::all() {
        let Some(receive) = times.get(situation) else { continue };
        let row = &mut table[situation.index()];
        let states = [&receive.hot].into_iter().chain(&receive.cold).chain([&times.fully_cold]);
        for (entry, state) in row.iter_mut().zip(states) {
            *entry = state.mean.0;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::situation::{Experiment, ThreadStack};

    const A1: Situation = Situation { experiment: Experiment::A1, thread_stack: ThreadStack::Cached };

    #[test]
    fn zero_idle_time_is_hot_and_infinite_idle_time_fully_cold() {
        let profile = Profile::sgi_challenge_xl();
        for (approach, hot, cold) in
            [(Approach::Locking, 66.6, 284.3), (Approach::IndependentStacks, 57.4, 232.2)]
        {
            let model = ExecutionModel::new(&profile, approach, 8).unwrap();
            assert_eq!(model.receive_after(A1, Nanos::ZERO), Nanos::from_micros(hot));
            let never_ran = model.receive_after(A1, Nanos::INFINITY);
            assert!((never_ran.micros() - cold).abs() < 1e-9);
        }
    }

    #[test]
    fn two_levels_give_equation_3_of_salehi_1994() {
        let model = ExecutionModel::new(&Profile::sgi_challenge_xl(), Approach::Locking, 8).unwrap();
        for exponent in 0..90 {
            let x = Nanos(10_f64.powf(f64::from(exponent) / 10.0));
            let [f1, f2] = model.flushed(x).collect::<Vec<_>>()[..] else { panic!("two levels") };
            let expected = (1.0 - f1) * 66.6 + f1 * ((1.0 - f2) * 91.9 + f2 * 284.3);
            for time in [model.receive_after(A1, x), model.receive(A1, |_| x)].map(Nanos::micros) {
                assert!((time - expected).abs() < 2e-4 * expected, "{x}: {time} against {expected}");
            }
        }
    }

    #[test]
    fn a_profile_of_one_processor_predicts_only_one_processor() {
        let mut profile = Profile::sgi_challenge_xl();
        profile.free_memory = None;
        profile.times.locking.migrates.clear();
        profile.check().unwrap();
        assert!(ExecutionModel::new(&profile, Approach::Locking, 1).is_ok());
        let refused = ExecutionModel::new(&profile, Approach::Locking, 2).unwrap_err();
        assert!(matches!(refused, IncompleteProfile::NoMigration { processors: 2, .. }));
    }
}
