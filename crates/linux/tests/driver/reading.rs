//! Channels, rings, features and NAPI of a veth, a TAP with several queues, and this machine's interfaces.

use crate::program::{ethtool, feature, numbers};
use crate::{add_veth, namespace};
use std::collections::BTreeMap;
use warmcore_linux::Probe;
use warmcore_linux::ethtool::{DriverSettings, Feature, Threaded, driver_settings};
use warmcore_linux::net::Namespace;

fn settings(namespace: &Namespace, interface: &str) -> Option<DriverSettings> {
    namespace.run(|| driver_settings(interface)).unwrap()
}

/// Compares everything that ethtool prints in the same words with what is read.
fn assert_as_ethtool_says(namespace: &Namespace, interface: &str) {
    let read = settings(namespace, interface).expect("every interface has features");
    let Some(text) = ethtool(namespace, &["-l", interface]) else { return };
    let named = |of: &[(&str, Option<u32>)]| -> BTreeMap<String, u32> {
        of.iter().filter_map(|&(name, count)| Some((name.to_owned(), count?))).collect()
    };
    let channels = read.channels.unwrap_or_default();
    let now = [
        ("RX", channels.receive),
        ("TX", channels.transmit),
        ("Other", channels.other),
        ("Combined", channels.combined),
    ];
    let most = [
        ("RX", channels.receive_max),
        ("TX", channels.transmit_max),
        ("Other", channels.other_max),
        ("Combined", channels.combined_max),
    ];
    assert_eq!(named(&now), numbers(&text, "Current hardware settings:"), "{interface}: {text}");
    assert_eq!(named(&most), numbers(&text, "Pre-set maximums:"), "{interface}: {text}");

    let text = ethtool(namespace, &["-g", interface]).expect("it ran before");
    let rings = read.rings.unwrap_or_default();
    let now = numbers(&text, "Current hardware settings:");
    let theirs = ["RX", "TX"].map(|name| now.get(name).copied());
    assert_eq!([rings.receive, rings.transmit], theirs, "{interface}: {text}");

    let text = ethtool(namespace, &["-k", interface]).expect("it ran before");
    let features = read.features;
    for (name, ours) in [
        ("ntuple-filters", features.ntuple),
        ("receive-hashing", features.receive_hash),
        ("generic-receive-offload", features.gro),
        ("large-receive-offload", features.lro),
    ] {
        let theirs = feature(&text, name).map(|(on, fixed)| Feature { on, fixed });
        assert_eq!(ours, theirs, "{interface}: {name}");
    }
}

#[test]
fn a_veth_has_the_channels_and_features_that_ethtool_prints() {
    let Some(namespace) = namespace() else { return };
    add_veth(&namespace, 4, 3).unwrap();
    let read = settings(&namespace, "v0").unwrap();
    let channels = read.channels.unwrap();
    assert_eq!((channels.receive_max, channels.transmit_max), (Some(4), Some(3)), "{read:?}");
    assert_eq!(channels.combined, None, "a veth has none");
    assert_eq!(read.features.ntuple, Some(Feature { on: false, fixed: true }));
    assert_eq!((read.rings, read.indirection), (None, None), "a veth has neither");
    assert_as_ethtool_says(&namespace, "v0");
    namespace.ip(&["link", "set", "v0", "down"]).unwrap();
    assert_as_ethtool_says(&namespace, "v0");
}

#[test]
fn napi_instances_of_a_veth_have_their_queues_where_the_kernel_lists_them() {
    let Some(namespace) = namespace() else { return };
    add_veth(&namespace, 2, 2).unwrap();
    assert_eq!(settings(&namespace, "v0").unwrap().napi, [], "a veth polls only with GRO");
    if ethtool(&namespace, &["-K", "v0", "gro", "on"]).is_none() {
        return;
    }
    let read = settings(&namespace, "v0").unwrap();
    assert_eq!(read.features.gro, Some(Feature { on: true, fixed: false }));
    if read.napi.is_empty() {
        return println!("skipped: this kernel lists no NAPI instances (before 6.8)");
    }
    let queues: Vec<_> = read.napi.iter().flat_map(|napi| &napi.receive).copied().collect();
    println!("{:?}", read.napi);
    assert_eq!(read.napi.len(), 2);
    assert!(queues.is_empty() || queues == [0, 1], "{:?}", read.napi);
    assert!(
        read.napi.iter().all(|napi| napi.interrupt.is_none() && napi.thread.is_none()),
        "{:?}",
        read.napi
    );
    assert!(read.napi.iter().all(|napi| matches!(napi.threaded, None | Some(Threaded::Off))));
}

#[test]
fn a_tap_with_several_queues_and_the_loopback_are_read() {
    let Some(namespace) = namespace() else { return };
    namespace.ip(&["tuntap", "add", "t0", "mode", "tap", "multi_queue"]).unwrap();
    namespace.ip(&["link", "set", "t0", "up"]).unwrap();
    for interface in ["t0", "lo"] {
        assert_as_ethtool_says(&namespace, interface);
    }
    assert_eq!(settings(&namespace, "nobody"), None);
}

#[test]
fn the_interfaces_of_this_machine_are_read_without_change() {
    let here = Namespace::current().unwrap();
    let inventory = Probe::new().inventory().unwrap_or_else(|error| panic!("{error}"));
    for interface in inventory.interfaces.iter().filter(|interface| interface.is_physical()) {
        let read = interface.driver_settings.as_ref().expect("every interface has features");
        println!("{}: {read:?}", interface.name);
        assert_eq!(Some(read), settings(&here, &interface.name).as_ref());
        assert_as_ethtool_says(&here, &interface.name);
        for napi in &read.napi {
            let known = |number| inventory.interrupts.iter().any(|interrupt| interrupt.number == number);
            assert!(napi.interrupt.is_none_or(known), "{napi:?}");
        }
    }
}
