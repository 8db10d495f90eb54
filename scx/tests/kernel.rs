//! The scheduler in a real kernel, in a virtual machine: what the kernel counts under each level of affinity, and that
//! it unloads the scheduler whatever happens to the loader. `examples/guest.rs` runs inside.
//!
//! `scripts/check-kernel` runs this; it names qemu and a kernel with sched_ext in the environment.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use warmcore_policy::runqueue::{Affinity, Candidate, Search, Task, Ticks, choose};
use warmcore_units::{CpuId, TaskId};

/// Programs in the machine: `Mix::start` in `examples/guest.rs`. The first ones compute only.
const PROGRAMS: usize = 13;
const COMPUTING: usize = 9;

/// How long it takes, and what is then certain however busy the host is.
struct Form {
    phases: &'static str,
    /// The time of each phase.
    seconds: u32,
    /// How many times the migrations are without affinity at least.
    spared: f64,
    /// The least that a program runs, as a part of the mean of those that compute.
    least_share: f64,
    /// Whether light and heavy affinity can be told apart.
    orders_levels: bool,
}

const SHORT: Form =
    Form { phases: "none,light,heavy", seconds: 4, spared: 2.0, least_share: 0.02, orders_levels: false };
const LONG: Form = Form {
    phases: "none,light,heavy,complex,attached",
    seconds: 10,
    spared: 4.0,
    least_share: 0.1,
    orders_levels: true,
};

#[test]
fn affinity_keeps_tasks_in_place_and_nothing_stays_loaded() {
    let Some(machine) = Machine::from_environment() else {
        println!("skipped: scripts/check-kernel names qemu and a kernel");
        return;
    };
    let form = match env::var("WARMCORE_KERNEL_TEST").as_deref() {
        Ok("short") => &SHORT,
        _ => &LONG,
    };
    let Form { phases, seconds, spared, least_share, .. } = form;
    let output = machine.run(&format!("PHASES={phases} PHASE_SECONDS={seconds}"));
    let facts = Facts::read(&output);
    println!("{}", facts.text);
    assert!(facts.text.lines().any(|line| line == "done"), "the guest came to its end");
    assert!(!facts.text.contains("failed: "), "and nothing failed");

    let migrations = |phase: &str| facts.number(&format!("{phase} migrations"));
    assert!(migrations("none") > spared * migrations("light"), "light affinity spares most migrations");
    assert!(migrations("none") > spared * migrations("heavy"), "and so does heavy affinity");
    if form.orders_levels {
        assert!(migrations("light") > migrations("heavy"), "which spares more of them");
    }
    for phase in phases.split(',') {
        let taken = facts.of(&format!("{phase} in the class"));
        assert_eq!(taken, format!("{PROGRAMS} of {PROGRAMS}"), "{phase}: all programs are scheduled by it");
        let ran = facts.numbers(&format!("{phase} ran"));
        assert_eq!(ran.len(), PROGRAMS);
        let mean = ran[..COMPUTING].iter().sum::<f64>() / COMPUTING as f64;
        for (program, ms) in ran.iter().enumerate() {
            assert!(*ms > least_share * mean, "{phase}: program {program} starves: {ran:?} ms");
        }
        let afterwards = facts.of(&format!("{phase} afterwards"));
        assert_eq!(afterwards, "disabled, in the class 0", "{phase}: unloading returns every task");
    }
    if phases.contains("attached") {
        assert!(migrations("attached") <= migrations("heavy"), "attached programs stay");
    }

    assert_eq!(facts.of("taken over: in the class"), format!("{PROGRAMS} of {PROGRAMS}"));
    assert!(facts.of("second").contains("`warmcore` is loaded already"));
    assert_eq!(facts.of("second leaves"), "enabled");
    assert_eq!(facts.of("killed:"), "disabled, in the class 0");
    assert!(facts.of("unprivileged").contains("is not permitted"));
    assert_eq!(facts.of("end"), "disabled");

    for phase in phases.split(',') {
        let affinity = match phase {
            "light" => Affinity::LIGHT,
            "heavy" => Affinity::HEAVY,
            "complex" => Affinity::complex(6),
            _ => Affinity::NONE,
        };
        let held = facts.decisions.get(phase).map_or(0, |lines| hold(affinity, lines));
        assert!(held > 20, "{phase}: {held} decisions of the kernel are those of the policy");
    }
}

/// Repeats the searches of a log; returns how many there were.
fn hold(affinity: Affinity, lines: &[String]) -> usize {
    let mut held = 0;
    for line in lines {
        let Some((search, chosen, candidates)) = decision(line) else { continue };
        let index = choose(affinity, search, &candidates);
        assert_eq!(index.map(|index| candidates[index].id), chosen, "{affinity:?}: {line}");
        held += 1;
    }
    held
}

/// Reads a line of the form in `src/decisions.rs`; `None` if it does not list all candidates.
fn decision(line: &str) -> Option<(Search, Option<TaskId>, Vec<Candidate>)> {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |word: &str| word.parse::<u32>().ok();
    let [now, cpu, ran_last, yielded, chosen, count, candidates @ ..] = &words[..] else {
        panic!("no decision: {line}")
    };
    if candidates.len() != count.parse::<usize>().expect("a count") {
        return None;
    }
    let candidate = |(queued, word): (usize, &&str)| {
        let fields: Vec<&str> = word.split(':').collect();
        let [id, time, last_cpu, last_ran, attached] = fields[..] else { panic!("no candidate: {word}") };
        let task = Task {
            base: 0,
            cpu: time.parse().expect("a time"),
            last_cpu: number(last_cpu).map(CpuId),
            last_ran: Ticks(last_ran.parse().expect("a time")),
            attached: number(attached).map(CpuId),
        };
        Candidate { id: TaskId(id.parse().expect("a task")), task, queued: queued as u64 }
    };
    let search = Search {
        cpu: CpuId(cpu.parse().expect("a cpu")),
        now: Ticks(now.parse().expect("a time")),
        ran_last: number(ran_last).map(TaskId),
        yielded: number(yielded).map(TaskId),
    };
    Some((search, number(chosen).map(TaskId), candidates.iter().enumerate().map(candidate).collect()))
}

/// What the guest printed: facts by their names, and the decisions of each phase.
struct Facts {
    text: String,
    decisions: BTreeMap<String, Vec<String>>,
}

impl Facts {
    fn read(output: &str) -> Self {
        let mut facts = Self { text: String::new(), decisions: BTreeMap::new() };
        for line in output.lines().map(str::trim_end) {
            match line.strip_prefix("decision ").and_then(|rest| rest.split_once(' ')) {
                Some((phase, decision)) => {
                    facts.decisions.entry(phase.to_owned()).or_default().push(decision.to_owned());
                }
                None => facts.text += &format!("{line}\n"),
            }
        }
        facts
    }

    /// The rest of the line that begins so.
    fn of(&self, name: &str) -> &str {
        let rest = self.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        rest.unwrap_or_else(|| panic!("the guest does not say `{name}`"))
    }

    fn numbers(&self, name: &str) -> Vec<f64> {
        self.of(name).split(' ').map(|word| word.parse().expect("a number")).collect()
    }

    fn number(&self, name: &str) -> f64 {
        self.numbers(name)[0]
    }
}

/// All processors of the machine take turns in one thread. Beside each other, one may execute an instruction that another
/// has just patched in the kernel's text in a form that is no longer there, and the kernel panics over a breakpoint
/// that nobody knows.
const EMULATION: &str = "tcg,thread=single";

/// A virtual machine of four processors that are slower than real ones.
struct Machine {
    qemu: PathBuf,
    kernel: PathBuf,
}

impl Machine {
    fn from_environment() -> Option<Self> {
        let path = |name| env::var_os(name).map(PathBuf::from);
        Some(Self { qemu: path("WARMCORE_TEST_QEMU")?, kernel: path("WARMCORE_TEST_KERNEL")? })
    }

    /// Boots it with this environment of its first process; returns what it prints.
    fn run(&self, environment: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let files = folder.path().join("files.cpio");
        write_files(&files);
        let output = Command::new("timeout")
            .arg("600")
            .arg(&self.qemu)
            .args(["-accel", EMULATION, "-M", "q35", "-cpu", "max", "-smp", "4", "-m", "1024"])
            .args(["-nographic", "-nodefaults", "-no-reboot", "-serial", "stdio"])
            .arg("-kernel")
            .arg(&self.kernel)
            .arg("-initrd")
            .arg(&files)
            .arg("-append")
            .arg(format!("console=ttyS0 quiet panic=-1 rdinit=/init mitigations=off {environment}"))
            .output()
            .expect("qemu runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{}\n{text}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        text
    }
}

/// The file system of the guest: the loader, the guest's first process, and the libraries of both.
fn write_files(archive: &Path) {
    let loader = PathBuf::from(env!("CARGO_BIN_EXE_warmcore-scx"));
    let guest = loader.with_file_name("examples").join("guest");
    let mut files = vec![("init".to_owned(), guest), ("warmcore-scx".to_owned(), loader)];
    let listed = Command::new("ldd").arg(&files[1].1).output().expect("ldd runs");
    for line in String::from_utf8_lossy(&listed.stdout).lines() {
        if let Some(library) = line.split_whitespace().find(|word| word.starts_with('/')) {
            files.push((library.trim_start_matches('/').to_owned(), PathBuf::from(library)));
        }
    }
    let mut folders: Vec<String> = ["proc", "sys", "dev"].map(str::to_owned).into();
    for (name, _) in &files {
        let parents: Vec<&Path> = Path::new(name).ancestors().skip(1).collect();
        for parent in parents.into_iter().rev().filter_map(Path::to_str).filter(|parent| !parent.is_empty()) {
            if !folders.iter().any(|folder| folder == parent) {
                folders.push(parent.to_owned());
            }
        }
    }
    let mut out = fs::File::create(archive).expect("an archive");
    let mut inode = 0;
    let mut entry = |name: &str, mode, bytes: &[u8]| {
        inode += 1;
        let size = u32::try_from(bytes.len()).expect("a small file");
        let header = cpio::newc::Builder::new(name).ino(inode).mode(mode);
        let mut writer = header.write(&out, size);
        std::io::Write::write_all(&mut writer, bytes).expect("an entry");
        writer.finish().expect("an entry");
    };
    for folder in &folders {
        entry(folder, 0o40755, &[]);
    }
    for (name, path) in &files {
        entry(name, 0o100_755, &fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    }
    cpio::newc::trailer(&mut out).expect("an end");
}
