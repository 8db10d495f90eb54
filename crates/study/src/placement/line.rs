//! A line of a plan, and how each kind of line is made.

use super::device_queues::DeviceQueue;
use super::gain::Gain;
use super::target_threads::TargetThread;
use serde::Serialize;
use warmcore_linux::inventory::{Cpuset, Interrupt};
use warmcore_linux::tuning::{Line, Setting};
use warmcore_topology::CpuSet;

/// A line of a plan, with what it changes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlannedLine {
    /// What is set, and to what.
    pub set: Setting,
    /// The value now.
    pub from: String,
    /// The value wanted.
    pub to: String,
    /// Whether they differ. A line that changes nothing records the other half of a placement.
    pub changes: bool,
    /// Why.
    pub reason: String,
    /// What it gains.
    #[serde(serialize_with = "as_text")]
    pub gain: Gain,
}

fn as_text<S: serde::Serializer>(gain: &Gain, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(gain)
}

impl PlannedLine {
    /// The line that sets `set`: `from` is the value now, and whether it differs from `to`. Its gain is
    /// `gain` if it does.
    pub(super) fn new(
        set: Setting,
        (from, changes): (String, bool),
        to: String,
        reason: String,
        gain: Gain,
    ) -> Self {
        let gain = if changes { gain } else { Gain::Already };
        Self { set, from, to, changes, reason, gain }
    }
}

impl From<&PlannedLine> for Line {
    fn from(line: &PlannedLine) -> Self {
        Self { set: line.set.clone(), reason: line.reason.clone(), expected_gain: line.gain.to_string() }
    }
}

/// Cpus as a value for people.
pub(super) fn named(cpus: &CpuSet) -> String {
    if cpus.is_empty() { "off".to_owned() } else { cpus.to_string() }
}

/// Sets the mask of `interrupt`; `None` if the interrupt cannot be named or its mask not be read.
pub(super) fn interrupt(
    interrupt: &Interrupt,
    cpus: CpuSet,
    reason: String,
    gain: Gain,
) -> Option<PlannedLine> {
    let device = interrupt.devices.first()?.to_string();
    let from = interrupt.allowed.as_ref()?;
    let action = Some(interrupt.id.actions.join(","));
    let (from, to) = ((named(from), *from != cpus), named(&cpus));
    let set = Setting::Interrupt { device, action, queue: None, cpus };
    Some(PlannedLine::new(set, from, to, reason, gain))
}

/// Sets the cpus that RPS spreads the packets of `queue` over; `None` where the kernel shows none.
pub(super) fn rps(queue: &DeviceQueue<'_>, cpus: CpuSet, reason: String, gain: Gain) -> Option<PlannedLine> {
    let from = queue.receive()?.rps.as_ref()?;
    let (from, to) = ((named(from), *from != cpus), named(&cpus));
    let set = Setting::RpsCpus { interface: queue.interface.name.clone(), queue: queue.number, cpus };
    Some(PlannedLine::new(set, from, to, reason, gain))
}

/// Sets how many flows of `queue` RFS remembers; `None` where the kernel does not tell.
pub(super) fn rfs(queue: &DeviceQueue<'_>, flows: u32, reason: String, gain: Gain) -> Option<PlannedLine> {
    let from = queue.receive()?.rfs_flows?;
    let from = (from.to_string(), from != u64::from(flows));
    let set = Setting::RpsFlows { interface: queue.interface.name.clone(), queue: queue.number, flows };
    Some(PlannedLine::new(set, from, flows.to_string(), reason, gain))
}

/// Lets `target` run on `cpus`; with `as_process` its whole process, or its control group if that is what is placed.
pub(super) fn reader(
    target: &TargetThread<'_>,
    as_process: bool,
    cpus: CpuSet,
    reason: String,
    gain: Gain,
) -> PlannedLine {
    let thread = target.thread;
    if let Some(Cpuset { group, own: Some(own), .. }) = target.cpuset.filter(|_| as_process) {
        let now = if own.is_empty() { "those of its parent".to_owned() } else { named(own) };
        let (from, to) = ((now, *own != cpus), named(&cpus));
        return PlannedLine::new(Setting::Cpuset { group: group.clone(), cpus }, from, to, reason, gain);
    }
    let allowed = thread.allowed.clone().unwrap_or_default();
    let (from, to) = ((named(&allowed), allowed != cpus), named(&cpus));
    let set = Setting::Thread {
        pid: thread.key.pid,
        started: target.process_started,
        name: thread.process.clone(),
        thread: (!as_process).then_some(thread.key.tid),
        cpus,
    };
    PlannedLine::new(set, from, to, reason, gain)
}
