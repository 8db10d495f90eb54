//! Invalid requests are refused at once, with helpful errors.

use crate::{PORT, packet_socket_with, plain_lab};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use warmcore_linux::net::{
    AttachMode, DeviceError, Fanout, FanoutMode, Filter, Namespace, PacketOptions, PacketSocket, Tun,
    TunOptions, XdpInterface, XdpOptions, privilege_missing,
};

/// Runs `work` on a thread without any capability.
fn without_privilege<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let held = capabilities(None).unwrap();
            set_capabilities(None, CapabilitySets { effective: CapabilitySet::empty(), ..held }).unwrap();
            work()
        });
        thread.join().unwrap()
    })
}

#[test]
fn missing_capabilities_are_named() {
    let (missing, packet, tun, xdp, namespace) = without_privilege(|| {
        let filter = Filter::default();
        (
            privilege_missing(),
            PacketSocket::open("lo", &PacketOptions::default()).unwrap_err(),
            Tun::open("tunnel", TunOptions::default()).unwrap_err(),
            XdpInterface::attach("lo", &filter, AttachMode::Best).unwrap_err(),
            Namespace::new().unwrap_err(),
        )
    });
    assert_eq!(missing.as_deref(), Some("CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN"));
    let message = packet.to_string();
    assert!(
        message.starts_with("opening a packet socket on `lo` needs CAP_NET_RAW: run as root"),
        "{message}"
    );
    assert!(tun.to_string().contains("needs CAP_NET_ADMIN"), "{tun}");
    assert!(xdp.to_string().contains("CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF"), "{xdp}");
    assert!(namespace.to_string().contains("CAP_SYS_ADMIN"), "{namespace}");
}

#[test]
fn the_error_for_a_missing_interface_lists_those_present() {
    let Some(lab) = plain_lab() else { return };
    let absent =
        lab.near.run(|| PacketSocket::open("wire7", &PacketOptions::default())).unwrap().unwrap_err();
    let expected = "there is no interface `wire7` in this network namespace; there are: lo, wire0";
    assert_eq!(absent.to_string(), expected);
    let xdp = lab.near.run(|| XdpInterface::attach("", &Filter::default(), AttachMode::Best)).unwrap();
    assert!(matches!(xdp.unwrap_err(), DeviceError::NoInterface { .. }));
    let long = lab.near.run(|| Tun::open("a-name-of-sixteen", TunOptions::default())).unwrap().unwrap_err();
    assert!(long.to_string().contains("expected 1 to 15 bytes"), "{long}");
}

#[test]
fn an_interface_that_is_down_is_refused() {
    let Some(lab) = plain_lab() else { return };
    lab.near.ip(&["link", "set", "wire0", "down"]).unwrap();
    let down = lab.near.run(|| PacketSocket::open("wire0", &PacketOptions::default())).unwrap().unwrap_err();
    assert_eq!(down, DeviceError::Down { name: "wire0".to_owned() });
}

#[test]
fn a_missing_or_taken_queue_and_a_second_program_are_refused() {
    let Some(lab) = plain_lab() else { return };
    let attach =
        || lab.near.run(|| XdpInterface::attach("wire0", &Filter::default(), AttachMode::Best)).unwrap();
    let interface = attach().unwrap();
    let interface_name = || "wire0".to_owned();
    let absent = interface.socket(1, XdpOptions::default()).unwrap_err();
    assert_eq!(absent, DeviceError::NoQueue { interface: interface_name(), queue: 1, queues: 1 });
    let _first = interface.socket(0, XdpOptions::default()).unwrap();
    let taken = interface.socket(0, XdpOptions::default()).unwrap_err();
    assert_eq!(taken, DeviceError::QueueTaken { interface: interface_name(), queue: 0 });
    assert_eq!(attach().unwrap_err(), DeviceError::ProgramPresent { interface: interface_name() });
}

#[test]
fn options_out_of_range_are_refused() {
    let Some(lab) = plain_lab() else { return };
    let interface = lab
        .near
        .run(|| XdpInterface::attach("wire0", &Filter::default(), AttachMode::Best))
        .unwrap()
        .unwrap();
    for slots in [0, 1, 33, 1 << 21] {
        let options = XdpOptions { receive_slots: slots, ..XdpOptions::default() };
        let refused = interface.socket(0, options).unwrap_err().to_string();
        assert!(refused.contains("expected a power of two from 32"), "{refused}");
    }
    let many = PacketOptions { filter: Filter::udp_ports(1..=201), ..PacketOptions::default() };
    let refused = lab.near.run(|| PacketSocket::open("wire0", &many)).unwrap().unwrap_err();
    assert!(refused.to_string().starts_with("the number of ports is 201: expected at most 200"), "{refused}");
    let most = PacketOptions { filter: Filter::udp_ports(1..=200), ..PacketOptions::default() };
    packet_socket_with(&lab, most);
}

#[test]
fn a_socket_cannot_join_a_group_with_another_mode() {
    let Some(lab) = plain_lab() else { return };
    let options = |mode| PacketOptions {
        fanout: Some(Fanout { group: 1, mode }),
        filter: Filter::udp_ports([PORT]),
        ..PacketOptions::default()
    };
    let _first = packet_socket_with(&lab, options(FanoutMode::RoundRobin));
    let second =
        lab.near.run(|| PacketSocket::open("wire0", &options(FanoutMode::Cpu))).unwrap().unwrap_err();
    assert!(matches!(second, DeviceError::Kernel { .. }), "{second}");
}
