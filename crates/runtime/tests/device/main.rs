//! Real peers, over a veth pair or a TUN interface in namespaces that each test makes and that end with
//! it. They run without us: the kernel's own UDP, asked by sockets of this process or by `socat`.

mod kernel;
mod load;
mod socat;
mod tagged;
mod unusual;

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::thread;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{Namespace, privilege_missing};
use warmcore_linux::pin_to;
use warmcore_runtime::from_scenario::usable_cores;
use warmcore_runtime::{Report, Setup, Watch};
use warmcore_scenario::{
    DriverKind, Live, PacketScenario, Parallelism, ProcessorPolicy, Scheduling, Traffic,
};
use warmcore_stack::DropReason;

const PORT: u16 = 9000;
/// Not an address of the kernel's: peers find it only if our ARP answers.
const OURS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 9);
/// The same behind a TUN interface, and the kernel's address there.
const OURS_BEHIND_TUN: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 9);
const KERNEL_BEFORE_TUN: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 1);
/// The name of that interface.
const TUN: &str = "tried0";
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where peers are, and what they ask.
#[derive(Clone, Copy)]
struct There<'a> {
    namespace: &'a Namespace,
    address: Ipv4Addr,
}

/// What came of a run.
struct Ran {
    report: Report,
    /// Frames that the driver showed.
    shown: u64,
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

/// Runs `scenario` in `here` for as long as peers `visit`: on one processor, with all programs that they
/// start, so that who asks last comes last.
fn run(scenario: &PacketScenario, here: &Namespace, visit: impl FnOnce() + Send) -> Ran {
    let mut setup = Setup::new(scenario, &Profile::sgi_challenge_xl(), Path::new(".")).unwrap();
    let new_senders = setup.new_senders.take().unwrap();
    let attend = |watch: &Watch<'_>| {
        thread::scope(|scope| {
            let visit = scope.spawn(|| {
                let _pinned = pin_to(usable_cores().unwrap()[0]).unwrap();
                visit();
            });
            while !visit.is_finished() {
                new_senders.admit(watch, Duration::from_millis(5));
            }
        });
    };
    let report = here.run(|| setup.run(attend)).unwrap().unwrap();
    Ran { report, shown: setup.driver.received() }
}

/// A run over a veth pair as `link` says, or over a TUN interface with its MTU, that peers `visit`;
/// `None`, with a note, without the privilege.
fn visited(
    driver: DriverKind,
    approach: Parallelism,
    link: &LinkOptions,
    visit: impl FnOnce(There<'_>) + Send,
) -> Option<Ran> {
    if let Some(missing) = privilege_missing() {
        println!("skipped: needs {missing}");
        return None;
    }
    if driver == DriverKind::Tun {
        let here = Namespace::new().unwrap();
        let there = There { namespace: &here, address: OURS_BEHIND_TUN };
        let visit = || {
            keep_silent(&here);
            here.ip(&["link", "set", TUN, "mtu", &link.mtu.to_string(), "addrgenmode", "none"]).unwrap();
            here.configure(TUN, KERNEL_BEFORE_TUN, 24).unwrap();
            visit(there);
        };
        return Some(run(&scenario(driver, approach, OURS_BEHIND_TUN, TUN), &here, visit));
    }
    let lab = Lab::new(link).unwrap_or_else(|error| panic!("{error}"));
    let there = There { namespace: &lab.far, address: OURS };
    Some(run(&scenario(driver, approach, OURS, &lab.link.near.name), &lab.near, || visit(there)))
}

/// The kernel of `namespace` is not to tell who answers that nobody waits for it any more.
fn keep_silent(namespace: &Namespace) {
    let an_hour = || fs::write("/proc/sys/net/ipv4/icmp_ratelimit", "3600000");
    namespace.run(an_hour).unwrap().unwrap();
}

impl Ran {
    /// Each of so many questions was answered, so many frames were refused for these reasons, and
    /// nothing else has happened.
    fn assert(&self, answered: u64, refused: &[(DropReason, u64)]) {
        let Report { given_up, lost, .. } = self.report;
        let total = self.report.total();
        assert_eq!(total.packets(), answered, "{total:?}");
        assert_eq!(
            total.refused.iter().map(|(&reason, &count)| (reason, count)).collect::<Vec<_>>(),
            refused
        );
        assert_eq!((total.unanswered, total.overflowed, total.failed, given_up, lost), (0, 0, 0, 0, 0));
        assert_eq!(self.shown, answered + refused.iter().map(|(_, count)| count).sum::<u64>());
    }

    /// Frames that are somewhere in the books.
    fn accounted(&self) -> u64 {
        let Report { given_up, lost, .. } = self.report;
        let total = self.report.total();
        let refused: u64 = total.refused.values().sum();
        total.packets() + refused + total.overflowed + total.failed + given_up + lost
    }
}
