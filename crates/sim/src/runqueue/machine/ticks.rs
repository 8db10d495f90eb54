//! Timer interrupts, and what schedulers do at them: UNIX charges running time and decays it, Linux ends slices and balances
//! load.

use super::{Event, Machine, nanos};
use crate::runqueue::scheduling::Scheduling;
use warmcore_policy::runqueue::{StopCause, Ticks};
use warmcore_units::CpuId;

impl Machine<'_> {
    pub(super) fn foresee_ticks(&mut self) {
        match &self.scheduling {
            Scheduling::Unix { .. } => {
                let period = nanos(self.scenario.scheduler.unix().decay_ms * 1e6);
                self.foresee(self.now + period, Event::Decay);
            }
            Scheduling::Fair(fair) => {
                let period = fair.parameters().tick;
                self.foresee(self.now + period, Event::Tick);
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
        if let Scheduling::Unix { queue, tick } = &mut self.scheduling {
            queue.decay(Ticks(self.now / *tick));
        }
        self.foresee_ticks();
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
