//! A socket for each worker: which one the kernel chooses.

use crate::{LONG, client, end, open, start, v4, v6};
use std::collections::HashMap;
use std::net::SocketAddr;
use warmcore_linux::net::sockets::Sharing;
use warmcore_linux::{affinity, current_cpu, pin_to};
use warmcore_units::CpuId;

const WORKERS: usize = 4;
const CLIENTS: usize = 64;
const ROUNDS: usize = 10;

/// Sends from many sockets in turn. Returns the number of flows of each worker, after asserting that none was
/// received by two.
fn flows(address: SocketAddr, sharing: &Sharing) -> [usize; WORKERS] {
    let (port, workers) = open(address, sharing, WORKERS);
    let (taken, threads) = start(workers, 16);
    let clients: Vec<_> = (0..CLIENTS).map(|_| client(&port)).collect();
    let mut homes: HashMap<SocketAddr, usize> = HashMap::new();
    for _ in 0..ROUNDS {
        clients.iter().for_each(|client| _ = client.send(b"flow").unwrap());
        for _ in 0..CLIENTS {
            let (worker, from, _) = taken.recv_timeout(LONG).unwrap();
            let home = *homes.entry(from).or_insert(worker);
            assert_eq!(home, worker, "{from} moved under {sharing:?}");
        }
    }
    end(&port, threads);
    assert_eq!(homes.len(), CLIENTS);
    let mut flows = [0; WORKERS];
    homes.values().for_each(|&worker| flows[worker] += 1);
    flows
}

#[test]
fn the_kernels_hash_and_our_program_keep_every_flow() {
    for address in [v4(), v6()] {
        let ours =
            [Sharing::Flow { seed: 0 }, Sharing::Flow { seed: 0xdead_beef }, Sharing::Stealing { seed: 1 }];
        for sharing in ours.into_iter().chain([Sharing::Hash]) {
            let flows = flows(address, &sharing);
            // 64 random flows over four workers leave one with fewer than 3 once in a million runs; one with more than 40
            // far less often.
            assert!(flows.iter().all(|count| (3..=40).contains(count)), "{flows:?} under {sharing:?}");
        }
    }
}

#[test]
fn gathered_flows_go_to_the_first_workers_and_the_others_stay() {
    for address in [v4(), v6()] {
        let (port, workers) = open(address, &Sharing::Flow { seed: 3 }, WORKERS);
        let (taken, threads) = start(workers, 16);
        let clients: Vec<_> = (0..CLIENTS).map(|_| client(&port)).collect();
        let homes = |active| -> HashMap<SocketAddr, usize> {
            port.gather(active).unwrap();
            clients.iter().for_each(|client| _ = client.send(b"flow").unwrap());
            let one = |_| taken.recv_timeout(LONG).map(|(worker, from, _)| (from, worker)).unwrap();
            (0..CLIENTS).map(one).collect()
        };
        let all = homes(WORKERS);
        for active in [3, 2, 1] {
            let gathered = homes(active);
            for (flow, worker) in &gathered {
                assert!(*worker < active, "{flow} has worker {worker} of {active}");
                assert!(all[flow] == *worker || all[flow] >= active, "{flow} moved from {}", all[flow]);
            }
            let count = (0..active).filter(|worker| gathered.values().any(|home| home == worker)).count();
            assert_eq!(count, active, "{gathered:?}");
        }
        assert_eq!(homes(WORKERS), all, "who comes back has what he had");
        end(&port, threads);
    }
}

#[test]
fn the_program_chooses_by_a_seed() {
    let homes = |seed| {
        let (port, workers) = open(v4(), &Sharing::Flow { seed }, WORKERS);
        let (taken, threads) = start(workers, 16);
        let client = client(&port);
        client.send(b"once").unwrap();
        let (worker, ..) = taken.recv_timeout(LONG).unwrap();
        end(&port, threads);
        worker
    };
    // The client's port differs each time, so all of 40 seeds choose the same worker of four never.
    let chosen: Vec<_> = (0..40).map(homes).collect();
    assert!(chosen.iter().any(|&worker| worker != chosen[0]), "{chosen:?}");
}

#[test]
fn the_cpu_program_follows_the_cpu_that_receives() {
    let cpus: Vec<CpuId> = affinity::mask().unwrap().iter().collect();
    if cpus.len() < 2 {
        println!("skipped: one cpu");
        return;
    }
    // Not in the order of their numbers.
    let of_workers: Vec<CpuId> = cpus.iter().rev().copied().collect();
    let (port, workers) = open(v4(), &Sharing::Cpu { cpus: of_workers.clone() }, cpus.len());
    let (taken, threads) = start(workers, 16);
    let client = client(&port);
    for &cpu in cpus.iter().cycle().take(20 * cpus.len()) {
        // On loopback the cpu that sends also receives.
        let pinned = pin_to(cpu).unwrap();
        client.send(b"here").unwrap();
        let (worker, ..) = taken.recv_timeout(LONG).unwrap();
        assert_eq!((of_workers[worker], current_cpu()), (cpu, cpu));
        drop(pinned);
    }
    end(&port, threads);
}

#[test]
fn cpus_without_a_worker_have_a_worker_too() {
    // No worker is on any of this machine's cpus.
    let cpus = vec![CpuId(900), CpuId(901)];
    let (port, workers) = open(v4(), &Sharing::Cpu { cpus }, 2);
    let (taken, threads) = start(workers, 16);
    let client = client(&port);
    for cpu in affinity::mask().unwrap().iter() {
        let pinned = pin_to(cpu).unwrap();
        client.send(b"elsewhere").unwrap();
        assert_eq!(taken.recv_timeout(LONG).unwrap().0, cpu.index() % 2);
        drop(pinned);
    }
    end(&port, threads);
}
