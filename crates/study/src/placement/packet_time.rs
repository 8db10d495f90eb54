//! How long the kernel works for packets: the time in softirqs of the cpus that process them.
//!
//! A cpu's softirqs are for other things as well. Those of cpus that process no packets do not count; those of the others
//! all do, so this is the most that packets can have taken.

use super::device_queues::{DeviceQueue, Steering};
use super::layout::Layout;
use std::collections::BTreeMap;
use warmcore_linux::Rates;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// The cpus' worth of time that the packets of each of `queues` took, by their part of those that each cpu processes under
/// `current`.
pub(super) fn of_queues(queues: &[DeviceQueue<'_>], current: &Layout, rates: &Rates) -> Vec<f64> {
    let softirqs = rates.cpus.iter().filter_map(|of| Some((of.cpu, of.softirq?)));
    let softirqs: BTreeMap<CpuId, f64> = softirqs.collect();
    let per_packet = |cpu: CpuId| {
        let processed = current.processed.get(&cpu).copied().filter(|part| *part > 0.0);
        processed.map_or(0.0, |part| softirqs.get(&cpu).copied().unwrap_or(0.0) / part)
    };
    let mean = |cpus: &CpuSet| cpus.iter().map(per_packet).sum::<f64>() / cpus.len().max(1) as f64;
    // Packets that follow their readers are processed on all of these.
    let anywhere: f64 = current.processed.keys().map(|cpu| softirqs.get(cpu).copied().unwrap_or(0.0)).sum();
    let time = |queue: &DeviceQueue<'_>| match &queue.steering {
        Steering::None => per_packet(queue.current_cpu),
        Steering::Spread(cpus) => mean(cpus),
        Steering::ToReader => anywhere,
    };
    queues.iter().map(|queue| time(queue) * queue.part).collect()
}
