//! An interface that is deleted during a run.

use crate::{KERNEL_BEFORE_TUN, OURS, OURS_BEHIND_TUN, PORT, Peers, TIMEOUT, TUN, keep_silent, scenario};
use std::net::{Ipv4Addr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};
use warmcore_costs::Profile;
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{Namespace, privilege_missing};
use warmcore_runtime::driver::QueueError;
use warmcore_runtime::{Report, RunError, RunHandle, Setup};
use warmcore_scenario::{DriverKind, Mode, PacketScenario, Parallelism};

/// Has one question answered.
fn ask(peers: Peers<'_>) {
    let socket = peers.namespace.run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))).unwrap().unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket.send_to(b"still there?", (peers.address, PORT)).unwrap();
    let mut answer = [0; 64];
    assert_eq!(socket.recv(&mut answer).unwrap(), 12);
}

/// Runs `scenario` in `here` until it ends by itself, while peers `visit`.
fn run_to_its_end(
    scenario: &PacketScenario,
    here: &Namespace,
    visit: impl FnOnce() + Send,
) -> Result<Report, RunError> {
    let mut setup = Setup::new(scenario, &Profile::sgi_challenge_xl()).unwrap();
    let new_senders = setup.new_senders.take().unwrap();
    let attend = |watch: &RunHandle<'_>| {
        thread::scope(|scope| {
            scope.spawn(visit);
            let began = Instant::now();
            while new_senders.admit(watch, Duration::from_millis(5)) {
                assert!(began.elapsed() < 2 * TIMEOUT, "the run does not end");
            }
        });
    };
    here.run(|| setup.run(attend)).unwrap()
}

/// Asserts that the run has ended because `interface` is gone, after one packet.
fn assert_gone(ended: Result<Report, RunError>, interface: &str) {
    let error = ended.expect_err("nothing can be received");
    let RunError::Queue { source, report } = &error else { panic!("{error}") };
    assert_eq!(*source, QueueError::Gone { interface: interface.to_owned() });
    assert_eq!(report.total().packets(), 1);
    let said = error.to_string();
    assert!(said.contains(interface) && said.contains("1 packets delivered"), "{said}");
}

fn ends_with_its_interface(driver: DriverKind, mode: Mode) {
    if let Some(missing) = privilege_missing() {
        println!("skipped: needs {missing}");
        return;
    }
    let lab = Lab::new(&LinkOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let (here, wire) = (&lab.near, lab.link.near.name.as_str());
    let (interface, address, far) = match driver {
        DriverKind::Tun => (TUN, OURS_BEHIND_TUN, here),
        _ => (wire, OURS, &lab.far),
    };
    let mut scenario = scenario(driver, Parallelism::Ips, address, interface);
    scenario.live.mode = mode;
    let ended = run_to_its_end(&scenario, here, || {
        if driver == DriverKind::Tun {
            keep_silent(here);
            here.ip(&["link", "set", TUN, "addrgenmode", "none"]).unwrap();
            here.configure(TUN, KERNEL_BEFORE_TUN, 24).unwrap();
        }
        ask(Peers { namespace: far, address });
        here.ip(&["link", "delete", interface]).unwrap();
    });
    assert_gone(ended, interface);
}

#[test]
fn a_run_on_a_packet_socket_ends_with_its_interface() {
    ends_with_its_interface(DriverKind::PacketSocket, Mode::Floating);
    ends_with_its_interface(DriverKind::PacketSocket, Mode::Fixed);
}

#[test]
fn a_run_on_an_xdp_socket_ends_with_its_interface() {
    ends_with_its_interface(DriverKind::Xdp, Mode::Floating);
}

#[test]
fn a_run_on_a_tun_interface_ends_with_it() {
    ends_with_its_interface(DriverKind::Tun, Mode::Floating);
}

/// An interface that is down for a while may come up again: the run goes on.
#[test]
fn a_run_outlives_an_interface_that_goes_down_and_up() {
    if let Some(missing) = privilege_missing() {
        println!("skipped: needs {missing}");
        return;
    }
    let lab = Lab::new(&LinkOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let wire = lab.link.near.name.as_str();
    let scenario = scenario(DriverKind::PacketSocket, Parallelism::Ips, OURS, wire);
    let ran = crate::run(&scenario, &lab.near, || {
        let peers = Peers { namespace: &lab.far, address: OURS };
        ask(peers);
        lab.near.ip(&["link", "set", wire, "down"]).unwrap();
        // Longer than the time between two checks.
        thread::sleep(Duration::from_millis(300));
        lab.near.ip(&["link", "set", wire, "up"]).unwrap();
        ask(peers);
    });
    assert_eq!(ran.report.total().packets(), 2);
}
