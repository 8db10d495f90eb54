//! Timer interrupts, and what schedulers do at them: UNIX charges running time and decays it, Linux ends slices and balances
//! load.

use super::{Event, Machine, SECOND, nanos};
use crate::runqueue::process::Process;
use crate::runqueue::scheduling::Scheduling;
use rand::RngExt;
use warmcore_policy::runqueue::{StopCause, Ticks};
use warmcore_scenario::runqueue::UnixScheduler;
use warmcore_units::CpuId;

/// How long a process has lived when it is old.
const OLD: u64 = 5 * SECOND;

impl Machine<'_> {
    pub(super) fn foresee_ticks(&mut self) {
        match &self.scheduling {
            Scheduling::Unix { .. } => {
                let period = nanos(self.scenario.scheduler.unix().decay_ms * 1e6);
                self.foresee(self.now + period, Event::Decay);
            }
            Scheduling::Fair(fair) => {
                let period = fair.parameters().tick;
                // Nobody knows when the first one comes.
                let wait = if self.now == 0 { self.random.random_range(1..=period) } else { period };
                self.foresee(self.now + wait, Event::Tick);
            }
        }
    }

    /// Charges the timer interrupts since the last time to what runs on `cpu`.
    pub(super) fn charge(&mut self, cpu: usize) {
        let Scheduling::Unix { queue, tick } = &mut self.scheduling else { return };
        let place = &mut self.cpus[cpu];
        let ticks = self.now / *tick - place.charged / *tick;
        place.charged = self.now;
        let Some(process) = place.running else { return };
        let (task, now) = (self.processes[process].task, Ticks(self.now / *tick));
        for _ in 0..ticks {
            queue.tick(now, task);
        }
    }

    pub(super) fn decay(&mut self) {
        for cpu in 0..self.cpus.len() {
            self.charge(cpu);
        }
        self.spare_old();
        if let Scheduling::Unix { queue, tick } = &mut self.scheduling {
            queue.decay(Ticks(self.now / *tick));
        }
        self.foresee_ticks();
    }

    /// Charges old processes beforehand what they would otherwise get back by the part of a decay that they escape.
    fn spare_old(&mut self) {
        let UnixScheduler { decay_to, decay_spares_old, .. } = self.scenario.scheduler.unix();
        let Scheduling::Unix { queue, tick } = &mut self.scheduling else { return };
        if decay_spares_old == 0.0 || decay_to == 0.0 {
            return;
        }
        let left = decay_to + (1.0 - decay_to) * decay_spares_old;
        let now = Ticks(self.now / *tick);
        let is_old = |one: &&Process<'_>| one.alive && self.now.saturating_sub(one.born) >= OLD;
        for one in self.processes.iter().filter(is_old) {
            let more = f64::from(queue.task(one.task).cpu) * (left / decay_to - 1.0);
            for _ in 0..nanos(more) {
                queue.tick(now, one.task);
            }
        }
    }

    pub(super) fn tick(&mut self) {
        for cpu in 0..self.cpus.len() {
            let Scheduling::Fair(fair) = &mut self.scheduling else { return };
            let id = CpuId::from(cpu);
            let is_over = fair.tick(id, self.now);
            let employed = fair.balance(id, self.now);
            if is_over {
                self.replace(cpu, StopCause::Quantum);
            }
            if let Some(idle) = employed {
                self.employ_cpu(idle.index());
            }
        }
        self.foresee_ticks();
    }

    /// What runs on `cpu` stops and can go on; the scheduler says who runs there next.
    pub(super) fn replace(&mut self, cpu: usize, cause: StopCause) {
        if let Some((process, _)) = self.settle(cpu) {
            self.stop(cpu, process, cause);
            self.dispatch(cpu);
        }
    }
}
