//! The machine that a trace is simulated on, from the flags.

use crate::args::layout::{MachineChoice, MachineName};
use crate::misuse::misuse;
use crate::probe::look;
use miette::{IntoDiagnostic, WrapErr, miette};
use warmcore_cachesim::{Description, Straddling, machines};
use warmcore_layout::compare::CompareError;
use warmcore_layout::simulate::{Pipeline, Setup};
use warmcore_layout::trace::Trace;
use warmcore_linux::Probe;
use warmcore_topology::{CacheKind, CpuSet, Machine};
use warmcore_units::{Bytes, Cycles, Fault};

/// What each level of caches of today takes, and memory last: round figures that nobody measured here.
const LATENCIES: [u64; 4] = [4, 14, 50, 250];
/// The same of the DEC 3000/600. The source does not say how far memory is.
const LATENCIES_OF_1996: [u64; 3] = [1, 10, 50];

/// A machine, and what is assumed of it.
pub(super) struct Simulated {
    pub(super) setup: Setup,
    /// Sentences about what is assumed.
    pub(super) assumptions: Vec<String>,
}

/// The machine that `choice` names, for `trace`.
pub(super) fn simulated(choice: &MachineChoice, trace: &Trace) -> miette::Result<Simulated> {
    let (levels, memory) = latencies(choice)?;
    let mut assumptions = vec![in_words(&levels, memory)];
    let caches = match choice.machine {
        MachineName::This => {
            let probed = look(None, Probe::machine)?
                .into_diagnostic()
                .wrap_err("cannot look at the machine; --machine three-levels does without")?;
            assumptions.extend(probed.warnings.iter().map(|warning| format!("{warning}.")));
            let machine = one_cpu(probed.machine, &mut assumptions);
            Description::from_machine(&machine, &levels, memory)
        }
        MachineName::ThreeLevels => with_latencies(machines::three_levels(1), &levels, memory),
        MachineName::Dec3000 => with_latencies(machines::dec_3000_600(memory), &levels, memory),
    };
    let caches = match choice.machine {
        MachineName::Dec3000 => caches,
        // Instructions of x86-64 lie across lines, and processors fetch blocks, so that one that hits takes no longer.
        MachineName::This | MachineName::ThreeLevels => {
            Description { straddling: Straddling::Whole, ..caches }
        }
    };
    caches.check().map_err(|fault| impossible(&fault))?;
    refuse_surplus(choice.latencies.len(), &caches)?;
    let pipeline = match choice.machine {
        MachineName::Dec3000 => Pipeline::alpha_21064(),
        MachineName::This | MachineName::ThreeLevels => {
            assumptions.push("Before a perfect memory an instruction takes a cycle (iCPI is 1).".to_owned());
            Pipeline::scalar()
        }
    };
    let setup = Setup { caches, pipeline, start: choice.start, word: word(trace) };
    Ok(Simulated { setup, assumptions })
}

/// Something about the machine cannot be, in the words of the flags.
pub(super) fn impossible(fault: &Fault) -> miette::Report {
    misuse(format!(
        "--machine or --latencies: {} is {}, expected {}",
        fault.field, fault.found, fault.expected
    ))
}

/// Why layouts cannot be compared, in the words of the flags.
pub(super) fn refused(error: CompareError) -> miette::Report {
    match error {
        CompareError::Setup(fault) => impossible(&fault),
        CompareError::Relocate(error) => miette!("{error}"),
    }
}

/// What each level takes, and what memory takes.
fn latencies(choice: &MachineChoice) -> miette::Result<(Vec<Cycles>, Cycles)> {
    let given = match (&choice.latencies[..], choice.machine) {
        ([], MachineName::Dec3000) => &LATENCIES_OF_1996[..],
        ([], _) => &LATENCIES,
        (given, _) => given,
    };
    match given.split_last() {
        Some((&memory, levels)) if !levels.is_empty() => {
            Ok((levels.iter().copied().map(Cycles).collect(), Cycles(memory)))
        }
        _ => Err(misuse("--latencies: expected those of at least one level of caches, and memory last")),
    }
}

/// Refuses more latencies than there are levels, and memory.
fn refuse_surplus(given: usize, caches: &Description) -> miette::Result<()> {
    let levels = caches.caches.iter().map(|cache| cache.level).max().unwrap_or_default() as usize;
    if given <= levels + 1 {
        return Ok(());
    }
    let one_each = if levels == 1 {
        "its level of caches".to_owned()
    } else {
        format!("each of its {levels} levels of caches")
    };
    Err(misuse(format!(
        "--latencies: {given} are given, expected {} for {}: one for {one_each}, and memory last",
        levels + 1,
        caches.name
    )))
}

fn in_words(levels: &[Cycles], memory: Cycles) -> String {
    let levels: Vec<String> = levels.iter().map(|cycles| cycles.0.to_string()).collect();
    format!(
        "Caches take {} cycles, level by level, and memory {}: assumed, not measured (--latencies).",
        levels.join(", "),
        memory.0
    )
}

/// The same with other latencies.
fn with_latencies(description: Description, levels: &[Cycles], memory: Cycles) -> Description {
    let latency = |level: u32| levels.get(level as usize - 1).or(levels.last()).copied().unwrap_or_default();
    let changed = description.with(|cache| cache.latency = latency(cache.level));
    Description { memory, ..changed }
}

/// The caches of the first cpu that may be used, each for it alone.
fn one_cpu(machine: Machine, assumptions: &mut Vec<String>) -> Machine {
    let first = machine.limits.allowed.first().or(machine.cpus.first().map(|cpu| cpu.id)).unwrap_or_default();
    let mut caches = machine.caches;
    caches.retain(|cache| cache.shared_by.contains(first));
    for cache in &mut caches {
        cache.shared_by = CpuSet::from_iter([first]);
        let geometry = &mut cache.geometry;
        let (sets, found) = (geometry.sets(), geometry.size);
        if sets > 0 && !sets.is_power_of_two() {
            let sets = 1 << sets.ilog2();
            geometry.size = Bytes(geometry.line.0 * u64::from(geometry.ways) * sets);
            let (name, taken) = (cache_name(cache.level, cache.kind), geometry.size);
            assumptions.push(format!("{name} of {found} is simulated with {taken}: a power of two of sets."));
        }
    }
    Machine { caches, ..machine }
}

/// `L1 instruction`, `L2`.
pub(super) fn cache_name(level: u32, kind: CacheKind) -> String {
    match kind {
        CacheKind::Unified => format!("L{level}"),
        kind => format!("L{level} {kind}"),
    }
}

/// The unit of code: 4 bytes where all instructions have as many, else one.
fn word(trace: &Trace) -> Bytes {
    Bytes(if trace.instructions().iter().all(|instruction| instruction.length == 4) { 4 } else { 1 })
}
