//! Groups of tasks: their queues, one for each processor, and what they weigh there.

use super::scheduler::Fair;
use super::tree::{Queue, QueueId};
use super::weight::NICE_0;
use warmcore_units::TaskId;

impl Fair {
    /// The queue of `group` on `cpu`.
    pub(super) fn queue(&mut self, group: u32, cpu: usize, now: u64) -> QueueId {
        if group == 0 {
            return cpu;
        }
        let Self { groups, tree, cpus, .. } = self;
        let first = groups.entry(group).or_insert_with(|| {
            let first = tree.queues.len();
            for cpu in 0..cpus.len() {
                let entity = tree.add_entity(NICE_0, cpu, now);
                tree.entities[entity].children = Some(tree.add_queue(Some(entity), cpu));
            }
            first
        });
        *first + cpu
    }

    pub(super) fn refresh(&mut self, id: TaskId, now: u64) {
        let queue = self.tree.entities[self.tasks[id.index()].entity].queue;
        self.refresh_queue(queue, now);
    }

    /// The weight of a group on a processor is its share of the group's load (`calc_group_shares`).
    pub(super) fn refresh_queue(&mut self, queue: QueueId, now: u64) {
        let Some(group) = self.tree.queues[queue].group else { return };
        let average = self.tree.load(queue, now);
        let Queue { weight, cpu, .. } = self.tree.queues[queue];
        let own = weight.max(average);
        let first = queue - cpu;
        let others = (first..first + self.cpus.len()).filter(|&other| other != queue);
        let all: u64 = others.map(|other| self.tree.queues[other].load.get()).sum();
        let share = NICE_0 * own / (all + own).max(1);
        self.tree.reweight(group, share.clamp(2, NICE_0), now);
    }
}
