//! `warmcore host apply`, `undo`, `confirm` and `persist`, as a user types them.

mod confirm;
mod draws;
mod foreign;
mod kills;
mod persist;
mod real;
mod verify;

use crate::{failure, refusal, text, warmcore};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;
use warmcore_linux::fake::Tree;
use warmcore_topology::synthetic;

/// A plan for the machine of [`Place`]; its lines begin in line 5.
const PLAN: &str = "schema = 1
machine = { cpus = \"0-3\", nodes = [\"0-3\"] }

[[lines]]
set = { default_interrupt = { cpus = \"2\" } }
reason = \"cpu 2 has nothing else to do\"
expected_gain = \"5%\"

[[lines]]
set = { thread = { pid = 4242, started = 8311, name = \"server\", cpus = \"2-3\" } }
";

const MASK: &str = "proc/irq/default_smp_affinity";

/// A folder with a made-up machine of four cpus in `root` and a plan for it.
struct Place {
    _folder: TempDir,
    path: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().to_owned();
        let mut tree = Tree::from_machine(&synthetic::virtual_machine(4));
        tree.put(MASK, "f");
        tree.put("proc/4242/comm", "server");
        tree.put("proc/4242/stat", "4242 (server) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 8311 99");
        tree.put("proc/4242/task/4242/status", "Name:\tserver\nCpus_allowed_list:\t0-3");
        tree.write_to(&path.join("root")).expect("a tree can be written");
        let place = Self { _folder: folder, path };
        place.plan(PLAN);
        place
    }

    fn plan(&self, text: &str) {
        fs::write(self.path.join("plan.toml"), text).expect("a plan can be written");
    }

    /// `host apply`, of this machine.
    fn apply<'a>(flags: &[&'a str]) -> Vec<&'a str> {
        let apply = ["host", "apply", "plan.toml", "--root", "root", "--journal", "journals"];
        [&apply, flags].concat()
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = warmcore(arguments, &self.path);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn mask(&self) -> String {
        fs::read_to_string(self.path.join("root").join(MASK)).expect("a mask")
    }
}

const UNDO: [&str; 4] = ["host", "undo", "--journal", "journals"];

#[test]
fn a_plan_is_shown_then_applied_then_taken_back() {
    let place = Place::new();
    let shown = place.run(&Place::apply(&[]));
    for expected in ["interrupts requested later", "0-3", "cpu 2 has nothing", "5%", "Nothing was changed"] {
        assert!(shown.contains(expected), "{shown}");
    }
    assert_eq!(place.mask(), "f\n");
    assert!(!place.path.join("journals").exists());

    let applied = place.run(&Place::apply(&["--yes"]));
    assert!(applied.contains("2 values changed, each read back"), "{applied}");
    assert!(applied.contains("warmcore host undo --journal /"), "{applied}");
    assert_eq!(place.mask(), "4");
    assert!(place.run(&Place::apply(&["--yes"])).contains("nothing to change"));
    place.plan(&PLAN.replace("cpus = \"2\"", "cpus = \"1\""));
    let again = failure(&Place::apply(&["--yes"]), &place.path);
    assert!(again.contains("applied already") && again.contains("host undo"), "{again}");

    assert!(place.run(&UNDO).contains("2 values restored"));
    assert_eq!(place.mask(), "f\n");
    let nothing = place.run(&UNDO);
    assert!(nothing.contains("Nothing to undo: /") && nothing.contains("journals records no"), "{nothing}");
}

/// Root rights or another kernel would not help.
#[test]
fn a_read_only_root_is_said_to_be_one() {
    let place = Place::new();
    let script = "mount --bind root root && mount -o remount,ro,bind root && exec \"$@\"";
    let refused = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(env!("CARGO_BIN_EXE_warmcore"))
        .args(Place::apply(&["--yes"]))
        .current_dir(&place.path)
        .output()
        .expect("unshare is there");
    let error = crate::on_one_line(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{error}");
    assert!(error.contains("root` is read-only here") && error.contains("such as a copy of it"), "{error}");
    assert!(!error.contains("as root") && !error.contains("on the host"), "{error}");
}

/// A plan may be applied by the journal that was meant.
#[test]
fn a_mistyped_journal_is_refused_and_a_plan_stays_applied() {
    let place = Place::new();
    place.run(&Place::apply(&["--yes"]));
    for command in ["undo", "confirm"] {
        for (journal, problem) in [
            ("journal", "No such file"),
            ("plan.toml", "Not a directory"),
            ("/dev/full", "Not a directory"),
            ("root", "it holds no journal"),
        ] {
            let error = refusal(&["host", command, "--journal", journal], &place.path);
            assert!(error.contains(&format!("--journal {journal}: ")) && error.contains(problem), "{error}");
        }
    }
    assert_eq!(place.mask(), "4");

    // It was killed before it had written its journal.
    for file in ["lock", "active.journal.unfinished"] {
        let folder = place.path.join(format!("killed-{file}"));
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join(file), "").expect("a file");
        let undone = place.run(&["host", "undo", "--journal", &folder.display().to_string()]);
        assert!(undone.contains("Nothing to undo"), "{file}: {undone}");
    }
}

#[test]
fn what_others_changed_is_said_and_left_alone_unless_forced() {
    let place = Place::new();
    place.run(&Place::apply(&["--yes"]));
    fs::write(place.path.join("root").join(MASK), "8\n").expect("a mask");
    let left = failure(&UNDO, &place.path);
    assert!(left.contains("interrupts requested later: somebody else has set it to 3 since"), "{left}");
    assert!(left.contains("--force") && left.contains("active.journal"), "{left}");
    assert_eq!(place.mask(), "8\n");
    assert!(place.run(&[&UNDO[..], &["--force"]].concat()).contains("1 value restored"));
    assert_eq!(place.mask(), "f\n");
}

#[test]
fn a_damaged_journal_is_undone_as_far_as_it_can_be_read_and_set_aside_by_force() {
    let place = Place::new();
    place.run(&Place::apply(&["--yes"]));
    let journal = place.path.join("journals/active.journal");
    let text = fs::read_to_string(&journal).expect("a journal");
    fs::write(&journal, text.replacen("entry = { step", "entry = { stop", 1)).expect("a journal");
    for _ in 0..2 {
        let left = failure(&UNDO, &place.path);
        assert!(left.contains("active.journal:2: cannot be read"), "{left}");
        assert!(left.contains("`warmcore host undo --force --journal /"), "{left}");
    }
    assert_eq!(place.mask(), "4", "its line is the damaged one");
    let status = fs::read_to_string(place.path.join("root/proc/4242/task/4242/status")).expect("a status");
    assert!(status.contains("0-3"), "{status}");
    let refused = failure(&Place::apply(&["--yes"]), &place.path);
    assert!(refused.contains("`warmcore host undo --journal /"), "{refused}");
    let forced = failure(&[&UNDO[..], &["--force"]].concat(), &place.path);
    assert!(forced.contains("The damaged journal is now /") && forced.contains("/damaged-"), "{forced}");
    assert!(!journal.exists());

    for contents in ["", "entry = { begun = 0 }\n"] {
        fs::write(&journal, contents).expect("a journal");
        let left = failure(&UNDO, &place.path);
        assert!(left.contains("nothing can be restored") && left.contains("undo --force"), "{left}");
        let forced = failure(&[&UNDO[..], &["--force"]].concat(), &place.path);
        assert!(forced.contains("nothing was restored") && !journal.exists(), "{forced}");
    }
    assert!(place.run(&UNDO).contains("Nothing to undo"));
}

#[test]
fn a_link_in_a_capture_shows_nothing_of_this_machine_and_a_name_begins_no_line() {
    let place = Place::new();
    fs::write(place.path.join("secret"), "model name\t: theirs\n").expect("a file");
    let cpuinfo = place.path.join("root/proc/cpuinfo");
    fs::remove_file(&cpuinfo).expect("a file");
    std::os::unix::fs::symlink(place.path.join("secret"), &cpuinfo).expect("a link");
    fs::create_dir_all(place.path.join("root/sys/class/net/a\nb/queues/rx-0")).expect("a folder");
    fs::write(place.path.join("root/sys/class/net/a\nb/ifindex"), "7\n").expect("a file");
    // Its own file may not have the columns of a real one.
    fs::remove_file(place.path.join("root/proc/4242/stat")).expect("a file");
    let shown = place.run(&["host", "show", "--root", "root"]);
    assert!(!shown.contains("theirs"), "{shown}");
    assert!(shown.contains("a\\nb"), "{shown}");
}

/// Who reads along decides nothing.
#[test]
fn a_plan_is_applied_though_standard_output_is_closed() {
    for flags in [&["--yes"][..], &["--yes", "--confirm-within", "60s"]] {
        let place = Place::new();
        // Closed from the start, so that no time decides whether it is closed in time.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let child = Command::new(env!("CARGO_BIN_EXE_warmcore"))
            .args(Place::apply(flags))
            .current_dir(&place.path)
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be run");
        let ended = child.wait_with_output().expect("a child's output");
        let error = text(&ended.stderr);
        assert!(
            !error.contains("panicked") && ended.status.code().is_some_and(|code| code <= 1),
            "{ended:?}"
        );
        assert!(error.contains("standard output cannot be written to"), "{error}");
        assert_eq!(place.mask(), "4", "{error}");
        assert!(place.path.join("journals/active.journal").exists());
        assert!(place.run(&UNDO).contains("2 values restored"));
        assert_eq!(place.mask(), "f\n");
        assert!(place.run(&UNDO).contains("Nothing to undo"));
    }
}

/// A folder that is gone holds no values that are as they were.
#[test]
fn a_journal_is_kept_while_its_root_is_gone() {
    let place = Place::new();
    place.run(&Place::apply(&["--yes"]));
    fs::rename(place.path.join("root"), place.path.join("away")).expect("a folder");
    for flags in [&[][..], &["--force"]] {
        let refused = failure(&[&UNDO[..], flags].concat(), &place.path);
        assert!(refused.contains("nothing was restored") && refused.contains("/root"), "{refused}");
        assert!(place.path.join("journals/active.journal").exists(), "{refused}");
    }
    fs::rename(place.path.join("away"), place.path.join("root")).expect("a folder");
    assert!(place.run(&UNDO).contains("2 values restored"));
}

#[test]
fn unusable_plans_are_refused_with_file_line_and_field() {
    let place = Place::new();
    for (plan, expected) in [
        (PLAN.replace("reason", "reasons"), "plan.toml:6: not a usable plan: unknown field `reasons`"),
        (
            PLAN.replace("{ cpus = \"2\" }", "{ cpu = \"2\" }"),
            "plan.toml:5: not a usable plan: unexpected keys in table: cpu, available keys: cpus",
        ),
        (PLAN.replace("cpus = \"2\"", "cpus = \"x\""), "plan.toml:5:"),
        (
            PLAN.replace("cpus = \"2-3\"", "cpus = \"2-8\""),
            "plan.toml:10: not a usable plan: `lines.1.set.thread.cpus` is 2-8, expected cpus among 0-3",
        ),
        (
            PLAN.replace("8311", "8312"),
            "plan.toml:10: not a usable plan: `lines.1.set.thread.started` is 8312",
        ),
        (
            PLAN.replace("cpus = \"0-3\"", "cpus = \"0-7\""),
            "plan.toml:2: not a usable plan: `machine.cpus` is 0-7",
        ),
        (PLAN.replace("schema = 1", "schema = 2"), "plan.toml:1:"),
    ] {
        place.plan(&plan);
        let error = refusal(&Place::apply(&["--yes"]), &place.path);
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(place.mask(), "f\n");
    place.plan(PLAN);
    fs::write(place.path.join("root/proc/4242/comm"), "irqbalance\n").expect("a name");
    let error = failure(&Place::apply(&[]), &place.path);
    assert!(error.contains("`irqbalance` runs") && error.contains("--despite irqbalance"), "{error}");
    place.run(&Place::apply(&["--despite", "irqbalance"]));
}
