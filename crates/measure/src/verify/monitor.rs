//! Measures the resources that a run uses.

use super::model_plan::model_plan;
use crate::model::Model;
use warmcore_linux::counters::Readings;
use warmcore_linux::inventory::Inventory;
use warmcore_linux::probe::ProbeError;
use warmcore_linux::tuning::{Plan, Setting, System};
use warmcore_linux::{Counters, CpuUsage, EventCounts, Meter, Probe};
use warmcore_units::{CpuId, Nanos, PerSecond};

/// Monitors the cpus, and the threads that the plan places, in every run.
#[derive(Clone, Debug)]
pub struct Monitor {
    cpus: Vec<CpuId>,
    /// The processes that the plan places.
    processes: Vec<u32>,
    clock_rate: Option<PerSecond>,
}

/// The resources that a run used.
#[derive(Clone, PartialEq, Debug)]
pub struct ResourceUse {
    /// Number of busy cpus, on average: for instance 1.5 of 2.
    pub busy_cpus: f64,
    /// Number of cpus in softirqs, on average.
    pub softirq_cpus: f64,
    /// Number of cpus that a hypervisor took, on average.
    pub stolen_cpus: f64,
    /// Receive softirqs.
    pub receive_softirqs: PerSecond,
    /// Rescheduling interrupts between cpus; `None` if the kernel does not count them.
    pub rescheduling: Option<PerSecond>,
    /// Migrations of the plan's threads between cpus; `None` if the plan has none or the kernel does
    /// not count them.
    pub migrations: Option<PerSecond>,
    /// What the processor counted on the cpus.
    pub counted: EventCounts,
}

impl Monitor {
    /// A monitor for all cpus and for the processes of `plan`.
    ///
    /// # Errors
    /// If the cpus are unknown.
    pub fn new(plan: &Plan) -> Result<Self, ProbeError> {
        let process = |set: &Setting| match set {
            Setting::Thread { pid, .. } => Some(*pid),
            _ => None,
        };
        let threads = model_plan(plan, Model::ProcessOnly).lines;
        let mut processes: Vec<u32> = threads.iter().filter_map(|line| process(&line.set)).collect();
        processes.sort_unstable();
        processes.dedup();
        let probe = Probe::new();
        let cpus = probe.machine()?.machine.online().iter().collect();
        Ok(Self { cpus, processes, clock_rate: probe.host().clock_rate })
    }

    /// A monitor of nothing, on a machine with this clock rate.
    #[cfg(test)]
    pub(crate) fn at(clock_rate: PerSecond) -> Self {
        Self { cpus: Vec::new(), processes: Vec::new(), clock_rate: Some(clock_rate) }
    }

    /// The clock rate of the first cpu, in cycles per second, when the experiment began.
    #[must_use]
    pub const fn clock_rate(&self) -> Option<PerSecond> {
        self.clock_rate
    }

    /// All cpus.
    #[must_use]
    pub fn cpus(&self) -> &[CpuId] {
        &self.cpus
    }

    /// Starts to monitor a run. `system` shows the plan's processes, and `counters` are read.
    ///
    /// # Errors
    /// If a file holds what no kernel writes there.
    pub fn start<'a>(
        &'a self,
        system: &'a dyn System,
        counters: &'a mut Counters,
    ) -> Result<MonitoredRun<'a>, ProbeError> {
        Ok(MonitoredRun {
            monitor: self,
            system,
            before: Probe::new().inventory()?,
            moves: self.moves(system),
            meter: Meter::start(&self.cpus, &self.processes),
            readings: counters.read(),
            counters,
        })
    }

    /// Migrations of the plan's threads since they were started, without threads that have ended.
    fn moves(&self, system: &dyn System) -> Option<u64> {
        let mut sum = None;
        for pid in &self.processes {
            for thread in system.entries(&format!("proc/{pid}/task")).ok()? {
                let Ok(text) = system.read(&format!("proc/{pid}/task/{thread}/sched")) else { continue };
                *sum.get_or_insert(0) += migrations(&text)?;
            }
        }
        sum
    }
}

/// `se.nr_migrations                             :                    3`
fn migrations(sched: &str) -> Option<u64> {
    let line = sched.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

/// A run that is being monitored.
#[derive(Debug)]
pub struct MonitoredRun<'a> {
    monitor: &'a Monitor,
    system: &'a dyn System,
    before: Inventory,
    moves: Option<u64>,
    meter: Meter,
    counters: &'a mut Counters,
    readings: Readings,
}

impl MonitoredRun<'_> {
    /// Restarts the measurement: only what follows counts. `load` are the processes of the workload.
    pub fn begin(&mut self, load: &[u32]) {
        let programs = [&self.monitor.processes, load].concat();
        self.meter = Meter::start(&self.monitor.cpus, &programs);
        self.readings = self.counters.read();
    }

    /// Ends the measurement. Returns the cpus' time and the processor's counts.
    #[must_use]
    pub fn end(&mut self) -> (CpuUsage, EventCounts) {
        (self.meter.stop(), self.counters.read().since(&self.readings))
    }

    /// The resources that the run used, given the cpus' time and the processor's counts.
    ///
    /// # Errors
    /// If a file holds what no kernel writes there.
    pub fn resources(&self, spent: &CpuUsage, counted: EventCounts) -> Result<ResourceUse, ProbeError> {
        let moves = self.monitor.moves(self.system);
        let after = Probe::new().inventory()?;
        let elapsed =
            after.uptime.zip(self.before.uptime).map_or(spent.time, |(after, before)| after - before);
        let each_second = |of: fn(&Inventory) -> Option<u64>| {
            let passed = of(&after)?.saturating_sub(of(&self.before)?);
            Some(PerSecond(passed as f64 / elapsed.secs()))
        };
        let cpus = |of: Nanos| of / spent.time;
        Ok(ResourceUse {
            busy_cpus: cpus(spent.busy),
            softirq_cpus: cpus(spent.softirq),
            stolen_cpus: cpus(spent.stolen),
            receive_softirqs: each_second(receive_softirqs).unwrap_or_default(),
            rescheduling: each_second(rescheduling),
            migrations: moves
                .zip(self.moves)
                .map(|(after, before)| PerSecond(after.saturating_sub(before) as f64 / elapsed.secs())),
            counted,
        })
    }
}

fn receive_softirqs(picture: &Inventory) -> Option<u64> {
    Some(picture.processors.iter().filter_map(|cpu| cpu.softirqs.get("NET_RX")).sum())
}

fn rescheduling(picture: &Inventory) -> Option<u64> {
    picture.special_interrupts.iter().find(|special| special.label == "RES").map(|special| special.total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_read_from_the_sched_file() {
        let text = "sh (1, #threads: 1)\n---\nse.nr_migrations      :        3\nnr_switches : 9";
        assert_eq!((migrations(text), migrations("sh (1)")), (Some(3), None));
    }
}
