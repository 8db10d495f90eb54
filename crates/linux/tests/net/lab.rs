//! The lab does not change the machine.

use crate::plain_lab;
use std::fs;
use std::path::PathBuf;
use warmcore_linux::net::{Interface, SteerError};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

fn own_namespace() -> PathBuf {
    fs::read_link("/proc/thread-self/ns/net").unwrap()
}

#[test]
fn a_thread_returns_from_a_namespace() {
    let (own, interfaces) = (own_namespace(), Interface::names());
    let Some(lab) = plain_lab() else { return };
    let outside = own_namespace();
    assert_eq!((&outside, &Interface::names()), (&own, &interfaces));
    let inside = lab.near.run(|| (own_namespace(), Interface::names())).unwrap();
    assert_ne!(inside.0, own);
    assert_eq!(inside.1, ["lo", "wire0"]);
    let nested = lab.near.enter().unwrap();
    assert_ne!(lab.far.run(own_namespace).unwrap(), inside.0);
    assert_eq!(own_namespace(), inside.0);
    drop(nested);
    assert_eq!(own_namespace(), own);
}

#[test]
fn a_thread_returns_from_a_namespace_after_a_panic() {
    let Some(lab) = plain_lab() else { return };
    let own = own_namespace();
    let unwound = std::panic::catch_unwind(|| lab.near.run(|| std::panic::resume_unwind(Box::new(()))));
    assert!(unwound.is_err());
    assert_eq!(own_namespace(), own);
}

#[test]
fn interfaces_match_the_description_of_the_link() {
    let Some(lab) = plain_lab() else { return };
    for (namespace, end) in [(&lab.near, &lab.link.near), (&lab.far, &lab.link.far)] {
        let found = namespace.run(|| Interface::find(&end.name)).unwrap().unwrap();
        assert_eq!((found.mac, found.mtu, found.queues, found.up), (end.mac, 1500, 1, true));
    }
}

#[test]
fn errors_of_ip_are_reported() {
    let Some(lab) = plain_lab() else { return };
    let refused = lab.near.ip(&["link", "set", "absent", "up"]).unwrap_err().to_string();
    assert!(
        refused.starts_with("`ip link set absent up` failed: ") && refused.contains("absent"),
        "{refused}"
    );
}

#[test]
fn steering_affects_only_its_own_namespace() {
    let Some(lab) = plain_lab() else { return };
    let first = CpuSet::from_iter([CpuId(0)]);
    let (near, far) = (&lab.link.near.name, &lab.link.far.name);
    assert!(lab.near.steered(near, 0).unwrap().is_empty());
    lab.near.steer(near, 0, &first).unwrap();
    assert_eq!(lab.near.steered(near, 0), Ok(first));
    assert!(lab.far.steered(far, 0).unwrap().is_empty());
    lab.near.steer(near, 0, &CpuSet::default()).unwrap();
    assert!(lab.near.steered(near, 0).unwrap().is_empty());
    for (interface, queue) in [("absent", 0), (near.as_str(), 9)] {
        let refused = lab.near.steer(interface, queue, &CpuSet::default()).unwrap_err();
        assert!(
            matches!(&refused, SteerError::Refused { file, .. } if file.contains("rps_cpus")),
            "{refused}"
        );
    }
}
