//! Virtual time, lag, deadlines and eligibility: EEVDF among the members of a queue, which are tasks and groups.

use super::average::Average;
use super::parameters::Parameters;
use super::weight::NICE_0;
use alloc::vec::Vec;

/// The index of an entity.
pub(super) type EntityId = usize;
/// The index of a queue.
pub(super) type QueueId = usize;

/// What competes in a queue: a task, or the part of a group that is on one processor.
#[derive(Clone, Debug)]
pub(super) struct Entity {
    pub(super) weight: u64,
    vruntime: i64,
    deadline: i64,
    /// While it is in no queue: how far its virtual runtime was behind the average.
    lag: i64,
    /// Up to which virtual runtime nobody takes the processor from it, while it runs.
    protected: i64,
    /// Until when its running time is accounted for.
    pub(super) since: u64,
    pub(super) queue: QueueId,
    pub(super) is_queued: bool,
    /// Whether it blocks, and stays in the queue until it is eligible.
    pub(super) is_delayed: bool,
    /// Whether `deadline` counts from its virtual runtime, since it changes its queue with a request that is not over.
    is_relative: bool,
    active: Average,
    /// The queue of the group that it is; none if it is a task.
    pub(super) children: Option<QueueId>,
}

/// The members of a group on one processor, or all groups and tasks outside groups there.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) members: Vec<EntityId>,
    /// What these weigh together.
    pub(super) weight: u64,
    pub(super) current: Option<EntityId>,
    /// The entity of the group; none for the queue of a processor itself.
    pub(super) group: Option<EntityId>,
    pub(super) load: Average,
    pub(super) cpu: usize,
}

/// All entities and queues.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) parameters: Parameters,
    pub(super) entities: Vec<Entity>,
    pub(super) queues: Vec<Queue>,
    /// For each processor, whether another should be looked for to run there (`TIF_NEED_RESCHED`).
    pub(super) is_due: Vec<bool>,
    free: Vec<EntityId>,
}

/// How an entity comes into a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    Woken,
    /// A new task begins with half a slice (`PLACE_DEADLINE_INITIAL`).
    New,
}

impl Tree {
    pub(super) const fn new(parameters: Parameters) -> Self {
        Self { parameters, entities: Vec::new(), queues: Vec::new(), is_due: Vec::new(), free: Vec::new() }
    }

    /// A queue of `cpu`; the first one is the processor's own.
    pub(super) fn add_queue(&mut self, group: Option<EntityId>, cpu: usize) -> QueueId {
        let load = Average::default();
        self.queues.push(Queue { members: Vec::new(), weight: 0, current: None, group, load, cpu });
        if self.is_due.len() <= cpu {
            self.is_due.resize(cpu + 1, false);
        }
        self.queues.len() - 1
    }

    pub(super) fn add_entity(&mut self, weight: u64, queue: QueueId, now: u64) -> EntityId {
        let entity = Entity {
            weight,
            vruntime: 0,
            deadline: 0,
            lag: 0,
            protected: 0,
            since: now,
            queue,
            is_queued: false,
            is_delayed: false,
            is_relative: false,
            active: Average::default(),
            children: None,
        };
        if let Some(id) = self.free.pop() {
            self.entities[id] = entity;
            return id;
        }
        self.entities.push(entity);
        self.entities.len() - 1
    }

    /// Forgets an entity that is in no queue.
    pub(super) fn remove_entity(&mut self, id: EntityId) {
        self.free.push(id);
    }

    /// The average of what the members of a queue weigh.
    pub(super) fn load(&mut self, queue: QueueId, now: u64) -> u64 {
        let queue = &mut self.queues[queue];
        debug_assert_eq!(
            queue.weight,
            queue.members.iter().map(|&id| self.entities[id].weight).sum(),
            "the weight of a queue is that of its members"
        );
        queue.load.advance(queue.weight, now)
    }

    /// The weighted average of virtual runtimes, and the sum of weights (`avg_vruntime`); it never lies above the true one,
    /// so that someone is always eligible.
    fn average(&self, queue: QueueId) -> Option<(i64, i64)> {
        let members = &self.queues[queue].members;
        let base = self.entities[*members.first()?].vruntime;
        let (mut sum, mut weights) = (0_i128, 0_i64);
        for &id in members {
            let Entity { weight, vruntime, .. } = self.entities[id];
            sum += i128::from(vruntime - base) * i128::from(weight);
            weights += weight.cast_signed();
        }
        let mean = i64::try_from(sum.div_euclid(i128::from(weights))).unwrap_or(0);
        Some((base + mean, weights))
    }

    /// Whether `id`, a member of its queue, got no more than its share (`entity_eligible`).
    pub(super) fn is_eligible(&self, id: EntityId) -> bool {
        self.average(self.entities[id].queue).is_none_or(|(mean, _)| self.entities[id].vruntime <= mean)
    }

    /// A time as virtual time of `id` (`calc_delta_fair`).
    fn scaled(&self, time: u64, id: EntityId) -> i64 {
        (time * NICE_0 / self.entities[id].weight).cast_signed()
    }

    /// Accounts for the running time of who runs in `queue` (`update_curr`). If its request is over, another is to be looked
    /// for.
    pub(super) fn account(&mut self, queue: QueueId, now: u64) {
        let Some(id) = self.queues[queue].current else { return };
        let ran = now.saturating_sub(self.entities[id].since);
        if ran == 0 || !self.entities[id].is_queued {
            return;
        }
        let (delta, slice) = (self.scaled(ran, id), self.scaled(self.parameters.slice, id));
        let entity = &mut self.entities[id];
        entity.since = now;
        entity.vruntime += delta;
        let is_over = entity.vruntime >= entity.deadline;
        if is_over {
            entity.deadline = entity.vruntime + slice;
        }
        let is_over = is_over || !self.is_protected(id);
        let Queue { members, cpu, .. } = &self.queues[queue];
        self.is_due[*cpu] |= is_over && members.len() > 1;
    }

    fn is_protected(&self, id: EntityId) -> bool {
        self.entities[id].vruntime < self.entities[id].protected
    }

    /// `id` enters its queue (`place_entity`, `enqueue_entity`). Its group follows if it was not in its queue.
    pub(super) fn enqueue(&mut self, id: EntityId, entry: Entry, now: u64) {
        let queue = self.entities[id].queue;
        self.account(queue, now);
        self.load(queue, now);
        self.place(id, entry);
        self.note_active(id, now);
        self.entities[id].is_queued = true;
        self.queues[queue].members.push(id);
        self.queues[queue].weight += self.entities[id].weight;
        if let Some(group) = self.queues[queue].group
            && !self.entities[group].is_queued
        {
            self.enqueue(group, Entry::Woken, now);
        } else if let Some(group) = self.queues[queue].group {
            self.undelay(group, now);
        }
    }

    /// `id` goes on before it was eligible to leave the queue (`requeue_delayed_entity`). Returns whether it was waiting for that.
    pub(super) fn undelay(&mut self, id: EntityId, now: u64) -> bool {
        if !self.entities[id].is_delayed {
            return false;
        }
        self.entities[id].is_delayed = false;
        let queue = self.entities[id].queue;
        self.account(queue, now);
        self.note_lag(id);
        // What it gained while it waited is not its own (`DELAY_ZERO`).
        if self.entities[id].lag > 0 {
            self.entities[id].lag = 0;
            self.queues[queue].members.retain(|&member| member != id);
            self.place(id, Entry::Woken);
            self.queues[queue].members.push(id);
        }
        if let Some(group) = self.queues[queue].group {
            self.undelay(group, now);
        }
        true
    }

    /// Gives `id`, who is not among the members of its queue, its virtual runtime and deadline there.
    fn place(&mut self, id: EntityId, entry: Entry) {
        let slice = self.scaled(self.parameters.slice, id);
        let average = self.average(self.entities[id].queue);
        let entity = &mut self.entities[id];
        let weight = entity.weight.cast_signed();
        entity.vruntime = match average {
            // Its own weight moves the average: the lag must be the same afterwards.
            Some((mean, weights)) => {
                let lag = i128::from(entity.lag) * i128::from(weights + weight) / i128::from(weights.max(1));
                mean - i64::try_from(lag).unwrap_or(0)
            }
            None => entity.vruntime,
        };
        if core::mem::take(&mut entity.is_relative) {
            entity.deadline += entity.vruntime;
        } else {
            entity.deadline = entity.vruntime + if entry == Entry::New { slice / 2 } else { slice };
        }
    }

    /// Notes the lag of a member (`update_entity_lag`), which is bounded.
    fn note_lag(&mut self, id: EntityId) {
        let Some((mean, _)) = self.average(self.entities[id].queue) else { return };
        let limit = self.scaled((2 * self.parameters.slice).max(self.parameters.tick), id);
        let entity = &mut self.entities[id];
        entity.lag = (mean - entity.vruntime).clamp(-limit, limit);
    }

    /// `id` blocks (`dequeue_entity` with `DEQUEUE_SLEEP`). Returns whether it left its queue: if it is not eligible it stays.
    pub(super) fn block(&mut self, id: EntityId, now: u64) -> bool {
        self.account(self.entities[id].queue, now);
        if self.parameters.delay_dequeue && !self.is_eligible(id) {
            self.entities[id].is_delayed = true;
            return false;
        }
        self.leave(id, now);
        true
    }

    /// `id` leaves its queue (`dequeue_entities`). Its group follows if that was the last of it.
    pub(super) fn leave(&mut self, id: EntityId, now: u64) {
        let queue = self.entities[id].queue;
        self.account(queue, now);
        self.load(queue, now);
        self.note_lag(id);
        self.note_active(id, now);
        self.entities[id].is_queued = false;
        self.entities[id].is_delayed = false;
        let place = &mut self.queues[queue];
        place.members.retain(|&member| member != id);
        place.weight -= self.entities[id].weight;
        place.current = place.current.filter(|&current| current != id);
        if place.members.is_empty()
            && let Some(group) = place.group
        {
            self.block(group, now);
        }
    }

    /// `id`, which blocked before it was eligible, now is and leaves. What it gained meanwhile is not its own (`DELAY_ZERO`).
    pub(super) fn leave_late(&mut self, id: EntityId, now: u64) {
        self.leave(id, now);
        let entity = &mut self.entities[id];
        entity.lag = entity.lag.min(0);
    }

    /// `id` leaves its queue for another, with what is left of its request (`PLACE_REL_DEADLINE`).
    pub(super) fn detach(&mut self, id: EntityId, now: u64) {
        self.leave(id, now);
        let entity = &mut self.entities[id];
        if !entity.is_relative {
            entity.deadline -= entity.vruntime;
            entity.is_relative = true;
        }
    }

    /// `id` gets another weight, and keeps its lag and its request in real time (`reweight_entity`). As in Linux up to 6.18, one
    /// that runs stays among the members meanwhile, and so its lag grows: a group whose tasks often wake up and block while it
    /// runs gets more than its share.
    pub(super) fn reweight(&mut self, id: EntityId, weight: u64, now: u64) {
        let old = self.entities[id].weight;
        if old == weight {
            return;
        }
        let rescaled = |value: i64| {
            let scaled = i128::from(value) * i128::from(old) / i128::from(weight);
            i64::try_from(scaled).unwrap_or(0)
        };
        let queue = self.entities[id].queue;
        self.load(queue, now);
        self.reweight_load(id, weight, now);
        if !self.entities[id].is_queued {
            let entity = &mut self.entities[id];
            entity.lag = rescaled(entity.lag);
            entity.weight = weight;
            return;
        }
        self.account(queue, now);
        self.note_lag(id);
        let runs = self.queues[queue].current == Some(id);
        if !runs {
            self.queues[queue].members.retain(|&member| member != id);
        }
        self.queues[queue].weight += weight;
        self.queues[queue].weight -= old;
        let entity = &mut self.entities[id];
        let protected = rescaled(entity.protected - entity.vruntime);
        entity.deadline = rescaled(entity.deadline - entity.vruntime);
        entity.is_relative = true;
        entity.lag = rescaled(entity.lag);
        entity.weight = weight;
        self.place(id, Entry::Woken);
        let entity = &mut self.entities[id];
        entity.protected = entity.vruntime + protected;
        if !runs {
            self.queues[queue].members.push(id);
        }
    }

    /// What `id` has added to the load of its queue in the last time changes with its weight at once.
    fn reweight_load(&mut self, id: EntityId, weight: u64, now: u64) {
        let active = self.note_active(id, now);
        let Entity { queue, weight: old, .. } = self.entities[id];
        let load = &mut self.queues[queue].load;
        load.join(weight * active / 1024);
        load.remove(old * active / 1024);
    }

    /// The part of the last time, of 1024, in which `id` was in its queue.
    fn note_active(&mut self, id: EntityId, now: u64) -> u64 {
        let entity = &mut self.entities[id];
        entity.active.advance(u64::from(entity.is_queued) * 1024, now)
    }

    /// Who runs next in `queue` (`pick_eevdf`): the current one while it is protected, or the eligible one with the earliest
    /// deadline.
    pub(super) fn choose(&self, queue: QueueId) -> Option<EntityId> {
        let Queue { members, current, .. } = &self.queues[queue];
        if let [only] = members[..] {
            return Some(only);
        }
        let (mean, _) = self.average(queue)?;
        let is_eligible = |&id: &EntityId| self.entities[id].vruntime <= mean;
        if let Some(current) = current.filter(is_eligible)
            && self.parameters.run_to_parity
            && self.is_protected(current)
        {
            return Some(current);
        }
        members.iter().copied().filter(is_eligible).min_by_key(|&id| self.entities[id].deadline)
    }

    /// `id` is the one that runs in its queue from now on (`set_next_entity`).
    pub(super) fn set_current(&mut self, id: EntityId, now: u64) {
        let queue = self.entities[id].queue;
        if self.queues[queue].current == Some(id) {
            return;
        }
        self.queues[queue].current = Some(id);
        let entity = &mut self.entities[id];
        entity.since = now;
        entity.protected = entity.deadline;
    }

    /// Nobody runs in `queue` any more.
    pub(super) fn clear_current(&mut self, queue: QueueId) {
        self.queues[queue].current = None;
    }

    /// `id`, which runs, gives the rest of its request away (`yield_task_fair`).
    pub(super) fn forgo(&mut self, id: EntityId) {
        let slice = self.scaled(self.parameters.slice, id);
        let entity = &mut self.entities[id];
        entity.vruntime = entity.vruntime.max(entity.deadline);
        entity.deadline = entity.vruntime + slice;
        entity.protected = entity.vruntime;
    }

    /// The lag of a member in virtual time; zero for others.
    pub(super) fn lag(&self, id: EntityId) -> i64 {
        match self.average(self.entities[id].queue) {
            Some((mean, _)) if self.entities[id].is_queued => mean - self.entities[id].vruntime,
            _ => 0,
        }
    }
}
