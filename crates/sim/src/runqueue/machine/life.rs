//! What begins and ends: processes, jobs, and the serial beginning of an application.

use super::{Machine, Progress, seconds};
use crate::runqueue::scheduling::{Newcomer, Origin};
use rand::RngExt;
use warmcore_scenario::runqueue::{Attachment, Jobs};
use warmcore_units::CpuId;

impl Machine<'_> {
    /// Gives the place of `process` a new process, started from `parent`.
    pub(super) fn begin(&mut self, process: usize, parent: usize) {
        let index = self.processes[process].application;
        let application = &self.scenario.applications[index];
        let work = application.work_ms.map_or(f64::INFINITY, |ms| ms * 1e6);
        match application.jobs {
            None => {
                let is_first = process == self.progress[index].first;
                let serial = application.serial_ms * 1e6;
                self.progress[index].serial |= is_first && serial > 0.0;
                self.processes[process].work = if is_first && serial > 0.0 { serial } else { work };
            }
            Some(Jobs { stages, spread, .. }) => {
                let one = &mut self.processes[process];
                if one.stages == 0 {
                    let progress = &mut self.progress[index];
                    if progress.jobs == 0 {
                        self.retire(process);
                        return;
                    }
                    progress.jobs -= 1;
                    one.stage_work = one.scattered(spread) * work / f64::from(stages);
                    one.stages = stages;
                }
                one.stages -= 1;
                one.work = one.stage_work;
                self.caches.replace(process);
            }
        }
        let attached = self.attachment(process);
        let recorded = application.threads.get(process - self.progress[index].first);
        let task = self.scheduling.add(
            Newcomer {
                base: recorded.map_or(application.base, |thread| thread.nice),
                attached,
                group: recorded.map_or(0, |thread| thread.group),
                last_cpu: recorded.and_then(|thread| thread.cpu),
            },
            self.now,
        );
        if self.owners.len() <= task.index() {
            self.owners.resize(task.index() + 1, 0);
        }
        self.owners[task.index()] = process;
        let one = &mut self.processes[process];
        one.task = task;
        one.born = self.now;
        one.last_cpu = recorded.and_then(|thread| thread.cpu).map(CpuId::index);
        one.waits_for = None;
        one.next_burst(&self.behaviours[index]);
        self.started += 1;
        let last_cpu = one.last_cpu;
        let origin = match last_cpu {
            // It ran before the simulation, and may have blocked there.
            Some(_) if self.resume_blocked(process) => return,
            Some(_) => Origin::Resumed,
            None => Origin::Started(parent),
        };
        self.enqueue(process, origin);
    }

    pub(super) fn attachment(&mut self, process: usize) -> Option<CpuId> {
        let index = self.processes[process].application;
        let application = &self.scenario.applications[index];
        let recorded = application.threads.get(process - self.progress[index].first);
        if let Some(only) = recorded.and_then(|thread| thread.attached) {
            return Some(only);
        }
        if !application.attached.is_empty() {
            let place = process - self.progress[index].first;
            return Some(application.attached[place % application.attached.len()]);
        }
        let cpus = self.scenario.machine.cpus;
        match self.scenario.scheduler.attach() {
            Attachment::None => None,
            Attachment::Inherited if application.jobs.is_some() => Some(CpuId(CpuId::from(index).0 % cpus)),
            Attachment::RoundRobin | Attachment::Inherited => Some(CpuId(self.started % cpus)),
            Attachment::Random => Some(CpuId(self.random.random_range(0..cpus))),
        }
    }

    /// The serial beginning of an application is over: `process`, its first, starts the others and works like them.
    pub(super) fn fork(&mut self, process: usize, cpu: usize) {
        let index = self.processes[process].application;
        self.progress[index].serial = false;
        let work = self.scenario.applications[index].work_ms.map_or(f64::INFINITY, |ms| ms * 1e6);
        self.processes[process].work = work;
        let Progress { first, count, .. } = self.progress[index];
        for other in first + 1..first + count {
            self.begin(other, cpu);
        }
    }

    /// The task of `process` has exited.
    pub(super) fn exit(&mut self, process: usize, cpu: usize) {
        let index = self.processes[process].application;
        if self.scenario.applications[index].jobs.is_some() {
            self.begin(process, cpu);
        } else {
            self.retire(process);
        }
    }

    /// `process` has no more to do.
    pub(super) fn retire(&mut self, process: usize) {
        let index = self.processes[process].application;
        self.processes[process].alive = false;
        self.progress[index].alive -= 1;
        if self.progress[index].alive == 0 {
            self.tally[index].finished_s = Some(seconds(self.now));
            self.unfinished -= 1;
        }
    }

    /// `process` failed to get a lock: finds out who holds it.
    pub(super) fn find_holder(&mut self, process: usize) {
        let index = self.processes[process].application;
        let Progress { first, count, .. } = self.progress[index];
        let held = self.behaviours[index].lock_held;
        let one = &mut self.processes[process];
        one.waits_for = None;
        if count < 2 || !one.happens(held) {
            return;
        }
        let other = first + one.one_of(count - 1);
        let holder = if other >= process { other + 1 } else { other };
        let runs = self.cpus.iter().any(|cpu| cpu.running == Some(holder));
        if self.processes[holder].alive && !runs {
            self.processes[process].waits_for = Some((holder, self.processes[holder].dispatches));
        }
    }
}
