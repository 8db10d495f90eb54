//! Profiles of fictitious machines: the published one with other times.

use warmcore_costs::displacement::Intervening;
use warmcore_costs::profile::{ApproachTimes, Measured};
use warmcore_costs::{ExecutionModel, Profile, Situation};
use warmcore_scenario::Parallelism;
use warmcore_units::Nanos;

/// Every time is `hot` with everything in the first level and `cold` otherwise. A pause of a nanosecond or
/// more flushes all caches.
pub(crate) fn two_times(hot: Nanos, cold: Nanos) -> Profile {
    let mut profile = flushed_at_once();
    for times in approaches(&mut profile) {
        times.fully_cold = Measured::published(cold);
        for situation in Situation::all() {
            set(times, situation, hot, cold);
        }
    }
    profile
}

/// Every time is `time`, whatever the caches hold.
pub(crate) fn one_time(time: Nanos) -> Profile {
    two_times(time, time)
}

/// The published profile, with caches that any pause of a nanosecond or more flushes.
pub(crate) fn flushed_at_once() -> Profile {
    let mut profile = Profile::sgi_challenge_xl();
    profile.intervening = Intervening { references_per_us: 1e15, ..Intervening::MVS };
    profile
}

/// The times of each approach.
pub(crate) fn approaches(profile: &mut Profile) -> [&mut ApproachTimes; 2] {
    [&mut profile.times.locking, &mut profile.times.independent_stacks]
}

/// Replaces the times of `situation`.
pub(crate) fn set(times: &mut ApproachTimes, situation: Situation, hot: Nanos, cold: Nanos) {
    let rows = match situation.thread_stack {
        warmcore_costs::ThreadStack::Cached => &mut times.cached,
        warmcore_costs::ThreadStack::Migrates => &mut times.migrates,
    };
    let receive = rows.get_mut(&situation.experiment).expect("the published profile has every situation");
    receive.hot = Measured::published(hot);
    receive.cold.fill(Measured::published(cold));
}

/// The execution model of `processors` processors of `profile`.
pub(crate) fn model(profile: &Profile, approach: Parallelism, processors: u32) -> ExecutionModel {
    ExecutionModel::new(profile, approach.costs(), processors).expect("a complete profile of two levels")
}
