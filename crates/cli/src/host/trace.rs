//! `warmcore host trace`: what this machine runs, as a scenario of a run queue.

use crate::args::sched::TraceArguments;
use crate::calibrate::existing;
use crate::misuse::OrMisuse;
use crate::visible::visible;
use crate::{folder, interrupt, messages};
use miette::{IntoDiagnostic, miette};
use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::time::Instant;
use warmcore_linux::Probe;
use warmcore_linux::sched_trace::{Recorded, SchedRecord, SchedTrace};
use warmcore_record::atomic_file;
use warmcore_study::mix::{self, Mix, Threads};

/// How many applications are printed.
const PRINTED: usize = 12;

pub(super) fn run(arguments: &TraceArguments) -> miette::Result<()> {
    let TraceArguments { seconds, out, force } = arguments;
    atomic_file::check(out, existing(*force)).or_misuse()?;
    let stop = interrupt::catch()?;
    // The only thread of this process that does anything.
    let mut threads = Threads::new([std::process::id()]);
    let mut on = |record: &SchedRecord<'_>| threads.record(record);
    let mut trace = SchedTrace::start().into_diagnostic()?;
    messages::detail(format_args!("recording the scheduler's events for {seconds:?}"));
    let begun = Instant::now();
    while begun.elapsed() < *seconds && !stop.load(Ordering::SeqCst) {
        trace.read(&mut on).into_diagnostic()?;
    }
    let recorded = trace.finish(&mut on).into_diagnostic()?;
    // This process may be kept from some of them; what is recorded is not.
    let cpus = Probe::new().online().into_diagnostic()?.len();
    let mix = mix::mix(threads, u32::try_from(cpus).into_diagnostic()?)
        .ok_or_else(|| miette!("nothing ran while it was recorded"))?;
    let document = comments(&mix, recorded) + &toml::to_string(&mix.scenario).into_diagnostic()?;
    folder::write(out, document.as_bytes(), existing(*force))?;
    let shown = out.display();
    let next = format!("The scenario: {shown}. `warmcore simulate runqueue --scenario {shown}` runs it.\n");
    crate::output::print((table(&mix, recorded) + &next).as_bytes())?;
    if stop.load(Ordering::SeqCst) {
        return Err(miette!("interrupted"));
    }
    Ok(())
}

/// What was recorded in all, a line each.
fn totals(mix: &Mix, recorded: Recorded) -> [String; 3] {
    let Mix { scenario, utilisation, dispatches, migrations, .. } = mix;
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
        "migrations are dispatches on another cpu than the thread's last; this program is left out"
            .to_owned(),
    ]
}

fn comments(mix: &Mix, recorded: Recorded) -> String {
    let totals = totals(mix, recorded).map(|line| format!("# {line}\n")).concat();
    totals + "# Cache misses are in the times that were recorded: none are charged besides.\n"
}

fn table(mix: &Mix, recorded: Recorded) -> String {
    let [first, second, _] = totals(mix, recorded);
    let mut text = format!(
        "{first}\n{second}\n\n{:<16} {:>7} {:>9} {:>7} {:>7} {:>10} {:>10} {:>9} {:>9} {:>10}\n",
        "command",
        "threads",
        "at a time",
        "ran",
        "waited",
        "dispatches",
        "migrations",
        "stops",
        "to device",
        "by irq"
    );
    for one in mix.applications.iter().take(PRINTED) {
        let _ = writeln!(
            text,
            "{:<16} {:>7} {:>9.1} {:>6.2}s {:>6.2}s {:>10} {:>10} {:>9} {:>9} {:>9.0}%",
            visible(&one.command),
            one.threads,
            one.at_a_time,
            one.ran.secs(),
            one.waited.secs(),
            one.dispatches,
            one.migrations,
            one.stops,
            one.uninterruptible,
            100.0 * one.woken_by_interrupts,
        );
    }
    if mix.applications.len() > PRINTED {
        let _ = writeln!(text, "and {} more", mix.applications.len() - PRINTED);
    }
    text + "\n"
}
