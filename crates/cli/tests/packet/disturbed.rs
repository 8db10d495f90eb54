//! Runs on a processor that another program keeps busy: what they say must not be taken for more than it is.

use crate::{as_measured, on_one_line, text, warmcore};
use std::process::{Child, Command, Stdio};

/// A program that keeps a processor busy until this is dropped.
struct Hog(Child);

impl Hog {
    fn on(cpu: &str) -> Self {
        let mut command = Command::new("taskset");
        command.args(["-c", cpu, "sh", "-c", "while :; do :; done"]).stdin(Stdio::null());
        Self(command.spawn().expect("taskset (util-linux) is there"))
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.0.kill().expect("a child can be killed");
        self.0.wait().expect("a child can be waited for");
    }
}

fn first_cpu() -> String {
    let usable = warmcore_linux::affinity::mask().expect("a mask");
    usable.first().expect("a cpu").0.to_string()
}

/// A worker that has half of its processor cannot be judged, and nobody is told how far off a prediction is.
#[test]
fn a_comparison_in_which_nothing_can_be_judged_fails_and_names_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let (profile, cpu) = (as_measured(folder.path()), first_cpu());
    let on_it = ["--processors", "1", "--cpus", &cpu, "--work-kib", "64", "--seconds", "1"];
    let _hog = Hog::on(&cpu);
    let compared =
        warmcore(&[&["compare", "--profile", profile, "--loads", "0.5"], &on_it[..]].concat(), folder.path());
    let (said, error) = (text(&compared.stdout), on_one_line(&compared.stderr));
    assert_eq!(compared.status.code(), Some(1), "{said}{error}");
    let is_said = error.contains("Nothing could be judged: at 1 of 1 loads");
    assert!(is_said || error.contains("could not be measured"), "{error}");
    assert!(!said.contains("% ±"), "{said}");
}

/// The mean of the packets that nothing disturbed does not stand alone.
#[test]
fn a_run_tells_the_mean_of_all_packets_first() {
    let folder = tempfile::tempdir().unwrap();
    let cpu = first_cpu();
    let _hog = Hog::on(&cpu);
    let run =
        ["run", "--rate", "5000", "--seconds", "1", "--processors", "1", "--cpus", &cpu, "--work-kib", "64"];
    let said = text(&warmcore(&run, folder.path()).stdout);
    let of_all = said.find(" over all packets");
    let of_some = said.find("of them that were undisturbed");
    assert!(of_all < of_some || said.contains("nothing can be said of the policy"), "{said}");
}
