//! `warmcore run` on an interface that is deleted meanwhile.

use crate::text;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use warmcore_linux::net::{Namespace, privilege_missing};

#[test]
fn a_run_whose_interface_is_deleted_fails_with_its_name_and_a_report() {
    if let Some(missing) = privilege_missing() {
        println!("skipped: needs {missing}");
        return;
    }
    let here = Namespace::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command
        .args(["run", "--driver", "tun", "--interface", "brief0", "--address", "10.79.0.9"])
        .args(["--seconds", "600", "--work-kib", "0", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = here.spawn(&mut command).unwrap().expect("the binary can be run");
    let began = Instant::now();
    while here.ip(&["link", "show", "brief0"]).is_err() {
        assert!(began.elapsed() < Duration::from_secs(60), "it makes no interface");
        thread::sleep(Duration::from_millis(10));
    }
    here.ip(&["link", "delete", "brief0"]).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("interface `brief0` is gone") && said.contains("0 packets delivered"), "{said}");
    let result: Value = serde_json::from_slice(&output.stdout).expect("a report in spite of the failure");
    assert!(result["failure"].as_str().is_some_and(|failure| failure.contains("brief0")), "{result}");
}
