//! Processes that can run again: woken up by interrupts or other processes, and taken by idle processors.

use super::{Machine, nanos};
use rand::RngExt;
use warmcore_policy::runqueue::{StopCause, Ticks};
use warmcore_scenario::runqueue::WakeSource;
use warmcore_units::TaskId;

impl Machine<'_> {
    pub(super) fn wake(&mut self, process: usize) {
        let index = self.processes[process].application;
        let by_interrupt = self.behaviours[index].wake == WakeSource::Interrupt;
        let task = self.processes[process].task;
        let preempted = by_interrupt && self.interrupt(task);
        if !preempted {
            self.enqueue(process, true);
        }
    }

    /// An interrupt hits the designated processor to wake `task` up. Returns whether `task` took the processor over.
    pub(super) fn interrupt(&mut self, task: TaskId) -> bool {
        let machine = &self.scenario.machine;
        let cpu = machine.interrupt_cpu as usize;
        let takes = nanos(machine.interrupt_us * 1e3);
        self.charge(cpu);
        let settled = self.settle(cpu);
        self.caches.interrupt(cpu);
        let Some((process, _)) = settled else { return false };
        let place = &mut self.cpus[cpu];
        let goes_on = self.now.max(place.began) + takes;
        place.quantum_ends = place.quantum_ends.max(goes_on);
        let running = self.processes[process].task;
        let queue = &self.queue;
        let preempts = self.idle.is_empty() && queue.task(task).preempts(queue.task(running));
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
        one.queued_at = self.now;
        one.woken = true;
        self.queue.enqueue(self.ticks(), task);
        self.dispatch(cpu);
    }

    pub(super) fn enqueue(&mut self, process: usize, woken: bool) {
        let one = &mut self.processes[process];
        one.queued_at = self.now;
        one.woken = woken;
        self.queue.enqueue(Ticks(self.now / self.tick), one.task);
        if !self.idle.is_empty() {
            self.employ(process);
        }
    }

    /// An idle processor takes `process`, which waits.
    pub(super) fn employ(&mut self, process: usize) {
        let attached = self.queue.task(self.processes[process].task).attached;
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
