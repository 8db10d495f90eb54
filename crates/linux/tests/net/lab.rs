//! The lab leaves the machine as it found it.

use crate::plain_lab;
use std::fs;
use std::path::PathBuf;
use warmcore_linux::net::Interface;

fn own_namespace() -> PathBuf {
    fs::read_link("/proc/thread-self/ns/net").unwrap()
}

#[test]
fn a_thread_comes_back_from_a_namespace() {
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
fn a_thread_comes_back_even_from_a_panic() {
    let Some(lab) = plain_lab() else { return };
    let own = own_namespace();
    let unwound = std::panic::catch_unwind(|| lab.near.run(|| std::panic::resume_unwind(Box::new(()))));
    assert!(unwound.is_err());
    assert_eq!(own_namespace(), own);
}

#[test]
fn interfaces_are_as_the_link_says() {
    let Some(lab) = plain_lab() else { return };
    for (namespace, end) in [(&lab.near, &lab.link.near), (&lab.far, &lab.link.far)] {
        let found = namespace.run(|| Interface::find(&end.name)).unwrap().unwrap();
        assert_eq!((found.mac, found.mtu, found.queues, found.up), (end.mac, 1500, 1, true));
    }
}

#[test]
fn what_ip_refuses_is_told() {
    let Some(lab) = plain_lab() else { return };
    let refused = lab.near.ip(&["link", "set", "absent", "up"]).unwrap_err().to_string();
    assert!(
        refused.starts_with("`ip link set absent up` failed: ") && refused.contains("absent"),
        "{refused}"
    );
}
