//! A user without privilege measures on a veth pair too, in a user namespace, and on loopback where none may be made.

use super::super::{on_one_line, scenario};
use super::processes;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The user `nobody`, and his group.
const NOBODY: u32 = 65_534;

/// A short run of a server, which needs a network and writes nothing.
const RUN: [&str; 9] =
    ["run", "--driver", "udp-socket", "--rate", "2000", "--seconds", "0.3", "--processors", "1"];

/// A folder of an unprivileged user's, with a copy of the program: root's stand-in, or who runs this test.
struct Unprivileged {
    folder: TempDir,
    /// The user, if it is not who runs this test.
    other: Option<u32>,
}

impl Unprivileged {
    /// `None`, with a note, if the system lets this user make no namespaces.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let owner = fs::metadata(folder.path()).expect("the folder").uid();
        let other = (owner == 0).then_some(NOBODY);
        let program = folder.path().join("warmcore");
        fs::copy(env!("CARGO_BIN_EXE_warmcore"), &program).expect("a copy of the program");
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("it is ours");
        if other.is_some() {
            chown(folder.path(), other, other).expect("it is root's to give");
        }
        let user = Self { folder, other };
        let made = user.command("unshare", &["--user", "--net", "true"]).output();
        let may = made.is_ok_and(|output| output.status.success());
        if !may {
            println!("skipped: an unprivileged user may make no namespaces here");
        }
        may.then_some(user)
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        if let Some(user) = self.other {
            command.uid(user).gid(user);
        }
        command
    }

    fn warmcore(&self, arguments: &[&str]) -> Command {
        let program = self.folder.path().join("warmcore");
        self.command(program.to_str().expect("a path in UTF-8"), arguments)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn ended_well(output: Output) -> String {
    let error = on_one_line(&output.stderr);
    assert!(output.status.success(), "{error}");
    error
}

#[test]
fn a_user_without_privilege_measures_in_a_network_of_its_own() {
    let Some(user) = Unprivileged::new() else { return };
    let own = fs::read_link("/proc/self/ns/user").expect("a namespace");
    let mut run =
        user.warmcore(&RUN).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let process = run.id();
    let namespace = || fs::read_link(format!("/proc/{process}/ns/user")).ok();
    let began = Instant::now();
    while namespace().is_none_or(|namespace| namespace == own) {
        assert!(run.try_wait().expect("our child").is_none(), "it ended, and was in no namespace of its own");
        assert!(began.elapsed() < Duration::from_secs(20), "it is in no namespace of its own");
        sleep(Duration::from_millis(1));
    }
    let said = ended_well(run.wait_with_output().expect("its output"));
    assert!(!said.contains("loopback"), "{said}");
}

#[test]
fn what_a_user_without_privilege_writes_is_its_own() {
    let Some(user) = Unprivileged::new() else { return };
    fs::write(user.path().join("mine.toml"), scenario("sgi-challenge-xl", "[100.0, 10000.0]"))
        .expect("a scenario");
    let owner = fs::metadata(user.path()).expect("the folder").uid();
    ended_well(user.warmcore(&["study", "--scenario", "mine.toml"]).output().expect("it can be run"));
    for file in ["study", "study/report.html"] {
        let written = fs::metadata(user.path().join(file)).expect("it was written");
        assert_eq!(written.uid(), owner, "{file}");
    }
}

#[test]
fn nothing_is_left_of_a_killed_run_without_privilege() {
    let Some(user) = Unprivileged::new() else { return };
    let program = user.path().join("warmcore").display().to_string();
    let long = RUN.map(|word| if word == "0.3" { "20" } else { word });
    let mut run = user.warmcore(&long).stdout(Stdio::null()).spawn().expect("it starts");
    let threads = format!("/proc/{}/task", run.id());
    let began = Instant::now();
    // The worker and the source run beside the first thread.
    while fs::read_dir(&threads).map_or(0, Iterator::count) < 3 {
        assert!(run.try_wait().expect("our child").is_none(), "it ended before it was killed");
        assert!(began.elapsed() < Duration::from_secs(20), "its server never ran");
        sleep(Duration::from_millis(5));
    }
    run.kill().expect("our child");
    run.wait().expect("our child");
    assert_eq!(processes::with_words(&[&program]), [0; 0]);
}

/// The limit is that of a user namespace around the run, so the machine's stays as it is.
#[test]
fn where_no_user_namespace_is_allowed_requests_cross_loopback_and_that_is_said() {
    let Some(user) = Unprivileged::new() else { return };
    let script = "echo 0 > /proc/sys/user/max_user_namespaces &&
        exec setpriv --inh-caps=-all --bounding-set=-all ./warmcore \"$@\"";
    let within = ["--user", "--map-root-user", "sh", "-c", script, "sh"];
    for sharing in ["by-flow", "by-cpu", "exclusive", "shared-lifo"] {
        let run =
            ["run", "--driver", "tcp-socket", "--rate", "500", "--seconds", "0.1", "--sharing", sharing];
        let output = user.command("unshare", &[&within[..], &run].concat()).output().expect("it can be run");
        ended_well(output);
    }
    let arguments = [&within, &RUN[..]].concat();
    let said = ended_well(user.command("unshare", &arguments).output().expect("it can be run"));
    assert!(
        said.contains("requests cross loopback, because network namespaces need CAP_NET_ADMIN"),
        "{said}"
    );
    assert!(said.contains("user.max_user_namespaces"), "{said}");
}
