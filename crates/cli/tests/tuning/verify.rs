//! `warmcore host verify`, on a veth in a namespace of its own.

use super::real::{inside, plan, queues, start_inside};
use crate::{on_one_line, text};
use serde_json::Value;
use std::fs;
use std::process::{Child, Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use warmcore_linux::net::lab::{Lab, LinkOptions};

const PROGRAM: &str = env!("CARGO_BIN_EXE_warmcore");

/// Sends datagrams to the far end, which has nobody for them, until it is ended.
const LOAD: &str = "python3 -c \"
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    s.sendto(bytes(1000), ('10.77.0.2', 9))
\"";

const VERIFY: [&str; 6] = [PROGRAM, "host", "verify", "plan.toml", "--journal", "journals"];

pub(super) struct Scene {
    pub(super) lab: Lab,
    pub(super) folder: TempDir,
    pub(super) before: String,
    /// With the whole plan in force.
    pub(super) applied: String,
}

impl Scene {
    /// `None` without the privilege, which is said.
    pub(super) fn new() -> Option<Self> {
        if let Some(missing) = warmcore_linux::net::privilege_missing() {
            println!("skipped: needs {missing}");
            return None;
        }
        let lab = Lab::new(&LinkOptions { queues: 4, ..LinkOptions::default() }).expect("a lab");
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("plan.toml"), plan()).expect("a plan can be written");
        // So that one value is not the default before.
        let steered = ["sh", "-c", "echo 1 > /sys/class/net/wire0/queues/rx-1/rps_cpus"];
        assert!(inside(&lab, &steered, folder.path()).status.success());
        let before = queues(&lab, folder.path());
        let mut scene = Self { lab, folder, before, applied: String::new() };
        let apply = ["host", "apply", "plan.toml", "--yes", "--journal", "journals"];
        let applied = inside(&scene.lab, &[&[PROGRAM][..], &apply].concat(), scene.folder.path());
        assert!(applied.status.success(), "{}", text(&applied.stderr));
        scene.applied = queues(&scene.lab, scene.folder.path());
        assert!(scene.applied != scene.before && scene.undo().contains("5 values restored"));
        Some(scene)
    }

    fn verify(&self, flags: &[&str]) -> Output {
        inside(&self.lab, &[&VERIFY[..], &["--time", "200ms"], flags].concat(), self.folder.path())
    }

    /// Starts one that is in the middle of a run with the plan in force for a long time: its workload says
    /// its figure at once where nothing is steered, and takes a minute where `rx-0` is.
    fn start_long(&self) -> Child {
        let program = "sh -c 'grep -q 1 /sys/class/net/wire0/queues/rx-0/rps_cpus && sleep 60; echo 5'";
        let flags = ["--benchmark", program, "--yes", "--foreign", "100%", "--time", "5s"];
        let child = start_inside(&self.lab, &[&VERIFY[..], &flags].concat(), self.folder.path());
        let deadline = Instant::now() + Duration::from_secs(60);
        while queues(&self.lab, self.folder.path()) != self.applied {
            assert!(Instant::now() < deadline, "the plan is not in force");
            sleep(Duration::from_millis(20));
        }
        child
    }

    fn undo(&self) -> String {
        let undo = [PROGRAM, "host", "undo", "--journal", "journals"];
        let undone = inside(&self.lab, &undo, self.folder.path());
        assert!(undone.status.success(), "{}", text(&undone.stderr));
        text(&undone.stdout)
    }

    pub(super) fn is_as_before(&self) -> bool {
        queues(&self.lab, self.folder.path()) == self.before
    }
}

#[test]
fn models_are_tried_in_turn_and_nothing_is_left_of_them() {
    let Some(scene) = Scene::new() else { return };
    let shown = scene.verify(&["--load", LOAD]);
    let shown = text(&shown.stdout);
    for expected in
        ["RPS cpus of wire0 rx-0", "none, none, full (15 runs", "bits through wire0", "Nothing was changed"]
    {
        assert!(shown.contains(expected), "{shown}");
    }
    assert!(scene.undo().contains("Nothing to undo") && scene.is_as_before());

    // No packet takes a second less.
    let promise = "promise = { saved_ns = 1000000000, half_width_ns = 1, of = \"a made-up packet\" }\n";
    fs::write(scene.folder.path().join("plan.toml"), promise.to_owned() + &plan()).expect("a plan");
    // The tests beside this one are foreign load, and may be.
    let tried = scene.verify(&["--load", LOAD, "--yes", "--json", "--foreign", "100%"]);
    assert!(tried.status.success(), "{}", text(&tried.stderr));
    let results: Value = serde_json::from_slice(&tried.stdout).expect("one JSON object");
    assert_eq!(results["schema"], 1);
    let models = results["models"].as_array().expect("models");
    let names: Vec<&str> = models.iter().filter_map(|model| model["model"].as_str()).collect();
    assert_eq!((names, &results["unit"]), (vec!["none", "full"], &Value::from("bit/s")));
    for model in models {
        assert_eq!(model["rate"]["rounds"].as_array().map(Vec::len), Some(5));
        for figure in ["rate", "busy_cpus", "per_busy_cpu"] {
            let figure = &model[figure];
            assert!(
                figure["least"].as_f64() > Some(0.0)
                    && figure["greatest"].as_f64() >= figure["least"].as_f64()
            );
        }
    }
    let promise = &results["promise"];
    assert_eq!(
        (&promise["promised_ns"]["mean"], &promise["of"]),
        (&Value::from(1e9), &Value::from("a made-up packet"))
    );
    let verdict = promise["verdict"].as_str().expect("a verdict");
    assert!(["not", "cannot-tell"].contains(&verdict), "{promise}");
    let full = &models[1]["against_none"]["per_busy_cpu"];
    let ends = ["low", "change", "high"].map(|end| full[end].as_f64().expect("a change"));
    assert!(ends.is_sorted(), "{full}");
    assert!(full["verdict"].is_string() && results["control"]["rate"]["change"].is_f64(), "{results}");
    assert!(scene.is_as_before());
    let undone = scene.undo();
    assert!(undone.contains("Nothing to undo"), "{undone}");
}

#[test]
fn what_cannot_be_verified_is_refused_and_nothing_is_left() {
    let Some(scene) = Scene::new() else { return };
    for (flags, expected) in [
        (&["--load", "/nonexistent/load"][..], "cannot start `/nonexistent/load`"),
        (&["--load", "true"], "`true` ended"),
        (&["--load", "sleep 9", "--interface", "lo"], "nothing went through lo"),
        (&["--interface", "eth7"], "cannot read the byte counters of `eth7`"),
        (&["--benchmark", "echo fast"], "the last line that `echo` printed is `fast`, expected a number"),
        (&["--benchmark", "false"], "`false` failed"),
        (&["--benchmark", "sleep 60"], "`sleep` did not end within 4 s"),
        (&["--load", "'"], "with quotes in pairs"),
        (&["--blocks", "2"], "expected a whole number from 5 to 1000"),
    ] {
        let refused = scene.verify(&[flags, &["--yes"]].concat());
        assert!(!refused.status.success(), "{flags:?}");
        let error = on_one_line(&refused.stderr);
        assert!(error.contains(expected), "{flags:?}: {error}");
        assert!(scene.is_as_before(), "{flags:?}");
    }
    // A program that tells how fast it was needs no interface.
    let program = "python3 -c 'sum(range(30_000_000)); print(12.5)'";
    let told = scene.verify(&["--benchmark", program, "--yes", "--foreign", "100%"]);
    assert!(told.status.success(), "{}", text(&told.stderr));
    assert!(text(&told.stdout).contains("12.500 [12.500, 12.500]"), "{}", text(&told.stdout));
    assert!(scene.is_as_before());
}

#[test]
fn a_plan_is_kept_only_if_that_is_asked_for_and_it_gains() {
    let Some(scene) = Scene::new() else { return };
    let benchmark = |placed: u32, not: u32| {
        let steered = "grep -q 1 /sys/class/net/wire0/queues/rx-0/rps_cpus";
        format!("sh -c 'python3 -c \"sum(range(3_000_000))\"; {steered} && echo {placed} || echo {not}'")
    };
    for (placed, keep, expected) in [
        (200, true, "Kept, because it brings a gain: rate +100.0%"),
        (200, false, "Taken back, although it brings a gain: rate +100.0%"),
        (50, true, "Taken back, because it makes things worse: rate -50.0%"),
        (100, true, "Taken back, because it is not decided"),
    ] {
        let program = benchmark(placed, 100);
        let flags = ["--benchmark", &program, "--yes", "--foreign", "100%", "--keep"];
        let tried = scene.verify(&flags[..flags.len() - usize::from(!keep)]);
        let said = text(&tried.stdout);
        assert!(tried.status.success(), "{}", text(&tried.stderr));
        let decision = said.lines().find(|line| line.contains("(A/A)")).unwrap_or_default();
        assert!(decision.starts_with(expected), "{placed}: {said}");
        let stays = expected.starts_with("Kept");
        assert_eq!(queues(&scene.lab, scene.folder.path()) == scene.applied, stays, "{said}");
        assert_eq!(scene.undo().contains("5 values restored"), stays);
        assert!(scene.is_as_before());
    }
}

#[test]
fn a_plan_that_is_applied_is_not_taken_back_by_trying_another() {
    let Some(scene) = Scene::new() else { return };
    let run = |arguments: &[&str]| {
        let all = [&[PROGRAM, "host"][..], arguments, &["--journal", "journals"]].concat();
        inside(&scene.lab, &all, scene.folder.path())
    };
    assert!(run(&["apply", "plan.toml", "--yes"]).status.success());
    let applied = queues(&scene.lab, scene.folder.path());
    fs::write(scene.folder.path().join("plan.toml"), plan().replace("4096", "2048")).expect("a plan");
    let refused = scene.verify(&["--load", LOAD, "--yes"]);
    let error = on_one_line(&refused.stderr);
    assert!(!refused.status.success() && error.contains("applied already"), "{error}");
    assert!(error.contains("active.journal") && error.contains("host undo"), "{error}");
    assert_eq!(queues(&scene.lab, scene.folder.path()), applied);
    assert!(run(&["undo"]).status.success() && scene.is_as_before());
}

#[test]
fn killed_with_the_plan_in_force_it_is_undone_bit_for_bit() {
    let Some(scene) = Scene::new() else { return };
    let mut child = scene.start_long();
    child.kill().expect("it runs");
    child.wait().expect("a child can be waited for");
    assert_eq!(queues(&scene.lab, scene.folder.path()), scene.applied);
    let undone = scene.undo();
    assert!(undone.contains("5 values restored"), "{undone}");
    assert!(scene.is_as_before() && scene.undo().contains("Nothing to undo"));
}

#[test]
fn asked_to_end_with_the_plan_in_force_it_takes_its_changes_back() {
    let Some(scene) = Scene::new() else { return };
    for signal in ["-INT", "-TERM", "-HUP"] {
        let child = scene.start_long();
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.expect("kill is there").success());
        let ended = child.wait_with_output().expect("a child's output");
        assert_eq!(ended.status.code(), Some(130), "{signal}: {}", text(&ended.stderr));
        assert!(scene.is_as_before() && scene.undo().contains("Nothing to undo"), "{signal}");
    }
}

#[test]
fn without_a_load_a_transfer_is_the_load() {
    let Some(scene) = Scene::new() else { return };
    let shown = text(&scene.verify(&[]).stdout);
    for expected in [
        "No load is given and the plan places no thread: the load is a transfer",
        "none, none, full (15 runs",
        "bits of a transfer over 2 virtual wires",
        "Nothing was changed",
    ] {
        assert!(shown.contains(expected), "{shown}");
    }
    let tried = scene.verify(&["--yes", "--foreign", "100%"]);
    let said = text(&tried.stdout);
    assert!(tried.status.success(), "{}", text(&tried.stderr));
    for expected in ["Gbit/s", "the same setting tried twice (A/A): rate", "ycles are"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(scene.is_as_before() && scene.undo().contains("Nothing to undo"));

    let unprivileged =
        [&["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"], &VERIFY[..], &["--yes"]];
    let refused = inside(&scene.lab, &unprivileged.concat(), scene.folder.path());
    let error = on_one_line(&refused.stderr);
    assert!(!refused.status.success(), "{}", text(&refused.stdout));
    assert!(error.contains("needs CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN"), "{error}");
    assert!(error.contains("--load, --benchmark or --interface"), "{error}");
}
