//! What runs on a processor, in *segments* that end when it stops or an interrupt comes.

use super::super::cache::MissModel;
use super::{BurstEnd, Event, Machine, NOTHING, nanos};
use warmcore_policy::runqueue::StopCause;
use warmcore_units::CpuId;

/// The part of the bus's time that the misses of others are taken to keep it busy at most: they slow each other down.
const MOST_BUSY: f64 = 0.9;

impl Machine<'_> {
    /// `cpu` searches the queue.
    pub(super) fn dispatch(&mut self, cpu: usize) {
        let picked = self.queue.pick(self.ticks(), CpuId::from(cpu));
        let now = self.now;
        let overhead = nanos(self.scenario.machine.reschedule_us * 1e3);
        let began = now + overhead;
        let quantum_ends = self.quantum_end(began);
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
        place.dispatched = began;
        place.quantum_ends = quantum_ends;
        let process = self.owners[task.index()];
        place.running = Some(process);
        self.note_dispatch(process, cpu);
        self.begin_segment(cpu, process, began);
    }

    /// When a quantum that begins at `began` is over.
    fn quantum_end(&self, began: u64) -> u64 {
        let length = nanos(self.scenario.scheduler.quantum_ms * 1e6);
        match self.scenario.scheduler.quantum_by_ticks {
            true => (began / self.tick + (length / self.tick).max(1)) * self.tick,
            false => began + length,
        }
    }

    /// How long a miss on `cpu` waits for the bus, in nanoseconds: as in a queue with constant service, which the misses of the
    /// other processors keep busy as they now run. A processor has one miss at a time, so that its own never wait.
    fn bus_wait(&self, cpu: usize) -> f64 {
        let occupied = self.scenario.machine.bus_ns;
        if occupied == 0.0 {
            return 0.0;
        }
        let others =
            self.cpus.iter().enumerate().filter(|(other, place)| *other != cpu && place.running.is_some());
        let busy = others.map(|(_, place)| place.miss_rate * occupied).sum::<f64>().min(MOST_BUSY);
        occupied * busy / (2.0 * (1.0 - busy))
    }

    pub(super) fn note_dispatch(&mut self, process: usize, cpu: usize) {
        let one = &mut self.processes[process];
        let index = one.application;
        let tally = &mut self.tally[index];
        let waited = (self.now - one.queued_at) as f64;
        tally.longest_wait_s = tally.longest_wait_s.max(waited / 1e9);
        if one.woken {
            tally.responses.push(waited);
        }
        one.dispatches += 1;
        if let Some(last) = one.last_cpu {
            tally.returns += 1;
            if last != cpu {
                tally.migrations += 1;
                self.caches.invalidate(process, last, self.behaviours[index].written);
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
        let absent = self.caches.absent(process, one.application, cpu);
        let behaviour = &self.behaviours[one.application];
        let mut target = one.burst.min(one.work);
        if self.is_locked_out(process) {
            target = target.min(behaviour.retry);
        }
        let miss_ns = behaviour.model.miss_ns + self.bus_wait(cpu);
        let model = MissModel { miss_ns, ..behaviour.model };
        let elapsed = model.elapsed(target, absent);
        let place = &mut self.cpus[cpu];
        place.miss_ns = miss_ns;
        place.miss_rate = model.misses(target, absent) / elapsed.max(1.0);
        place.began = began;
        place.absent = absent;
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
        let model = MissModel { miss_ns: place.miss_ns, ..self.behaviours[index].model };
        let elapsed = self.now.saturating_sub(place.began) as f64;
        let computed = model.computed(elapsed, place.absent);
        // The end was rounded to a nanosecond.
        let computed = if computed + NOTHING >= place.target { place.target } else { computed };
        let misses = model.misses(computed, place.absent);
        let tally = &mut self.tally[index];
        tally.misses += misses;
        tally.reload_misses += misses - model.steady * computed;
        tally.compute_s += computed / 1e9;
        tally.cpu_s += elapsed / 1e9;
        if let Some((_, length)) = &mut place.slice {
            *length += elapsed;
        }
        let left = model.absent_after(computed, place.absent);
        self.caches.displace(cpu, misses);
        self.caches.leave(process, index, cpu, computed, left);
        let one = &mut self.processes[process];
        one.work -= computed;
        one.burst -= computed;
        Some((process, computed))
    }

    /// A segment has ended as foreseen.
    pub(super) fn finish_segment(&mut self, cpu: usize) {
        let target = self.cpus[cpu].target;
        let locked_out = self.cpus[cpu].running.is_some_and(|process| self.is_locked_out(process));
        let Some((process, computed)) = self.settle(cpu) else { return };
        let one = &self.processes[process];
        let cause = match () {
            () if one.work <= NOTHING && self.progress[one.application].serial => StopCause::Reschedule,
            () if one.work <= NOTHING => StopCause::Exit,
            () if one.burst <= NOTHING => match one.end {
                BurstEnd::Block => StopCause::Block,
                BurstEnd::Yield => StopCause::Yield,
                BurstEnd::Reschedule => StopCause::Reschedule,
            },
            () if locked_out && computed >= target => StopCause::Yield,
            () => StopCause::Quantum,
        };
        self.stop(cpu, process, cause);
        if self.processes[process].work <= NOTHING && cause == StopCause::Reschedule {
            self.fork(process);
        }
        self.dispatch(cpu);
        if !self.idle.is_empty() && self.queue.is_waiting(self.processes[process].task) {
            self.employ(process);
        }
    }

    /// `process` stops on `cpu`, whose last segment is settled.
    pub(super) fn stop(&mut self, cpu: usize, process: usize, cause: StopCause) {
        self.charge(cpu);
        let place = &mut self.cpus[cpu];
        place.running = None;
        place.segment += 1;
        let length = self.now.saturating_sub(place.dispatched) as f64;
        let index = self.processes[process].application;
        self.tally[index].dispatches.push(length);
        self.tally[index].ended.count(cause);
        let (task, ticks) = (self.processes[process].task, self.ticks());
        let one = &mut self.processes[process];
        one.queued_at = self.now;
        one.woken = false;
        let is_over = one.burst <= NOTHING;
        self.queue.stop(ticks, task, CpuId::from(cpu), cause);
        match cause {
            StopCause::Exit => self.exit(process),
            StopCause::Block => {
                let wakes = self.now.saturating_add(nanos(one.blocked(&self.behaviours[index])));
                self.foresee(wakes, Event::Wake(process));
            }
            StopCause::Yield if is_over => self.find_holder(process),
            _ => {}
        }
        if is_over {
            self.processes[process].next_burst(&self.behaviours[index]);
        }
    }
}
