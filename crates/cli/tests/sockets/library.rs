//! `--handler`: a user's library in a process of its own, and what becomes of libraries that misbehave.

use super::super::{failure, refusal, text, warmcore};
use super::processes;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A library that does what the options of its compilation say.
const MISBEHAVING: &str = r#"
#include "warmcore_handler.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifndef VERSION
#define VERSION WARMCORE_HANDLER_VERSION
#endif
uint32_t warmcore_handler_version(void) { return VERSION; }
#ifndef WITHOUT_REQUEST
size_t warmcore_flow_request(void *flow, const void *request, size_t length, void *reply, size_t capacity) {
    static int requests;
    if (__atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED) == 300) {
#if defined CRASH
        *(volatile int *)NULL = 1;
#elif defined HANG
        for (;;) pause();
#elif defined STOP
        kill(getpid(), SIGSTOP);
#elif defined LEAVE
        exit(3);
#elif defined LONG
        return capacity + 1;
#elif defined RAISE
        raise(SIGTERM);
#endif
    }
#ifdef PRINT
    printf("{ a line of the library's }\n");
    fflush(stdout);
#endif
#ifdef FORK
    static int forked;
    if (__atomic_add_fetch(&forked, 1, __ATOMIC_RELAXED) <= 3 && fork() == 0) {
        setsid();
        if (fork() == 0)
            execl("/bin/sleep", "sleep", FORK, NULL);
        _exit(0);
    }
#endif
    return 0;
}
#endif
#ifdef LEAVE_LATE
__attribute__((destructor)) static void late(void) { _exit(9); }
#endif
#ifdef HANG_LATE
__attribute__((destructor)) static void late(void) { for (;;) pause(); }
#endif
#ifdef HANG_EARLY
__attribute__((constructor)) static void early(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;) pause();
}
#endif
#ifdef CRASH_EARLY
__attribute__((constructor)) static void early(void) { abort(); }
#endif
"#;

/// The root of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles `source` in `folder`, with `options`.
fn compiled(folder: &Path, source: &Path, options: &[&str], name: &str) -> String {
    let include = root().join("include");
    let mut command = Command::new("cc");
    command.args(["-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-shared", "-fPIC"]).args(options);
    command.arg("-I").arg(include).arg("-o").arg(folder.join(name)).arg(source).stdin(Stdio::null());
    let output = command.output().expect("a C compiler");
    assert!(output.status.success(), "{}", text(&output.stderr));
    format!("./{name}")
}

fn misbehaving(folder: &Path, option: &str) -> String {
    let source = folder.join("misbehaving.c");
    fs::write(&source, MISBEHAVING).expect("the source");
    compiled(folder, &source, &[option], &format!("lib{}.so", option.replace('=', "")))
}

/// The example in C.
fn numbering(folder: &Path) -> String {
    compiled(folder, &root().join("examples/handlers/numbering.c"), &[], "libnumbering.so")
}

const RUN: [&str; 7] = ["run", "--driver", "udp-socket", "--rate", "2000", "--seconds", "0.4"];

/// A capture of requests of these lengths to port 53.
fn capture(lengths: &[u8]) -> Vec<u8> {
    let mut file = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0]);
    for (number, &length) in lengths.iter().enumerate() {
        let packet = 28 + u32::from(length);
        for word in [number as u32, 0, packet, packet] {
            file.extend(word.to_le_bytes());
        }
        file.extend([0x45, 0, 0, packet as u8, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        file.extend([0xff, 0, 0, 53, 0, 8 + length, 0, 0]);
        file.extend(vec![number as u8; usize::from(length)]);
    }
    file
}

#[test]
fn the_examples_answer_every_request_under_each_policy() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let in_c = numbering(folder.path());
    let source = root().join("examples/handlers/numbering.rs");
    let mut command = Command::new("rustc");
    command.args(["-O", "--edition", "2024", "--crate-type", "cdylib", "-D", "warnings", "-o"]);
    command.arg(folder.path().join("libnumbering_rs.so")).arg(source).stdin(Stdio::null());
    let output = command.output().expect("rustc");
    assert!(output.status.success(), "{}", text(&output.stderr));
    fs::write(folder.path().join("dns.pcap"), capture(&[30, 40, 50])).expect("a capture");
    for (library, sharing) in [
        (&*in_c, "by-flow"),
        ("./libnumbering_rs.so", "by-cpu"),
        (&*in_c, "shared-lifo"),
        (&*in_c, "shared-fifo"),
    ] {
        let more = ["--handler", library, "--sharing", sharing, "--requests", "dns.pcap", "--json"];
        let output = warmcore(&[&RUN, &more[..]].concat(), folder.path());
        let error = text(&output.stderr);
        assert!(output.status.success(), "{sharing}: {error}");
        assert!(error.contains("the 3 datagrams to port 53 in dns.pcap"), "{error}");
        let ran: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let number = |name: &str| ran[name].as_f64().expect(name);
        // Ten standard deviations of 800.
        assert!((510.0..1090.0).contains(&number("requests")), "{ran}");
        assert!(number("lost") <= number("requests") / 20.0, "{ran}");
        let shares: f64 = ran["shares"].as_array().expect("shares").iter().filter_map(Value::as_f64).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{ran}");
    }
}

#[test]
fn a_library_is_predicted_and_its_costs_serve_for_no_other() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = numbering(folder.path());
    fs::write(folder.path().join("dns.pcap"), capture(&[30, 40, 50])).expect("a capture");
    let served = ["--handler", &library, "--requests", "dns.pcap"];
    let compare =
        ["compare", "--driver", "udp-socket", "--loads", "0.1", "--sharing", "by-cpu", "--seconds", "0.1"];
    let output = warmcore(&[&compare[..], &served, &["--quick", "--json"]].concat(), folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(summary["library"], "libnumbering.so");
    let again = ["--profile", "comparison/udp-socket.toml", "--out", "again"];
    let refused = |served: &[&str]| refusal(&[&compare[..], served, &again].concat(), folder.path());
    let fitting = "expected one of: --driver udp-socket --handler libnumbering.so";
    assert!(refused(&["--requests", "dns.pcap"]).contains(fitting));
    assert!(refused(&["--handler", &library]).contains(fitting));
    // The same name, but another library, or another capture.
    fs::write(folder.path().join("dns.pcap"), capture(&[30, 40, 60])).expect("a capture");
    assert!(refused(&served).contains(fitting));
    fs::write(folder.path().join("dns.pcap"), capture(&[30, 40, 50])).expect("a capture");
    compiled(folder.path(), &root().join("examples/handlers/numbering.c"), &["-O0"], "libnumbering.so");
    assert!(refused(&served).contains(fitting));
    numbering(folder.path());
    let output = warmcore(&[&compare[..], &served, &again].concat(), folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_library_that_ends_its_process_or_never_returns_is_reported_with_its_request() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (option, how) in [
        ("-DCRASH", "(signal: 11 (SIGSEGV)"),
        ("-DLEAVE", "ended its process (exit status: 3)"),
        ("-DHANG", "has not returned for 5."),
        ("-DLONG", "expected at most its capacity"),
    ] {
        let library = misbehaving(folder.path(), option);
        let error = failure(&[&RUN[..], &["--handler", &library]].concat(), folder.path());
        assert!(error.contains(how) && error.contains("warmcore_flow_request"), "{option}: {error}");
        assert!(error.contains("request "), "{option}: {error}");
    }
    // The call may be over before the process stops.
    let library = misbehaving(folder.path(), "-DSTOP");
    let error = failure(&[&RUN[..], &["--handler", &library]].concat(), folder.path());
    assert!(error.contains("SIGSTOP") || error.contains("has not returned for 5."), "{error}");
    let library = misbehaving(folder.path(), "-DCRASH");
    fs::write(folder.path().join("two.pcap"), capture(&[30, 40])).expect("a capture");
    let error =
        failure(&[&RUN[..], &["--handler", &library, "--requests", "two.pcap"]].concat(), folder.path());
    assert!(
        ["request 1 of two.pcap", "request 2 of two.pcap"].iter().any(|at| error.contains(at)),
        "{error}"
    );
    // A comparison leaves no folder behind that holds nothing.
    let compare = ["compare", "--driver", "udp-socket", "--quick", "--handler", &library];
    assert!(failure(&compare, folder.path()).contains("SIGSEGV"));
    assert!(!folder.path().join("comparison").exists());
}

#[test]
fn what_a_library_does_beside_its_work_changes_no_result() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // A number by which the processes of this test are known.
    let sleeps = format!("{}.{}", 1_000, std::process::id());
    let fork = format!("-DFORK=\"{sleeps}\"");
    for option in ["-DLEAVE_LATE", "-DHANG_LATE", "-DPRINT", &fork] {
        let source = folder.path().join("misbehaving.c");
        fs::write(&source, MISBEHAVING).expect("the source");
        let library = compiled(folder.path(), &source, &[option], "libbeside.so");
        let began = Instant::now();
        let output = warmcore(&[&RUN[..], &["--handler", &library, "--json"]].concat(), folder.path());
        assert!(output.status.success(), "{option}: {:?} {}", output.status, text(&output.stderr));
        let ran: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
        assert!(began.elapsed() < Duration::from_secs(20), "{option}: {:?}", began.elapsed());
        // It answers nothing, and that is said.
        let number = |name: &str| ran[name].as_f64().expect(name);
        assert_eq!(number("unanswered"), number("requests") - number("lost"), "{option}: {ran}");
    }
    let left = processes::with_words(&["sleep", &sleeps]);
    assert!(left.is_empty(), "left behind: {left:?}");
    let library = misbehaving(folder.path(), "-DRAISE");
    let error = failure(&[&RUN[..], &["--handler", &library]].concat(), folder.path());
    assert!(error.contains("told to stop by a signal that this command did not get"), "{error}");
}

#[test]
fn a_command_whose_library_hears_no_signal_is_interrupted_all_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = misbehaving(folder.path(), "-DHANG_EARLY");
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command.args(RUN).args(["--handler", &library]).current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the binary can be run");
    sleep(Duration::from_millis(1_000));
    let asked = Instant::now();
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill");
    assert_eq!(child.wait().expect("its status").code(), Some(130));
    assert!(asked.elapsed() < Duration::from_secs(15), "{:?}", asked.elapsed());
}

#[test]
fn what_is_no_handler_library_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("text.so"), "no library").expect("a file");
    let without = misbehaving(folder.path(), "-DWITHOUT_REQUEST");
    let version = misbehaving(folder.path(), "-DVERSION=7");
    let refused = |more: &[&str]| refusal(&[&RUN[..], more].concat(), folder.path());
    for (file, named) in [
        ("missing.so", "missing.so"),
        (".", "is a directory"),
        ("text.so", "as `cc -shared -fPIC` makes it"),
        (&*without, "has no function `warmcore_flow_request`"),
        (&*version, "is of version 7 of the interface, expected 1"),
    ] {
        let error = refused(&["--handler", file]);
        assert!(error.contains(named), "{file}: {error}");
    }
    let early = misbehaving(folder.path(), "-DCRASH_EARLY");
    let error = failure(&[&RUN[..], &["--handler", &early]].concat(), folder.path());
    assert!(error.contains("while it was being loaded"), "{error}");

    fs::write(folder.path().join("none.pcap"), capture(&[])).expect("a capture");
    for (requests, named) in [
        ("none.pcap", "no usable requests"),
        ("missing.pcap", "missing.pcap"),
        ("text.so", "neither a pcap nor a pcapng file"),
        ("echo:4", "expected 10 to 1472 bytes"),
    ] {
        let error = refused(&["--requests", requests]);
        assert!(error.contains(named), "{requests}: {error}");
    }
    let both = refused(&["--handler", "x.so", "--handler-bytes", "64"]);
    assert!(both.contains("--handler-bytes"), "{both}");
    let stack = refusal(&["run", "--rate", "1000", "--handler", &without], folder.path());
    assert!(stack.contains("--handler has no effect here"), "{stack}");
    let stack = refusal(&["calibrate", "--requests", "echo:64"], folder.path());
    assert!(stack.contains("--requests has no effect here"), "{stack}");
}

#[test]
fn nothing_outlives_a_command_that_is_killed_or_interrupted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = numbering(folder.path());
    for (signal, status) in [("KILL", None), ("TERM", Some(130)), ("INT", Some(130))] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
        command.args([
            "run",
            "--driver",
            "udp-socket",
            "--rate",
            "1000",
            "--seconds",
            "30",
            "--handler",
            &library,
        ]);
        command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary can be run");
        let began = Instant::now();
        let id = child.id();
        while processes::children(id).is_empty() {
            assert!(began.elapsed() < Duration::from_secs(20), "no process for the library");
            sleep(Duration::from_millis(10));
        }
        // Until it serves.
        sleep(Duration::from_millis(500));
        let children = processes::children(id);
        Command::new("kill").args([format!("-{signal}"), id.to_string()]).status().expect("kill");
        let ended = child.wait().expect("its status");
        assert!(began.elapsed() < Duration::from_secs(25), "{signal}: {:?}", began.elapsed());
        assert_eq!(ended.code(), status, "{signal}");
        let killed = Instant::now();
        while children.iter().any(|child| processes::is_running(*child)) {
            assert!(killed.elapsed() < Duration::from_secs(10), "{signal}: the library's process lives");
            sleep(Duration::from_millis(10));
        }
    }
}
