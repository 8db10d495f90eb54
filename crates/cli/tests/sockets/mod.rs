//! `warmcore calibrate --path udp-socket`: the kernel's receive path, measured for real in namespaces of its own, or over
//! loopback where it may make none.

mod connections;
mod library;
mod processes;
mod program;
mod server;
mod unprivileged;

use super::{refusal, text, warmcore};
use std::fs;
use std::time::{Duration, Instant};
use warmcore_costs::SocketProfile;
use warmcore_costs::socket::{Delivery, LastUsed, Network, SoftirqCpu};
use warmcore_units::Nanos;

#[test]
fn the_kernels_path_is_measured_part_by_part_and_printed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let began = Instant::now();
    let arguments = ["calibrate", "--path", "udp-socket", "--quick", "--payload", "100"];
    let output = warmcore(&arguments, folder.path());
    let (said, error) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{error}");
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "{:?}, of which 19 s are for measuring",
        began.elapsed()
    );
    for part in
        ["A datagram costs", "of its reader", "Softirq on", "Receive", "The profile is in udp-socket.toml."]
    {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    let document = fs::read_to_string(folder.path().join("udp-socket.toml")).expect("the profile");
    let profile: SocketProfile = toml::from_str(&document).expect("a socket profile");
    profile.check().expect("what was measured is possible");
    assert_eq!(profile.payload_bytes, 100);
    let receive = |softirq, x| {
        let row = profile.datagram(softirq, Delivery::InCall, LastUsed::Here, x)?;
        Some(row.receive.mean)
    };
    let hot = receive(SoftirqCpu::Reader, Nanos::ZERO).expect("one processor is enough");
    let cold = receive(SoftirqCpu::Reader, Nanos::from_micros(1_000.0)).expect("one processor is enough");
    assert!(cold > hot * 0.8, "{cold} after other work, {hot} without");
    assert!(profile.empty_poll.is_some() && profile.batches.len() == 3);
    if warmcore_linux::net::privilege_missing().is_none() {
        assert_eq!(profile.network, Network::Veth, "{:?}", profile.provenance.notes);
    } else {
        println!("no namespaces for lack of privilege: {:?}", profile.provenance.notes);
    }
    if receive(SoftirqCpu::OtherCore, Nanos::ZERO).is_some() {
        assert!(profile.asleep.is_some() && said.contains("A reader on another core"), "{said}");
    } else {
        println!("no other core in the reader's node: {:?}", profile.provenance.notes);
    }
}

#[test]
fn what_the_kernels_path_cannot_use_is_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let began = Instant::now();
    for (given, named) in [
        (&["--transport", "tcp"][..], "--transport has no effect here"),
        (&["--reply", "64"], "--reply has no effect here"),
        (&["--intervening", "yes"], "--intervening has no effect here"),
        (&["--payload", "4"], "expected 10 to 1472"),
        (&["--payload", "1473"], "expected 10 to 1472"),
        (&["--out", "."], "is a directory"),
    ] {
        let error = refusal(&[&["calibrate", "--path", "udp-socket"], given].concat(), folder.path());
        assert!(error.contains(named), "{given:?}: {error}");
    }
    let error = refusal(&["calibrate", "--path", "tcp"], folder.path());
    assert!(error.contains("udp-socket") && error.contains("stack"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}
