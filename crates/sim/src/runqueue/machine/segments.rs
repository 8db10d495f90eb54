//! What runs on a processor, in *segments* that end when it stops or an interrupt comes.

use super::{BurstEnd, Event, Machine, nanos};
use crate::runqueue::cache::{NOTHING, Ran};
use crate::runqueue::scheduling::Scheduling;
use warmcore_policy::runqueue::StopCause;

impl Machine<'_> {
    /// `cpu` searches the queue.
    pub(super) fn dispatch(&mut self, cpu: usize) {
        let picked = self.scheduling.pick(cpu, self.now);
        let now = self.now;
        let overhead = nanos(self.scenario.machine.reschedule_us * 1e3);
        let quantum_ends = self.quantum_end(now + overhead);
        let place = &mut self.cpus[cpu];
        place.charged = now;
        let Some(task) = picked else {
            place.idle_since.get_or_insert(now);
            self.idle.push(cpu);
            return;
        };
        if let Some(since) = place.idle_since.take() {
            place.idle += now - since;
        }
        place.rescheduling += overhead;
        place.dispatched = now + overhead;
        place.quantum_ends = quantum_ends;
        let process = self.owners[task.index()];
        place.running = Some(process);
        self.note_dispatch(process, cpu);
        let began = self.cpus[cpu].dispatched;
        self.begin_segment(cpu, process, began);
    }

    /// When a quantum that begins at `began` is over.
    fn quantum_end(&self, began: u64) -> u64 {
        match &self.scheduling {
            Scheduling::Unix { tick, .. } if self.scenario.scheduler.unix().quantum_by_ticks => {
                (began / tick + (self.quantum / tick).max(1)) * tick
            }
            _ => began.saturating_add(self.quantum),
        }
    }

    pub(super) fn note_dispatch(&mut self, process: usize, cpu: usize) {
        let one = &mut self.processes[process];
        let index = one.application;
        let tally = &mut self.tally[index];
        let waited = one.queued_at.take().map_or(0, |since| self.now - since) as f64;
        tally.longest_wait_s = tally.longest_wait_s.max(waited / 1e9);
        if one.woken {
            tally.responses.push(waited);
        }
        one.dispatches += 1;
        if let Some(last) = one.last_cpu {
            tally.returns += 1;
            if last != cpu {
                tally.migrations += 1;
                self.caches.migrate(process, last);
            }
        }
        one.last_cpu = Some(cpu);
        let place = &mut self.cpus[cpu];
        match place.slice {
            Some((owner, _)) if owner == process => {}
            before => {
                if let Some((owner, length)) = before {
                    self.tally[self.processes[owner].application].slices.push(length);
                }
                place.slice = Some((process, 0.0));
            }
        }
    }

    /// `process` computes on `cpu` from `began` on.
    pub(super) fn begin_segment(&mut self, cpu: usize, process: usize, began: u64) {
        let one = &self.processes[process];
        let behaviour = &self.behaviours[one.application];
        let mut target = one.burst.min(one.work);
        if self.is_locked_out(process) {
            target = target.min(behaviour.retry);
        }
        self.compute(cpu, process, began, target);
    }

    /// `process` computes for `target` nanoseconds on `cpu` from `began` on, unless something happens before.
    fn compute(&mut self, cpu: usize, process: usize, began: u64, target: f64) {
        let elapsed = self.caches.begin(process, cpu, target);
        let place = &mut self.cpus[cpu];
        place.began = began;
        place.target = target;
        place.segment += 1;
        let stops = began.saturating_add(nanos(elapsed).max(1)).min(place.quantum_ends.max(began));
        let segment = place.segment;
        self.foresee(stops, Event::Stop(cpu, segment));
    }

    /// Whether `process` needs a lock whose holder has not run since.
    pub(super) fn is_locked_out(&self, process: usize) -> bool {
        self.processes[process].waits_for.is_some_and(|(holder, dispatches)| {
            let holder = &self.processes[holder];
            holder.alive && holder.dispatches == dispatches
        })
    }

    /// Accounts for what `cpu` did in its segment until now. Returns its process and how far it computed.
    pub(super) fn settle(&mut self, cpu: usize) -> Option<(usize, f64)> {
        let place = &mut self.cpus[cpu];
        let process = place.running?;
        let index = self.processes[process].application;
        let elapsed = self.now.saturating_sub(place.began) as f64;
        let Ran { computed, misses, reload_misses } = self.caches.run(process, cpu, elapsed, place.target);
        let tally = &mut self.tally[index];
        tally.misses += misses;
        tally.reload_misses += reload_misses;
        tally.compute_s += computed / 1e9;
        tally.cpu_s += elapsed / 1e9;
        if let Some((_, length)) = &mut place.slice {
            *length += elapsed;
        }
        let one = &mut self.processes[process];
        one.work -= computed;
        one.burst -= computed;
        Some((process, computed))
    }

    /// A segment has ended as foreseen, or is to be looked at.
    pub(super) fn finish_segment(&mut self, cpu: usize) {
        let target = self.cpus[cpu].target;
        let locked_out = self.cpus[cpu].running.is_some_and(|process| self.is_locked_out(process));
        let Some((process, computed)) = self.settle(cpu) else { return };
        if computed + NOTHING < target && self.now < self.cpus[cpu].quantum_ends {
            self.compute(cpu, process, self.now, target - computed);
            return;
        }
        let one = &self.processes[process];
        let cause = match () {
            () if one.work <= NOTHING && self.progress[one.application].serial => StopCause::Reschedule,
            () if one.work <= NOTHING => StopCause::Exit,
            () if one.burst <= NOTHING => match one.end {
                BurstEnd::Block => StopCause::Block,
                BurstEnd::Yield => StopCause::Yield,
                // Linux switches for a reason only.
                BurstEnd::Reschedule if self.is_fair() => return self.go_on(cpu, process),
                BurstEnd::Reschedule => StopCause::Reschedule,
                BurstEnd::Step(step) => return self.step(cpu, process, step),
            },
            () if locked_out && computed >= target => StopCause::Yield,
            () => StopCause::Quantum,
        };
        self.stop(cpu, process, cause);
        if self.processes[process].work <= NOTHING && cause == StopCause::Reschedule {
            self.fork(process, cpu);
        }
        self.dispatch(cpu);
        self.offer(process);
    }

    /// `process` stops on `cpu`, whose last segment is settled.
    pub(super) fn stop(&mut self, cpu: usize, process: usize, cause: StopCause) {
        self.charge(cpu);
        let place = &mut self.cpus[cpu];
        place.running = None;
        place.segment += 1;
        // Who is stopped while the processor is still rescheduling has not had all of that.
        place.rescheduling -= place.dispatched.saturating_sub(self.now);
        let length = self.now.saturating_sub(place.dispatched) as f64;
        let index = self.processes[process].application;
        self.tally[index].dispatches.push(length);
        self.tally[index].ended.count(cause);
        let task = self.processes[process].task;
        let one = &mut self.processes[process];
        one.queued_at = cause.is_runnable().then_some(self.now);
        one.woken = false;
        // What a recorded thread does at the end of its burst is still to be done if it was stopped just before.
        let is_due = matches!(one.end, BurstEnd::Step(_)) && cause.is_runnable();
        let is_over = one.burst <= NOTHING && !is_due;
        self.scheduling.stop(task, cpu, cause, self.now);
        match cause {
            StopCause::Exit => self.exit(process, cpu),
            StopCause::Block => {
                if let Some(blocked) = one.blocked(&self.behaviours[index]) {
                    self.foresee(self.now.saturating_add(nanos(blocked)), Event::Wake(process));
                }
            }
            StopCause::Yield if is_over => self.find_holder(process),
            _ => {}
        }
        if is_over {
            self.processes[process].next_burst(&self.behaviours[index]);
        }
    }
}
