//! `warmcore calibrate --path udp-socket`: the kernel's receive path, measured for real in namespaces of its own, or over
//! loopback where it may make none.

mod connections;
mod library;
mod processes;
mod program;
mod server;
mod unprivileged;

use super::{on_one_line, refusal, scenario, text, warmcore};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use warmcore_costs::SocketProfile;
use warmcore_costs::socket::{Delivery, LastUsed, Network, SoftirqCpu};
use warmcore_units::Nanos;

#[test]
#[ignore = "takes a minute: `make test-long`"]
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
    a_study_predicts_from_it(folder.path());
    a_host_is_planned_with_it(folder.path());
}

/// What `folder` has in `udp-socket.toml` is enough, and is no profile of another kind.
fn a_study_predicts_from_it(folder: &Path) {
    fs::write(folder.join("mine.toml"), scenario("sgi-challenge-xl", "[100.0, 10000.0]"))
        .expect("a scenario");
    let arguments = ["study", "--scenario", "mine.toml", "--socket-profile", "udp-socket.toml", "--json"];
    let output = warmcore(&arguments, folder);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = fs::read_to_string(folder.join("study/report.html")).expect("a report");
    assert!(report.contains("was not measured now"), "the report says where the costs are from");
    let [own, copy] =
        ["udp-socket.toml", "study/udp-socket.toml"].map(|file| fs::read(folder.join(file)).ok());
    assert!(own.is_some() && own == copy, "it is beside the report");
    for (option, file, expected) in [
        ("--profile", "udp-socket.toml", "is the profile of the kernel's path"),
        ("--socket-profile", "study/profile.toml", "expected one of the kernel's path"),
    ] {
        let error = refusal(&["study", option, file, "--out", "none"], folder);
        assert!(error.contains(expected) && error.contains("calibrate --path udp-socket"), "{error}");
    }
    assert!(!folder.join("none").exists(), "nothing is left of what is refused");
}

fn a_host_is_planned_with_it(folder: &Path) {
    assert!(warmcore(&["host", "capture", "crossed", "--example", "crossed"], folder).status.success());
    let output = warmcore(&["host", "plan", "--root", "crossed", "--profile", "udp-socket.toml"], folder);
    let said = on_one_line(&output.stderr);
    if output.status.success() {
        let costs = "Costs are those of the kernel's path to a UDP socket on";
        assert!(said.contains(costs) && said.contains("This host is"), "{said}");
        assert!(text(&output.stdout).contains("[promise]"), "{}", text(&output.stdout));
    } else {
        // A machine may gain nothing by it, or have measured too little to know.
        assert!(said.contains("no plan: "), "{said}");
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
