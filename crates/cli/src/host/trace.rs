//! `warmcore host trace`: what this machine runs, as a scenario of a run queue.

use crate::args::sched::TraceArguments;
use crate::calibrate::existing;
use crate::misuse::{OrMisuse, misuse};
use crate::terminal::table;
use crate::visible::visible;
use crate::{folder, interrupt, messages};
use miette::{IntoDiagnostic, miette};
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;
use warmcore_linux::Probe;
use warmcore_linux::sched_trace::{
    KernelScheduler, Recorded, SchedRecord, SchedTrace, all_threads, attributes, sessions_are_groups,
};
use warmcore_record::atomic_file;
use warmcore_scenario::runqueue::{FairScheduler, RecordedFigures};
use warmcore_study::mix::{self, Delays, Mix, Selection, Threads};
use warmcore_units::Nanos;

/// How many applications are printed.
const PRINTED: usize = 12;

pub(super) fn run(arguments: &TraceArguments) -> miette::Result<()> {
    let TraceArguments { seconds, out, force, .. } = arguments;
    atomic_file::check(out, existing(*force)).or_misuse()?;
    let selection = selection(arguments)?;
    let stop = interrupt::catch()?;
    let kernel = KernelScheduler::read();
    let sessions = sessions_are_groups();
    let mut threads = Threads::default();
    for thread in all_threads() {
        if let Some(known) = attributes(thread, sessions) {
            threads.foresee(thread, known);
        }
    }
    let mut trace = SchedTrace::start().into_diagnostic()?;
    messages::detail(format_args!("recording the scheduler's events for {seconds:?}"));
    let begun = Instant::now();
    while begun.elapsed() < *seconds && !stop.load(Ordering::SeqCst) {
        trace.read(&mut |record: &SchedRecord<'_>| threads.record(record)).into_diagnostic()?;
        for thread in threads.undescribed() {
            threads.describe(thread, attributes(thread, sessions));
        }
    }
    let recorded = trace.finish(&mut |record: &SchedRecord<'_>| threads.record(record)).into_diagnostic()?;
    // This process may be kept from some of them; what is recorded is not.
    let cpus = Probe::new().online().into_diagnostic()?.len();
    let (scheduler, assumed) = scheduler(kernel);
    let mix = mix::mix(threads, u32::try_from(cpus).into_diagnostic()?, scheduler, &selection);
    let mix = mix.into_diagnostic()?;
    let document = comments(&mix, recorded, &assumed) + &toml::to_string(&mix.scenario).into_diagnostic()?;
    folder::write(out, document.as_bytes(), existing(*force))?;
    let shown = out.display();
    let next = format!("The scenario: {shown}. `warmcore simulate runqueue --scenario {shown}` runs it.\n");
    crate::output::print((summary(&mix, recorded) + &next).as_bytes())?;
    if stop.load(Ordering::SeqCst) {
        return Err(miette!("interrupted"));
    }
    Ok(())
}

/// Where control groups are mounted.
const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

/// Whether there is a control group of this name, in the one hierarchy or in one of several; true if that cannot be told.
fn is_control_group(name: &str) -> bool {
    let below = name.trim_start_matches('/');
    let Ok(hierarchies) = std::fs::read_dir(CONTROL_GROUPS) else { return true };
    Path::new(CONTROL_GROUPS).join(below).is_dir()
        || hierarchies.flatten().any(|hierarchy| hierarchy.path().join(below).is_dir())
}

/// The threads that are asked for.
fn selection(arguments: &TraceArguments) -> miette::Result<Selection> {
    let absent = arguments.pid.iter().find(|pid| !Path::new(&format!("/proc/{pid}")).exists());
    if let Some(pid) = absent {
        return Err(misuse(format!("--pid {pid}: no process has this number")));
    }
    if arguments.command.iter().any(String::is_empty) {
        return Err(misuse("--command is empty: give the name of a process's program, such as `rustc`"));
    }
    if let Some(group) = arguments.cgroup.iter().find(|group| !is_control_group(group)) {
        return Err(misuse(format!(
            "--cgroup {}: no control group of this name below {CONTROL_GROUPS}",
            visible(group)
        )));
    }
    Ok(Selection {
        processes: arguments.pid.clone(),
        commands: arguments.command.clone(),
        control_groups: arguments.cgroup.clone(),
    })
}

/// What was recorded in all, a line each.
fn totals(mix: &Mix, recorded: Recorded) -> [String; 3] {
    let Mix { scenario, figures: RecordedFigures { utilisation, dispatches, migrations, .. }, .. } = mix;
    let seconds = mix.recorded.secs();
    let Recorded { events, lost, malformed } = recorded;
    let mut read = format!("{events} events of the scheduler");
    if lost > 0 {
        let _ = write!(read, "; {lost} came too fast and were lost: counts are too low");
    }
    if malformed > 0 {
        let _ = write!(read, "; {malformed} lines could not be read");
    }
    if mix.inferred > 0 {
        let _ = write!(read, "; {} switches are missing in the trace and were inferred", mix.inferred);
    }
    [
        format!("recorded {seconds:.2} s on {} cpus: {read}", scenario.machine.cpus),
        format!("utilisation {:.1}%, dispatches {dispatches}, migrations {migrations}", 100.0 * utilisation),
        "migrations are dispatches on another cpu than the thread's last; the kernel's migration threads are left out"
            .to_owned(),
    ]
}

/// The scheduler of this machine, and what of it the kernel does not tell.
fn scheduler(kernel: KernelScheduler) -> (FairScheduler, Vec<&'static str>) {
    let mut assumed = Vec::new();
    let linux = FairScheduler::default();
    let mut time = |name, told: Option<Nanos>| {
        if told.is_none() {
            assumed.push(name);
        }
        told.map(|time| time.0 / 1e6)
    };
    let slice_ms = time("slice_ms", kernel.slice);
    let tick_ms = time("tick_ms", kernel.tick).unwrap_or(linux.tick_ms);
    let migration_cost_ms =
        time("migration_cost_ms", kernel.migration_cost).unwrap_or(linux.migration_cost_ms);
    let mut feature = |name, told: Option<bool>, assumption| {
        told.unwrap_or_else(|| {
            assumed.push(name);
            assumption
        })
    };
    let scheduler = FairScheduler {
        slice_ms,
        tick_ms,
        migration_cost_ms,
        run_to_parity: feature("run_to_parity", kernel.run_to_parity, linux.run_to_parity),
        wakeup_preemption: feature("wakeup_preemption", kernel.wakeup_preemption, linux.wakeup_preemption),
        delay_dequeue: feature("delay_dequeue", kernel.delay_dequeue, linux.delay_dequeue),
        ..linux
    };
    (scheduler, assumed)
}

fn comments(mix: &Mix, recorded: Recorded, assumed: &[&str]) -> String {
    let totals = totals(mix, recorded).map(|line| format!("# {line}\n")).concat();
    let told = match assumed {
        [] => "# The scheduler's constants are this machine's.\n".to_owned(),
        some => format!(
            "# The scheduler's constants are this machine's, but Linux's defaults for {}.\n",
            some.join(", ")
        ),
    };
    let background = match mix.scenario.applications.iter().any(|one| one.background) {
        true => {
            "# Only a part was asked for. All other threads are one application in the background, which takes cpus and wakes up \
             others as they did; gains do not count it.\n"
        }
        false => "",
    };
    totals
        + &told
        + background
        + "# Cache misses are in the times that were recorded: none are charged besides.\n"
}

/// A delay in milliseconds, if there was any.
fn delay(delays: &Delays, delay: Nanos) -> String {
    if delays.count == 0 { "–".to_owned() } else { format!("{:.3} ms", delay.0 / 1e6) }
}

fn summary(mix: &Mix, recorded: Recorded) -> String {
    let [first, second, _] = totals(mix, recorded);
    let mut shown = table([
        "command",
        "threads",
        "at a time",
        "ran",
        "waited",
        "delay, average",
        "longest",
        "dispatches",
        "migrations",
        "stops",
        "to device",
        "by irq",
    ]);
    // What is in the background comes last.
    let (background, own): (Vec<_>, Vec<_>) = mix.applications.iter().partition(|one| one.is_background);
    for one in own.iter().take(PRINTED).chain(&background) {
        shown.add_row([
            visible(&one.command),
            one.threads.to_string(),
            format!("{:.1}", one.at_a_time),
            format!("{:.2} s", one.ran.secs()),
            format!("{:.2} s", one.waited.secs()),
            delay(&one.delays, one.delays.mean()),
            delay(&one.delays, one.delays.longest),
            one.dispatches.to_string(),
            one.migrations.to_string(),
            one.stops.to_string(),
            one.uninterruptible.to_string(),
            format!("{:.0}%", 100.0 * one.woken_by_interrupts),
        ]);
    }
    let more = match own.len().checked_sub(PRINTED) {
        Some(more @ 1..) => format!("and {more} more\n"),
        _ => String::new(),
    };
    format!("{first}\n{second}\n\n{shown}\n{more}\n")
}
