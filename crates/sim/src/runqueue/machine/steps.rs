//! What a recorded thread does between its segments: it wakes up others, starts them, blocks.

use super::{BurstEnd, Machine, nanos};
use crate::runqueue::scheduling::{Origin, Ready, Scheduling};
use warmcore_policy::runqueue::StopCause;
use warmcore_scenario::runqueue::Step;

impl Machine<'_> {
    pub(super) const fn is_fair(&self) -> bool {
        matches!(self.scheduling, Scheduling::Fair(_))
    }

    /// `process`, whose segment on `cpu` is settled, goes on there with its next burst.
    pub(super) fn go_on(&mut self, cpu: usize, process: usize) {
        let index = self.processes[process].application;
        self.processes[process].next_burst(&self.behaviours[index]);
        self.begin_segment(cpu, process, self.now);
    }

    /// `process`, whose segment on `cpu` is settled, does `step`.
    pub(super) fn step(&mut self, cpu: usize, process: usize, step: Step) {
        match step {
            Step::Run(_) | Step::RunOn => self.go_on(cpu, process),
            Step::Wake(other) => {
                self.go_on(cpu, process);
                self.wake_up(other as usize, Origin::Woken(cpu));
            }
            Step::WakeLate(other) => {
                self.go_on(cpu, process);
                self.wake_up(other as usize, Origin::Interrupted);
            }
            Step::Start(other) => {
                self.go_on(cpu, process);
                // Once: it may have been named twice.
                if std::mem::take(&mut self.processes[other as usize].is_started_by_another) {
                    self.begin(other as usize, cpu);
                }
            }
            Step::Nice(nice) => {
                if let Scheduling::Fair(fair) = &mut self.scheduling {
                    fair.renice(self.processes[process].task, nice, self.now);
                }
                self.go_on(cpu, process);
            }
            Step::Exec => self.exec(cpu, process),
            Step::Block if self.processes[process].permits > 0 => {
                self.processes[process].permits -= 1;
                self.go_on(cpu, process);
            }
            Step::Block | Step::Sleep(..) => self.leave(cpu, process, StopCause::Block),
            Step::Exit => self.leave(cpu, process, StopCause::Exit),
        }
    }

    fn leave(&mut self, cpu: usize, process: usize, cause: StopCause) {
        self.stop(cpu, process, cause);
        self.dispatch(cpu);
    }

    /// What `process` waits for has come; if it does not wait, it will not the next time.
    fn wake_up(&mut self, process: usize, origin: Origin) {
        let one = &mut self.processes[process];
        if std::mem::take(&mut one.waits) {
            self.enqueue(process, origin);
        } else {
            one.permits += 1;
        }
    }

    /// `process` goes on with another program: a good time to move it, since it has nothing in any cache yet.
    fn exec(&mut self, cpu: usize, process: usize) {
        self.caches.replace(process);
        let task = self.processes[process].task;
        let target = match &mut self.scheduling {
            Scheduling::Fair(fair) => fair.place_exec(task, self.now).index(),
            Scheduling::Unix { .. } => cpu,
        };
        if target == cpu {
            return self.go_on(cpu, process);
        }
        // It has done this step when it stops: a step that is left would be done again there.
        let index = self.processes[process].application;
        self.processes[process].next_burst(&self.behaviours[index]);
        self.stop(cpu, process, StopCause::Preempted);
        let ready = match &mut self.scheduling {
            Scheduling::Fair(fair) => {
                let woken = fair.relocate(task, target.into(), self.now);
                Ready::On { cpu: target, preempts: woken.preempts }
            }
            Scheduling::Unix { .. } => Ready::Shared,
        };
        self.dispatch(cpu);
        self.notice(process, ready);
    }

    /// A thread that is older than the recording may begin blocked. Returns whether it does.
    pub(super) fn resume_blocked(&mut self, process: usize) -> bool {
        let one = &mut self.processes[process];
        if one.burst > 0.0 || !matches!(one.end, BurstEnd::Step(Step::Block | Step::Sleep(..))) {
            return false;
        }
        let index = one.application;
        if let Some(blocked) = one.blocked(&self.behaviours[index]) {
            self.foresee(self.now + nanos(blocked), super::Event::Wake(process));
        }
        self.processes[process].next_burst(&self.behaviours[index]);
        true
    }
}
