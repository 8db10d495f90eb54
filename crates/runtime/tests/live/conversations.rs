//! Connections and calls from memory, under every approach that has them and every policy.

use super::support::{cpus, lock_processors};
use std::thread;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_runtime::{RunError, Setup};
use warmcore_scenario::{
    Live, OverloadRule, PacketScenario, Parallelism, ProcessorPolicy, Scheduling, Traffic,
};
use warmcore_units::{PerSecond, Transport};

const RATE: f64 = 20_000.0;

fn scenario(transport: Transport, scheduling: Scheduling) -> PacketScenario {
    PacketScenario {
        processors: cpus().len() as u32,
        scheduling,
        traffic: Traffic { streams: 8, ..Traffic::default() },
        rate_per_s: Some(PerSecond(RATE)),
        live: Live { transport, work_kib: 0, reply_bytes: 100, ..Live::default() },
        ..PacketScenario::default()
    }
}

/// Runs for `time`, and returns the packets processed. Nothing may be refused or fail.
fn packets(scenario: &PacketScenario, time: Duration) -> u64 {
    let mut setup = Setup::new(scenario, &Profile::sgi_challenge_xl()).unwrap();
    let report = setup.run(|_| thread::sleep(time)).unwrap();
    let total = report.total();
    assert!(total.failed == 0 && total.unanswered == 0, "{total:?}");
    // What RPC refuses came late: a machine may pause for longer than a timeout.
    assert!(total.refused.values().sum::<u64>() <= total.packets() / 100, "{total:?}");
    total.packets()
}

#[test]
fn every_policy_serves_connections_and_calls() {
    let _processors = lock_processors();
    for transport in [Transport::Tcp, Transport::Rpc] {
        for approach in [Parallelism::Locking, Parallelism::Ips] {
            for policy in ProcessorPolicy::ALL {
                let scheduling = Scheduling { approach, policy, ..Scheduling::default() };
                if scheduling.check().is_err() {
                    continue;
                }
                let packets = packets(&scenario(transport, scheduling), Duration::from_millis(100));
                // Each message is a packet, unless it goes with another after a pause of this machine.
                assert!(packets > 200, "{transport} under {approach} {policy}: {packets} packets");
            }
        }
    }
}

#[test]
fn peers_recover_from_packets_that_are_dropped_when_there_are_too_many() {
    let _processors = lock_processors();
    for transport in [Transport::Tcp, Transport::Rpc] {
        let mut scenario = scenario(transport, Scheduling::default());
        scenario.rate_per_s = None;
        scenario.live.overload = OverloadRule::Drop;
        scenario.live.capacity = 4;
        assert!(packets(&scenario, Duration::from_millis(300)) > 1000, "{transport}");
    }
}

#[test]
fn a_state_in_one_place_is_refused_to_the_hybrid() {
    let scheduling = Scheduling { approach: Parallelism::Hybrid, ..Scheduling::default() };
    let mut setup = Setup::new(&scenario(Transport::Tcp, scheduling), &Profile::sgi_challenge_xl()).unwrap();
    let refused = setup.run(|_| ());
    assert!(matches!(&refused, Err(RunError::Option { field: "approach", .. })), "{refused:?}");
}
