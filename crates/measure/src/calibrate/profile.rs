//! Turns measured values into the profile document.

use crate::caches::cold::ColdState;
use crate::caches::hierarchy::Hierarchy;
use crate::calibrate::quantity::{MeasuredValue, State};
use std::collections::BTreeMap;
use warmcore_costs::profile::{ApproachTimes, FreeMemory, ReceiveTimes, Times};
use warmcore_costs::{Approach, CacheLevel, Experiment, Measured, Situation, ThreadStack};

type Values = BTreeMap<MeasuredValue, Measured>;

/// The levels of the profile, each with the evidence that it can be made cold.
pub(crate) fn levels(hierarchy: &Hierarchy, cold: &[ColdState]) -> Vec<CacheLevel> {
    let level = |(index, level): (usize, &warmcore_topology::UnifiedLevel)| CacheLevel {
        name: hierarchy.name(index),
        geometry: level.geometry,
        shared_by: u32::try_from(level.cores).unwrap_or(u32::MAX),
        cold_reached: cold.get(index).map(ColdState::sentence),
    };
    hierarchy.levels.iter().enumerate().map(level).collect()
}

/// The receive times; `None` if a value is missing that every machine has.
pub(crate) fn times(hierarchy: &Hierarchy, values: &Values) -> Option<Times> {
    Some(Times {
        locking: approach_times(Approach::Locking, hierarchy, values)?,
        independent_stacks: approach_times(Approach::IndependentStacks, hierarchy, values)?,
    })
}

fn approach_times(approach: Approach, hierarchy: &Hierarchy, values: &Values) -> Option<ApproachTimes> {
    let by_experiment = |thread_stack: ThreadStack| {
        let times = |experiment: Experiment| {
            let situation = Situation { experiment, thread_stack };
            Some((experiment, receive_times(approach, situation, hierarchy, values)?))
        };
        Experiment::ALL.into_iter().filter_map(times).collect()
    };
    Some(ApproachTimes {
        fully_cold: *values.get(&MeasuredValue::fully_cold(approach, hierarchy))?,
        cached: by_experiment(ThreadStack::Cached),
        migrates: by_experiment(ThreadStack::Migrates),
    })
}

fn receive_times(
    approach: Approach,
    situation: Situation,
    hierarchy: &Hierarchy,
    values: &Values,
) -> Option<ReceiveTimes> {
    let in_state = |state| values.get(&MeasuredValue::Receive { approach, situation, state }).copied();
    let cold = (0..hierarchy.depth().saturating_sub(1)).map(|level| in_state(State::Cold(level)));
    Some(ReceiveTimes { hot: in_state(State::Hot)?, cold: cold.collect::<Option<_>>()? })
}

/// The overheads of a free-memory pool, if they were measured.
pub(crate) fn free_memory(values: &Values) -> Option<FreeMemory> {
    Some(FreeMemory {
        acquire: *values.get(&MeasuredValue::Acquire)?,
        release: *values.get(&MeasuredValue::Release)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_topology::synthetic;
    use warmcore_units::{CpuId, Nanos};

    fn hierarchy() -> Hierarchy {
        Hierarchy::new(&synthetic::sgi_challenge_xl(8), CpuId(0)).unwrap()
    }

    fn values(processors: usize) -> Values {
        let value = Measured::published(Nanos(100.0));
        MeasuredValue::all(&hierarchy(), processors).into_iter().map(|quantity| (quantity, value)).collect()
    }

    #[test]
    fn two_processors_fill_every_situation() {
        let times = times(&hierarchy(), &values(2)).unwrap();
        for approach in Approach::ALL {
            assert!(Situation::all().all(|situation| {
                times.get(approach).get(situation).is_some_and(|receive| receive.cold.len() == 1)
            }));
        }
        assert!(free_memory(&values(2)).is_some());
    }

    #[test]
    fn one_processor_leaves_out_what_migrates() {
        let times = times(&hierarchy(), &values(1)).unwrap();
        assert_eq!(times.locking.cached.keys().collect::<Vec<_>>(), [&Experiment::A1, &Experiment::A2]);
        assert!(times.locking.migrates.is_empty());
        assert_eq!(free_memory(&values(1)), None);
    }

    #[test]
    fn a_missing_fully_cold_time_is_noticed() {
        let mut values = values(2);
        values.remove(&MeasuredValue::fully_cold(Approach::Locking, &hierarchy()));
        assert_eq!(times(&hierarchy(), &values), None);
    }
}
