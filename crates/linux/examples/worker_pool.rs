//! A worker pool grouped by last-level cache: one worker on each usable core, and one work queue for all
//! workers that share a cache. What one worker writes for the next then comes out of that cache.
//!
//! Work is distributed by key, so that everything about one key stays in one cache; any idle worker of that
//! group takes it.

use std::error::Error;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use warmcore_linux::{Probe, current_cpu, pin_to};
use warmcore_topology::{CpuSet, Machine, Within};
use warmcore_units::CpuId;

const KEYS: u64 = 1_000;

/// The cpu a worker ran on, and the sum of its keys.
#[derive(Debug)]
struct Worked {
    cpu: CpuId,
    sum: u64,
}

/// Takes work from `queue` on `cpu` until the queue is closed.
fn work(cpu: CpuId, queue: &Mutex<mpsc::Receiver<u64>>) -> Result<Worked, Box<dyn Error + Send + Sync>> {
    let _pinned = pin_to(cpu)?;
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
    let sum = std::iter::from_fn(|| next().ok()).sum();
    Ok(Worked { cpu: current_cpu(), sum })
}

/// Returns one cpu of each core in `group`.
fn cores(machine: &Machine, group: &CpuSet) -> Vec<CpuId> {
    machine.usable_cores().into_iter().filter(|&cpu| group.contains(cpu)).collect()
}

/// Adds up all keys, with a worker on every usable core. Returns what each worker did.
fn run(machine: &Machine) -> Result<Vec<Worked>, Box<dyn Error + Send + Sync>> {
    let groups = machine.groups(Within::LastLevelCache);
    let (senders, queues): (Vec<_>, Vec<_>) = groups.iter().map(|_| mpsc::channel()).unzip();
    let queues: Vec<_> = queues.into_iter().map(Mutex::new).collect();
    thread::scope(|scope| {
        let places = groups
            .iter()
            .zip(&queues)
            .flat_map(|(group, queue)| cores(machine, group).into_iter().map(move |cpu| (cpu, queue)));
        let workers: Vec<_> = places.map(|(cpu, queue)| scope.spawn(move || work(cpu, queue))).collect();
        for key in 0..KEYS {
            senders[key as usize % senders.len()].send(key)?;
        }
        drop(senders);
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect()
    })
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let machine = Probe::new().machine()?.machine;
    for group in machine.groups(Within::LastLevelCache) {
        println!("behind one cache: cpus {group}");
    }
    for worked in run(&machine)? {
        println!("cpu {} summed up {}", worked.cpu, worked.sum);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_has_a_worker_and_all_work_is_done_once() {
        let machine = Probe::new().machine().unwrap().machine;
        let worked = run(&machine).unwrap();
        let cpus: Vec<CpuId> = worked.iter().map(|worker| worker.cpu).collect();
        assert_eq!(
            cpus.iter().collect::<std::collections::BTreeSet<_>>().len(),
            machine.usable_cores().len()
        );
        assert_eq!(worked.iter().map(|worker| worker.sum).sum::<u64>(), KEYS * (KEYS - 1) / 2);
    }
}
