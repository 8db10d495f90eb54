//! Processes that can run again: woken up by interrupts or other processes, and taken by idle processors.

use super::{Machine, nanos};
use crate::runqueue::scheduling::{Origin, Ready, Scheduling};
use rand::RngExt;
use warmcore_policy::runqueue::StopCause;
use warmcore_scenario::runqueue::WakeSource;
use warmcore_units::TaskId;

impl Machine<'_> {
    /// What `process` waits for has come.
    pub(super) fn wake(&mut self, process: usize) {
        let index = self.processes[process].application;
        let by_interrupt = self.behaviours[index].wake == WakeSource::Interrupt;
        let task = self.processes[process].task;
        let is_timed = self.processes[process].woken_on.take();
        if !by_interrupt && is_timed.is_none() {
            let waker = self.random.random_range(0..self.cpus.len());
            return self.enqueue(process, Origin::Woken(waker));
        }
        let cpu = is_timed.unwrap_or(self.scenario.machine.interrupt_cpu as usize);
        if !self.interrupt(cpu, task) {
            self.enqueue(process, Origin::Interrupted);
        }
    }

    /// An interrupt hits `cpu` to wake `task` up. Returns whether `task` took the processor over, where that does not depend on
    /// its place in a queue.
    pub(super) fn interrupt(&mut self, cpu: usize, task: TaskId) -> bool {
        let machine = &self.scenario.machine;
        let takes = nanos(machine.interrupt_us * 1e3);
        if self.is_fair() && takes == 0 {
            return false;
        }
        self.charge(cpu);
        let settled = self.settle(cpu);
        self.caches.interrupt(cpu);
        let Some((process, _)) = settled else { return false };
        let place = &mut self.cpus[cpu];
        let goes_on = self.now.max(place.began) + takes;
        place.quantum_ends = place.quantum_ends.max(goes_on);
        let running = self.processes[process].task;
        let preempts = match &self.scheduling {
            Scheduling::Unix { queue, .. } => {
                self.idle.is_empty() && queue.task(task).preempts(queue.task(running))
            }
            Scheduling::Fair(_) => false,
        };
        if preempts {
            self.preempt(cpu, process, task);
        } else {
            self.begin_segment(cpu, process, goes_on);
        }
        preempts
    }

    /// `process` leaves `cpu` to `task`, which wakes up there.
    pub(super) fn preempt(&mut self, cpu: usize, process: usize, task: TaskId) {
        self.stop(cpu, process, StopCause::Preempted);
        let woken = self.owners[task.index()];
        let one = &mut self.processes[woken];
        one.queued_at = Some(self.now);
        one.woken = true;
        self.scheduling.ready(task, Origin::Interrupted, self.now);
        self.dispatch(cpu);
    }

    /// `process` can run.
    pub(super) fn enqueue(&mut self, process: usize, origin: Origin) {
        let one = &mut self.processes[process];
        one.queued_at = Some(self.now);
        one.woken = origin != Origin::Resumed;
        let ready = self.scheduling.ready(one.task, origin, self.now);
        self.notice(process, ready);
    }

    /// Processors notice that `process` can run.
    pub(super) fn notice(&mut self, process: usize, ready: Ready) {
        match ready {
            Ready::Shared if self.idle.is_empty() => {}
            Ready::Shared => self.employ(process),
            Ready::On { cpu, preempts } => {
                if !self.employ_cpu(cpu) && preempts {
                    self.replace(cpu, StopCause::Preempted);
                }
            }
        }
    }

    /// An idle processor takes `process` if it waits in the queue of all.
    pub(super) fn offer(&mut self, process: usize) {
        if let Scheduling::Unix { queue, .. } = &self.scheduling
            && !self.idle.is_empty()
            && queue.is_waiting(self.processes[process].task)
        {
            self.employ(process);
        }
    }

    /// `cpu` looks for something to run, if it is idle. Returns whether it was.
    pub(super) fn employ_cpu(&mut self, cpu: usize) -> bool {
        let place = self.idle.iter().position(|&idle| idle == cpu);
        if let Some(place) = place {
            self.idle.swap_remove(place);
            self.dispatch(cpu);
        }
        place.is_some()
    }

    /// An idle processor takes `process`, which waits.
    pub(super) fn employ(&mut self, process: usize) {
        let Scheduling::Unix { queue, .. } = &self.scheduling else { return };
        let attached = queue.task(self.processes[process].task).attached;
        let place = match attached {
            Some(only) => self.idle.iter().position(|&cpu| cpu == only.index()),
            None => Some(self.random.random_range(0..self.idle.len())),
        };
        if let Some(place) = place {
            let cpu = self.idle.swap_remove(place);
            self.dispatch(cpu);
        }
    }
}
