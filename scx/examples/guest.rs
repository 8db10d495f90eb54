//! The first process of the virtual machine in which `tests/kernel.rs` tries the scheduler: runs the loader and a mix of
//! programs under each level of affinity, and prints what the kernel counted, one fact a line.
//!
//! What is counted is the kernel's own (`/proc/PID/sched`), not the scheduler's.

use rustix::mount::{MountFlags, mount};
use rustix::process::{Pid, Signal, kill_process};
use rustix::system::{RebootCommand, reboot};
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const LOADER: &str = "/warmcore-scx";
const STATE: &str = "/sys/kernel/sched_ext/state";
const DECISIONS: &str = "/decisions";

/// The constants of each phase.
const PHASES: [(&str, &str); 5] = [
    ("none", "a_p=0 a_t=0"),
    ("light", "a_p=6 a_t=6"),
    ("heavy", "a_p=16 a_t=16"),
    ("complex", "a_p=6 a_t=6 form=complex"),
    ("attached", "a_p=0 a_t=0 attach=yes"),
];

fn main() {
    let mode = std::env::args().nth(1);
    match mode.as_deref() {
        Some("spin") => spin(),
        Some("sleep") => sleep_often(),
        Some("yield") => yield_often(),
        _ => {
            if let Err(error) = guest() {
                println!("failed: {error}");
            }
            println!("done");
            // The kernel panics if its first process ends.
            let _ = reboot(RebootCommand::PowerOff);
            sleep(Duration::from_secs(60));
        }
    }
}

fn guest() -> Outcome<()> {
    for (from, to) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        fs::create_dir_all(to)?;
        mount(from, to, from, MountFlags::empty(), None)?;
    }
    println!("kernel {}", fs::read_to_string("/proc/sys/kernel/osrelease")?.trim());
    println!("idle {}", state()?);
    let duration = Duration::from_secs_f64(std::env::var("PHASE_SECONDS")?.parse()?);

    let wanted = std::env::var("PHASES")?;
    let begun = Instant::now();
    for (name, words) in PHASES.into_iter().filter(|(name, _)| wanted.split(',').any(|one| one == *name)) {
        println!("{name} begins at {:.1} s", begun.elapsed().as_secs_f64());
        let logged = format!("{words} decisions={DECISIONS}-{name}");
        let mut loader = Loader::start(&logged)?;
        println!("{name} loaded at {:.1} s", begun.elapsed().as_secs_f64());
        let mut mix = Mix::start()?;
        sleep(duration / 4);
        mix.begin();
        sleep(duration);
        mix.tell(name);
        drop(mix);
        loader.end(Signal::INT)?;
        for line in loader.rest() {
            println!("{name} {line}");
        }
        println!("{name} afterwards {}, in the class {}", state()?, tasks_in_class());
        for line in fs::read_to_string(format!("{DECISIONS}-{name}"))?.lines().take(200) {
            println!("decision {name} {line}");
        }
    }

    let mix = Mix::start()?;
    let mut loader = Loader::start("a_p=6 a_t=6")?;
    println!("taken over: in the class {} of {}", mix.in_class(), mix.children.len());
    let second = Command::new(LOADER).output()?;
    println!("second {}: {}", second.status, String::from_utf8_lossy(&second.stderr).trim());
    println!("second leaves {}", state()?);
    loader.end(Signal::KILL)?;
    let killed = Instant::now();
    while state()? != "disabled" && killed.elapsed() < Duration::from_secs(10) {
        sleep(Duration::from_millis(10));
    }
    println!("killed: {}, in the class {}", state()?, tasks_in_class());
    let unprivileged = Command::new(LOADER).uid(65534).gid(65534).output()?;
    println!(
        "unprivileged {}: {}",
        unprivileged.status,
        String::from_utf8_lossy(&unprivileged.stderr).trim()
    );
    drop(mix);
    println!("end {}", state()?);
    Ok(())
}

fn state() -> Outcome<String> {
    Ok(fs::read_to_string(STATE)?.trim().to_owned())
}

/// How many tasks of the machine are scheduled by a loaded scheduler.
fn tasks_in_class() -> usize {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let names = processes.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| name.parse::<u32>().is_ok())
        .filter(|pid| field(pid, "ext.enabled") == Some(1.0))
        .count()
}

/// A value of `/proc/PID/sched`.
fn field(pid: &str, name: &str) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/sched")).ok()?;
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(name))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

/// The program under test.
struct Loader {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Loader {
    /// Returns when the scheduler is loaded.
    fn start(words: &str) -> Outcome<Self> {
        let mut child = Command::new(LOADER).args(words.split(' ')).stdout(Stdio::piped()).spawn()?;
        let mut out = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut line = String::new();
        out.read_line(&mut line)?;
        if !line.starts_with("loaded: ") {
            return Err(format!("the loader ended: {}", child.wait()?).into());
        }
        Ok(Self { child, out })
    }

    fn end(&mut self, signal: Signal) -> Outcome<()> {
        let pid = Pid::from_raw(self.child.id().try_into()?).ok_or("no process")?;
        kill_process(pid, signal)?;
        self.child.wait()?;
        Ok(())
    }

    fn rest(&mut self) -> Vec<String> {
        self.out.by_ref().lines().map_while(Result::ok).collect()
    }
}

/// Programs that compute, programs that wait often, and one that yields.
struct Mix {
    children: Vec<Child>,
    before: Vec<f64>,
}

impl Mix {
    fn start() -> Outcome<Self> {
        let kinds = ["spin"; 9].into_iter().chain(["sleep"; 3]).chain(["yield"]);
        let start = |kind| Command::new("/init").arg(kind).stdin(Stdio::null()).spawn();
        let children = kinds.map(start).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { children, before: Vec::new() })
    }

    /// Counts from now on: before, children move to their first cpus.
    fn begin(&mut self) {
        self.before = self.all("se.nr_migrations");
    }

    fn all(&self, name: &str) -> Vec<f64> {
        self.children.iter().map(|child| field(&child.id().to_string(), name).unwrap_or(f64::NAN)).collect()
    }

    fn in_class(&self) -> usize {
        self.all("ext.enabled").iter().filter(|value| **value == 1.0).count()
    }

    fn tell(&self, phase: &str) {
        let migrations = self.all("se.nr_migrations");
        let sum: f64 = migrations.iter().zip(&self.before).map(|(now, before)| now - before).sum();
        println!("{phase} migrations {sum}");
        println!("{phase} in the class {} of {}", self.in_class(), self.children.len());
        let ran = self.all("se.sum_exec_runtime");
        println!("{phase} ran {}", ran.iter().map(|ms| format!("{ms:.0}")).collect::<Vec<_>>().join(" "));
    }
}

impl Drop for Mix {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn spin() {
    let mut value = 1_u64;
    loop {
        value = std::hint::black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

/// Works for about a millisecond, and waits for three.
fn sleep_often() {
    loop {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(1) {
            std::hint::spin_loop();
        }
        sleep(Duration::from_millis(3));
    }
}

fn yield_often() {
    loop {
        for _ in 0..100_000 {
            std::hint::spin_loop();
        }
        std::thread::yield_now();
    }
}
