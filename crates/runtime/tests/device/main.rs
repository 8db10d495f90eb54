//! Tests with real peers, over a veth pair or a TUN interface in namespaces that each test creates and
//! that end with it. The peers do not use this crate: they use the kernel's own UDP and TCP, through
//! sockets of this process or through `socat`.

mod gone;
mod homes;
mod kernel;
mod load;
mod senders;
mod served;
mod socat;
mod tagged;
mod tcp;
mod unusual;

use std::fs;
use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{Namespace, privilege_missing};
use warmcore_linux::pin_to;
use warmcore_runtime::from_scenario::usable_cores;
use warmcore_runtime::{Report, RunHandle, Setup};
use warmcore_scenario::{
    DriverKind, Live, PacketScenario, Parallelism, ProcessorPolicy, Scheduling, Traffic,
};
use warmcore_stack::DropReason;

const PORT: u16 = 9000;
/// Not an address of the kernel: peers find it only if our ARP answers.
const OURS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 9);
/// Our address behind a TUN interface, and the kernel's address there.
const OURS_BEHIND_TUN: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 9);
const KERNEL_BEFORE_TUN: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 1);
/// The name of the TUN interface.
const TUN: &str = "tried0";
/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Where peers run, and the address they send to.
#[derive(Clone, Copy)]
struct Peers<'a> {
    namespace: &'a Namespace,
    address: Ipv4Addr,
}

/// The results of a run.
struct RunOutcome {
    report: Report,
    /// Frames received from the driver.
    received: u64,
}

fn scenario(driver: DriverKind, approach: Parallelism, address: Ipv4Addr, interface: &str) -> PacketScenario {
    PacketScenario {
        processors: usable_cores().unwrap().len().min(2) as u32,
        scheduling: Scheduling { approach, policy: ProcessorPolicy::WiredStreams, ..Scheduling::default() },
        traffic: Traffic { streams: 64, ..Traffic::default() },
        live: Live {
            driver,
            interface: Some(interface.to_owned()),
            address: Some(address),
            port: PORT,
            work_kib: 0,
            verify_udp_checksum: true,
            ..Live::default()
        },
        ..PacketScenario::default()
    }
}

/// Runs `scenario` in the namespace `here` while peers `visit`. The peers and all programs they start
/// are pinned to one processor, so that the last one to send also arrives last.
fn run(scenario: &PacketScenario, here: &Namespace, visit: impl FnOnce() + Send) -> RunOutcome {
    let mut setup = Setup::new(scenario, &Profile::sgi_challenge_xl()).unwrap();
    let new_senders = setup.new_senders.take().unwrap();
    let attend = |watch: &RunHandle<'_>| {
        thread::scope(|scope| {
            let visit = scope.spawn(|| {
                let _pinned = pin_to(usable_cores().unwrap()[0]).unwrap();
                visit();
            });
            while !visit.is_finished() && new_senders.admit(watch, Duration::from_millis(5)) {}
        });
    };
    let report = here.run(|| setup.run(attend)).unwrap().unwrap();
    RunOutcome { report, received: setup.driver.received() }
}

/// Runs over a veth pair as `link` says, or over a TUN interface with its MTU, while peers `visit`.
/// Returns `None`, with a note, if the privilege is missing.
fn run_with_peers(
    driver: DriverKind,
    approach: Parallelism,
    link: &LinkOptions,
    visit: impl FnOnce(Peers<'_>) + Send,
) -> Option<RunOutcome> {
    run_changed_with_peers(driver, approach, link, |_| (), visit)
}

/// As [`run_with_peers`], with a scenario that `change` changes.
fn run_changed_with_peers(
    driver: DriverKind,
    approach: Parallelism,
    link: &LinkOptions,
    change: impl FnOnce(&mut PacketScenario),
    visit: impl FnOnce(Peers<'_>) + Send,
) -> Option<RunOutcome> {
    let changed = |address, interface: &str| {
        let mut scenario = scenario(driver, approach, address, interface);
        change(&mut scenario);
        scenario
    };
    if let Some(missing) = privilege_missing() {
        println!("skipped: needs {missing}");
        return None;
    }
    if driver == DriverKind::Tun {
        let here = Namespace::new().unwrap();
        let peers = Peers { namespace: &here, address: OURS_BEHIND_TUN };
        let visit = || {
            keep_silent(&here);
            here.ip(&["link", "set", TUN, "mtu", &link.mtu.to_string(), "addrgenmode", "none"]).unwrap();
            here.configure(TUN, KERNEL_BEFORE_TUN, 24).unwrap();
            visit(peers);
        };
        return Some(run(&changed(OURS_BEHIND_TUN, TUN), &here, visit));
    }
    let lab = Lab::new(link).unwrap_or_else(|error| panic!("{error}"));
    let peers = Peers { namespace: &lab.far, address: OURS };
    Some(run(&changed(OURS, &lab.link.near.name), &lab.near, || visit(peers)))
}

/// Keeps the kernel of `namespace` from telling our side (by ICMP) that a peer has closed its port.
fn keep_silent(namespace: &Namespace) {
    let an_hour = || fs::write("/proc/sys/net/ipv4/icmp_ratelimit", "3600000");
    namespace.run(an_hour).unwrap().unwrap();
}

impl RunOutcome {
    /// Asserts that `answered` questions were answered, that frames were refused for the reasons in
    /// `refused`, and that nothing else happened.
    fn assert(&self, answered: u64, refused: &[(DropReason, u64)]) {
        let Report { given_up, lost, .. } = self.report;
        let total = self.report.total();
        assert_eq!(total.packets(), answered, "{total:?}");
        assert_eq!(
            total.refused.iter().map(|(&reason, &count)| (reason, count)).collect::<Vec<_>>(),
            refused
        );
        assert_eq!((total.unanswered, total.overflowed, total.failed, given_up, lost), (0, 0, 0, 0, 0));
        assert_eq!(self.received, answered + refused.iter().map(|(_, count)| count).sum::<u64>());
    }

    /// Frames that the report accounts for.
    fn accounted(&self) -> u64 {
        let Report { given_up, lost, .. } = self.report;
        let total = self.report.total();
        let refused: u64 = total.refused.values().sum();
        total.packets() + refused + total.overflowed + total.failed + given_up + lost
    }
}
