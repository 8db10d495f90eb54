//! Where streams are at home: with the worker whose queue their packets arrive on.

use crate::senders::Sender;
use crate::{Peers, run_with_peers};
use warmcore_linux::net::lab::LinkOptions;
use warmcore_runtime::from_scenario::usable_cores;
use warmcore_scenario::{DriverKind, Parallelism};

/// Half as many as there are streams: every worker is home to as many streams as there are senders.
const SENDERS: u64 = 32;
/// Questions of each.
const QUESTIONS: u64 = 20;

/// The kernel spreads senders over the workers' queues, and no packet crosses from one worker to another.
fn nothing_is_forwarded(driver: DriverKind) {
    if usable_cores().unwrap().len() < 2 {
        println!("skipped: needs 2 processors");
        return;
    }
    for approach in [Parallelism::Ips, Parallelism::Hybrid] {
        let visit = |peers: Peers<'_>| {
            let senders: Vec<Sender> = (0..SENDERS).map(|_| Sender::new(peers)).collect();
            for _ in 0..QUESTIONS {
                senders.iter().for_each(Sender::ask);
            }
        };
        let Some(ran) = run_with_peers(driver, approach, &LinkOptions::default(), visit) else { return };
        ran.assert(SENDERS * QUESTIONS, &[]);
        let by_worker: Vec<u64> = ran.report.workers.iter().map(|worker| worker.total.packets()).collect();
        assert!(by_worker.iter().all(|packets| *packets > 0), "one queue received all: {by_worker:?}");
        let forwarded = ran.report.total().forwarded;
        assert_eq!(forwarded, 0, "of {} packets, {approach:?}, by worker {by_worker:?}", SENDERS * QUESTIONS);
    }
}

#[test]
fn no_packet_of_a_packet_socket_is_forwarded_between_workers() {
    nothing_is_forwarded(DriverKind::PacketSocket);
}

#[test]
fn no_packet_of_a_tun_interface_is_forwarded_between_workers() {
    nothing_is_forwarded(DriverKind::Tun);
}
