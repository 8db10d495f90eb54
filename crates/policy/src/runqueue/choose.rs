//! The decision as the text states it: the whole queue is searched for the task with the best priority.

use super::parameters::Affinity;
use super::task::{Task, Ticks};
use warmcore_units::{CpuId, TaskId};

/// A task that waits in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Its name.
    pub id: TaskId,
    /// Its state.
    pub task: Task,
    /// A number that grows with every enqueueing: of equal priorities, the one that has waited longest is picked.
    pub queued: u64,
}

/// Who searches the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Search {
    /// The processor that has nothing to run.
    pub cpu: CpuId,
    /// When.
    pub now: Ticks,
    /// The task that ran there last.
    pub ran_last: Option<TaskId>,
    /// The task that has just yielded there, which is picked only if there is no other.
    pub yielded: Option<TaskId>,
}

/// The index of the candidate that `search` picks; `None` if none may run there.
#[must_use]
pub fn choose(affinity: Affinity, search: Search, candidates: &[Candidate]) -> Option<usize> {
    let allowed = candidates.iter().enumerate().filter(|(_, one)| one.task.may_run_on(search.cpu));
    let best = allowed.min_by_key(|(_, one)| {
        let yielded = search.yielded == Some(one.id);
        let ran_last = search.ran_last == Some(one.id);
        let boost = one.task.boost(affinity, search.cpu, search.now, ran_last);
        (yielded, one.task.priority().saturating_sub_unsigned(boost), one.queued)
    });
    best.map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: CpuId = CpuId(0);

    fn candidate(id: u32, cpu: u32, last_cpu: u32) -> Candidate {
        let task = Task { cpu, last_cpu: Some(CpuId(last_cpu)), ..Task::default() };
        Candidate { id: TaskId(id), task, queued: u64::from(id) }
    }

    fn picked(affinity: Affinity, yielded: Option<u32>, candidates: &[Candidate]) -> Option<u32> {
        let search = Search {
            cpu: HERE,
            now: Ticks(0),
            ran_last: candidates.last().map(|one| one.id),
            yielded: yielded.map(TaskId),
        };
        choose(affinity, search, candidates).map(|index| candidates[index].id.0)
    }

    #[test]
    fn affinity_outweighs_a_difference_in_cpu_time_and_no_more() {
        // Task 2 ran last here, task 1 ran here before, task 0 elsewhere.
        let with = |cpu: u32| [candidate(0, 0, 1), candidate(1, 12, 0), candidate(2, cpu, 0)];
        assert_eq!(picked(Affinity::NONE, None, &with(0)), Some(0));
        assert_eq!(picked(Affinity::LIGHT, None, &with(23)), Some(2));
        // At equal priority the one that has waited longest wins.
        assert_eq!(picked(Affinity::LIGHT, None, &with(24)), Some(0));
        assert_eq!(picked(Affinity::LIGHT, None, &[candidate(0, 2, 1), candidate(1, 12, 0)]), Some(1));
    }

    #[test]
    fn who_yielded_is_picked_only_if_there_is_no_other() {
        let queue = [candidate(0, 200, 1), candidate(1, 0, 0)];
        assert_eq!(picked(Affinity::HEAVY, Some(1), &queue), Some(0));
        assert_eq!(picked(Affinity::HEAVY, Some(1), &queue[1..]), Some(1));
    }

    #[test]
    fn attached_tasks_are_for_their_processor() {
        let mut elsewhere = candidate(0, 0, 1);
        elsewhere.task.attached = Some(CpuId(1));
        assert_eq!(picked(Affinity::NONE, None, &[elsewhere]), None);
        elsewhere.task.attached = Some(HERE);
        assert_eq!(picked(Affinity::NONE, None, &[elsewhere]), Some(0));
    }
}
