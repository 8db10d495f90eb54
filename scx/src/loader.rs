//! Loads the scheduler, watches it, and lets the kernel unload it.

use crate::decisions;
use crate::skeleton::types::bss;
use crate::skeleton::{OpenSchedulerSkel, SchedulerSkel, SchedulerSkelBuilder};
use crate::start::{Start, StartError};
use crate::statistics::Counts;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{ErrorKind, PrintLevel, RingBufferBuilder, set_print};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use warmcore_linux::sched_ext::{SchedExt, SchedExtError, expect_free, sched_ext};

/// Why the scheduler cannot be loaded, or ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    SchedExt(#[from] SchedExtError),
    #[error(
        "loading a scheduler is not permitted: root is needed, or CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN"
    )]
    NotPermitted,
    #[error(
        "this machine may have {0} cpus; expected at most {MOST_CPUS}, for which the scheduler has places"
    )]
    TooManyCpus(usize),
    #[error("the kernel refuses the scheduler: {reason}{said}")]
    Refused { reason: libbpf_rs::Error, said: String },
    #[error(
        "the kernel unloaded the scheduler: {reason}{message}; tasks are scheduled by the kernel's own again"
    )]
    Unloaded { reason: String, message: String },
    #[error("cannot catch Ctrl-C: {0}")]
    Interrupt(#[from] ctrlc::Error),
    #[error("cannot write `{}`: {error}", file.display())]
    Log { file: PathBuf, error: io::Error },
    #[error("cannot print: {0}")]
    Print(io::Error),
}

/// Cpus for which the scheduler has places: `MAX_CPUS` in `scheduler.h`.
const MOST_CPUS: usize = 1024;

/// How often the kernel is asked whether the scheduler is still loaded, and decisions are written.
const LOOK: Duration = Duration::from_millis(50);

/// What libbpf said last: the reason of a refusal.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Runs until an interrupt, or the time is over, or the kernel unloads the scheduler.
pub(crate) fn run(start: &Start) -> Result<(), LoadError> {
    expect_free("/")?;
    let cpus = libbpf_rs::num_possible_cpus().map_err(refused)?;
    if cpus > MOST_CPUS {
        return Err(LoadError::TooManyCpus(cpus));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = Arc::clone(&stop);
    ctrlc::set_handler(move || stopping.store(true, Ordering::SeqCst))?;
    set_print(Some((PrintLevel::Warn, remember)));
    let mut object = MaybeUninit::uninit();
    let mut open = SchedulerSkelBuilder::default().open(&mut object).map_err(refused)?;
    configure(&mut open, start);
    let mut skeleton = open.load().map_err(refused)?;
    let link = skeleton.maps.warmcore.attach_struct_ops().map_err(refused)?;
    print(&format!("loaded: {}{}", start.parameters, if start.attach { " attached" } else { "" }))?;
    let ended = watch(&skeleton, start, &stop);
    drop(link);
    ended
}

fn configure(open: &mut OpenSchedulerSkel<'_>, start: &Start) {
    if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
        constants.parameters = start.constants();
        constants.logs = start.decisions.is_some();
    }
}

fn remember(_: PrintLevel, message: String) {
    if let Ok(mut said) = SAID.lock() {
        said.extend(message.lines().map(str::to_owned));
    }
}

/// Names the cause of a failed load.
fn refused(reason: libbpf_rs::Error) -> LoadError {
    // Another loader may have been quicker.
    if let Err(error @ SchedExtError::Loaded { .. }) = expect_free("/") {
        return error.into();
    }
    if reason.kind() == ErrorKind::PermissionDenied && !is_privileged() {
        return LoadError::NotPermitted;
    }
    let said = SAID.lock().map(|said| said.iter().rev().take(12).rev().cloned().collect::<Vec<_>>());
    let said = said.unwrap_or_default();
    LoadError::Refused {
        reason,
        said: if said.is_empty() { String::new() } else { format!("\n{}", said.join("\n")) },
    }
}

/// Whether this process may administer the system, by its effective capabilities.
fn is_privileged() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> 21 & 1 == 1)
}

fn watch(skeleton: &SchedulerSkel<'_>, start: &Start, stop: &AtomicBool) -> Result<(), LoadError> {
    let shared: &bss = skeleton.maps.bss_data.as_deref().expect("the scheduler has variables");
    let mut log = start.decisions.as_ref().map(|file| Log::create(file.clone())).transpose()?;
    let lines = Mutex::new(Vec::new());
    let mut builder = RingBufferBuilder::new();
    builder
        .add(&skeleton.maps.decisions, |bytes| {
            if let (Some(line), Ok(mut lines)) = (decisions::line(bytes), lines.lock()) {
                lines.push(line);
            }
            0
        })
        .map_err(refused)?;
    let ring = builder.build().map_err(refused)?;

    let begun = Instant::now();
    let mut earlier = Counts::default();
    let mut due = start.interval;
    while !stop.load(Ordering::SeqCst) && start.duration.is_none_or(|duration| begun.elapsed() < duration) {
        // A signal ends the wait early.
        let _ = ring.poll(LOOK);
        if let (Some(log), Ok(mut lines)) = (log.as_mut(), lines.lock()) {
            log.write(&mut lines)?;
        }
        if sched_ext("/").is_ok_and(|state| state == SchedExt::Free) {
            return Err(unloaded(shared));
        }
        if begun.elapsed() >= due {
            due += start.interval;
            let counts = Counts::sum(&shared.cpus);
            print(&(counts - earlier).to_string())?;
            earlier = counts;
        }
    }
    print(&format!("in all: {}", Counts::sum(&shared.cpus)))?;
    if let Some(log) = log {
        log.finish(shared.unlogged)?;
    }
    Ok(())
}

fn unloaded(shared: &bss) -> LoadError {
    let text = |bytes: &[i8]| {
        let bytes =
            bytes.iter().take_while(|byte| **byte != 0).map(|byte| byte.to_ne_bytes()[0]).collect::<Vec<_>>();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let message = text(&shared.exit_message);
    let message = if message.is_empty() { message } else { format!(" ({message})") };
    LoadError::Unloaded { reason: text(&shared.exit_reason), message }
}

fn print(line: &str) -> Result<(), LoadError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(LoadError::Print)
}

/// The file to which decisions go.
struct Log {
    file: PathBuf,
    out: BufWriter<File>,
    written: u64,
}

impl Log {
    fn create(file: PathBuf) -> Result<Self, LoadError> {
        match File::create_new(&file) {
            Ok(out) => Ok(Self { file, out: BufWriter::new(out), written: 0 }),
            Err(error) => Err(LoadError::Log { file, error }),
        }
    }

    fn write(&mut self, lines: &mut Vec<String>) -> Result<(), LoadError> {
        for line in lines.drain(..) {
            writeln!(self.out, "{line}")
                .map_err(|error| LoadError::Log { file: self.file.clone(), error })?;
            self.written += 1;
        }
        Ok(())
    }

    fn finish(mut self, unlogged: u64) -> Result<(), LoadError> {
        self.out.flush().map_err(|error| LoadError::Log { file: self.file.clone(), error })?;
        print(&format!("{} decisions logged, {unlogged} found no room", self.written))
    }
}
