//! A listener for each worker: which one the kernel chooses.

use crate::{LONG, client, client_from, end, open, start, v4, v6};
use std::net::UdpSocket;
use warmcore_linux::net::connections::Accepting;
use warmcore_linux::net::sockets::{Batch, Port, PortOptions, Received, Sharing};
use warmcore_linux::{affinity, current_cpu, pin_to};
use warmcore_units::CpuId;

const WORKERS: usize = 4;
const CLIENTS: usize = 64;

#[test]
fn the_kernels_hash_and_our_program_spread_connections() {
    for address in [v4(), v6()] {
        for accepting in [Accepting::Hash, Accepting::Flow { seed: 0 }, Accepting::Flow { seed: 0xdead_beef }]
        {
            let (port, pollers) = open(address, &accepting, WORKERS);
            assert_eq!(port.listeners(), WORKERS);
            let (taken, threads) = start(pollers);
            let mut counts = [0; WORKERS];
            for _ in 0..CLIENTS {
                let client = client(&port);
                let (worker, connection) = taken.recv_timeout(LONG).unwrap();
                assert_eq!(connection.peer(), client.local_addr().unwrap());
                counts[worker] += 1;
            }
            end(&port, threads);
            // 64 random connections over four workers leave one with fewer than 3 once in a million runs.
            assert!(counts.iter().all(|count| (3..=40).contains(count)), "{counts:?} under {accepting:?}");
        }
    }
}

/// The worker that our program chooses for datagrams from a port.
fn chosen_for_datagrams(seed: u32, own: u16) -> usize {
    let (port, mut workers) =
        Port::open(v4(), &Sharing::Flow { seed }, WORKERS, PortOptions::default()).unwrap();
    let socket = UdpSocket::bind(("127.0.0.1", own)).unwrap();
    socket.send_to(b"once", port.address()).unwrap();
    port.close();
    let mut batch = Batch::new(1, 100);
    let got = |worker: &mut warmcore_linux::net::sockets::WorkerSocket| {
        matches!(worker.receive(&mut batch).unwrap(), Received::Datagrams(1))
    };
    workers.iter_mut().position(got).unwrap()
}

/// A SYN's ports and addresses lie where the program looks: it chooses for a peer what it chooses for datagrams of the same
/// peer, each time.
#[test]
fn the_program_chooses_for_connections_as_for_datagrams() {
    let mut workers = std::collections::HashSet::new();
    for seed in 1..=12 {
        let (port, pollers) = open(v4(), &Accepting::Flow { seed }, WORKERS);
        let (taken, threads) = start(pollers);
        let first = client_from(0, &port);
        let own = first.local_addr().unwrap().port();
        let (worker, connection) = taken.recv_timeout(LONG).unwrap();
        drop((first, connection));
        for _ in 0..3 {
            let again = client_from(own, &port);
            let (same, connection) = taken.recv_timeout(LONG).unwrap();
            assert_eq!(same, worker, "port {own} moved");
            drop((again, connection));
        }
        assert_eq!(chosen_for_datagrams(seed, own), worker, "port {own}, seed {seed}");
        workers.insert(worker);
        end(&port, threads);
    }
    assert!(workers.len() > 1, "twelve seeds and ports choose one worker of four: {workers:?}");
}

#[test]
fn the_cpu_program_follows_the_cpu_that_receives_the_syn() {
    let cpus: Vec<CpuId> = affinity::mask().unwrap().iter().collect();
    if cpus.len() < 2 {
        println!("skipped: one cpu");
        return;
    }
    // Not in the order of their numbers.
    let of_workers: Vec<CpuId> = cpus.iter().rev().copied().collect();
    let (port, pollers) = open(v4(), &Accepting::Cpu { cpus: of_workers.clone() }, cpus.len());
    let (taken, threads) = start(pollers);
    for &cpu in cpus.iter().cycle().take(20 * cpus.len()) {
        // On loopback the cpu that sends also receives.
        let pinned = pin_to(cpu).unwrap();
        let client = client(&port);
        let (worker, _) = taken.recv_timeout(LONG).unwrap();
        assert_eq!((of_workers[worker], current_cpu()), (cpu, cpu));
        drop((pinned, client));
    }
    end(&port, threads);
}

#[test]
fn cpus_without_a_worker_have_a_worker_too() {
    // No worker is on any of this machine's cpus.
    let (port, pollers) = open(v4(), &Accepting::Cpu { cpus: vec![CpuId(900), CpuId(901)] }, 2);
    let (taken, threads) = start(pollers);
    for cpu in affinity::mask().unwrap().iter() {
        let pinned = pin_to(cpu).unwrap();
        let client = client(&port);
        assert_eq!(taken.recv_timeout(LONG).unwrap().0, cpu.index() % 2);
        drop((pinned, client));
    }
    end(&port, threads);
}
