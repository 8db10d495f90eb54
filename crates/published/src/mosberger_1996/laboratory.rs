//! Obtains what can be simulated: the stacks of `layout`'s laboratory, traced and run through the source's caches.
//!
//! Counts are those of cold caches, as in Table 6. Cycles are those of a path that resumes: the nearest caches are empty,
//! since other code ran in between, and the board's cache holds what the path left there, as in the source's
//! measurements ("all versions run out of the b-cache", §4.4.3).

mod builds;
mod runs;
mod stages;

use super::points::{
    Assumed, AtDistance, Build, Classified, Improvement, Measurements, Point, Protocols, Saving, name,
};
use super::tables::TABLE_1;
use builds::{HOTTEST, HOTTEST_PRINTED, bad, traced};
use runs::{Simulator, run};
use warmcore_layout::lab::{Classifying, Form, LabError, Switches, trace};
use warmcore_layout::trace::Trace;

/// Cycles to memory. The text does not say how many: 50 is assumed, five times as far as the board's cache, and no claim was used to
/// choose it. A block of 32 bytes takes 56 at the 100 MB/s of §5.
pub const MEMORY: u64 = 50;
/// Distances that may be meant as well: from twice that of the board's cache to over twice that of §5's bandwidth.
pub const DISTANCES: [u64; 6] = [20, 35, 50, 70, 100, 130];

/// How much is simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Random orders of each build whose order is left to the linker.
    pub orders: u32,
}

impl Effort {
    /// For a report.
    pub const FULL: Self = Self { orders: 100 };
    /// The same places, with wider ranges.
    pub const QUICK: Self = Self { orders: 20 };
}

/// Simulates everything but the round trips. `progress` is called with what is done next, and how much of all is done.
///
/// # Errors
/// Never, unless the images are damaged.
pub fn simulate(effort: Effort, progress: &mut dyn FnMut(&str, f64)) -> Result<Measurements, LabError> {
    let simulator = Simulator::new(MEMORY)?;
    let pairs: Vec<(Protocols, Build)> =
        Protocols::ALL.into_iter().flat_map(|stack| Build::ALL.map(|build| (stack, build))).collect();
    let mut points = Vec::new();
    let mut traces = Vec::new();
    for (at, &(stack, build)) in pairs.iter().enumerate() {
        progress(&name(stack, build), at as f64 / pairs.len() as f64);
        let traced = traced(stack, build, Switches::IMPROVED)?;
        let orders = if build.is_placed() { 0 } else { effort.orders };
        let runs = simulator.runs(&traced, orders)?;
        let assumed = assumed(stack, build, &traced, orders)?;
        points.push(Point { stack, build, runs, assumed, round_trips: Vec::new() });
        traces.push((stack, build, traced));
    }
    progress("the changes of §2.2", 1.0);
    Ok(Measurements {
        machine: String::new(),
        memory_cycles: MEMORY,
        points,
        savings: savings()?,
        improvement: Some(improvement(&simulator)?),
        stages: stages::stages(&traced(Protocols::TcpIp, Build::Std, Switches::IMPROVED)?),
        classified: Protocols::ALL
            .into_iter()
            .map(|stack| classified(&simulator, stack))
            .collect::<Result<_, _>>()?,
        by_memory: by_memory(&traces)?,
        missing: Vec::new(),
    })
}

/// A build under the other assumptions that the text permits; none where no access waits for memory once the path was there.
fn assumed(stack: Protocols, build: Build, traced: &Trace, orders: u32) -> Result<Vec<Assumed>, LabError> {
    let at = |memory_cycles, trace: &Trace| Simulator::new(memory_cycles)?.runs(trace, orders);
    let [nearest, .., farthest] = DISTANCES;
    let waiting =
        |memory_cycles| Ok::<_, LabError>(run(&Simulator::new(memory_cycles)?, traced)?.stall_cycles);
    if waiting(nearest)? == waiting(farthest)? {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    let few = if build == Build::Bad { Some(bad(stack, HOTTEST_PRINTED, Switches::IMPROVED)?) } else { None };
    for memory_cycles in DISTANCES {
        let runs = at(memory_cycles, traced)?;
        let other = few.as_ref().map_or_else(|| Ok(runs.clone()), |few| at(memory_cycles, few))?;
        all.push(Assumed { hottest: HOTTEST_PRINTED, memory_cycles, runs: other });
        all.push(Assumed { hottest: HOTTEST, memory_cycles, runs });
    }
    Ok(all)
}

/// The TCP/IP stack of build STD with these changes.
fn changed(switches: Switches) -> Result<Trace, LabError> {
    trace(&Form::Std.image()?, Protocols::TcpIp, switches)
}

/// Table 1: what the path has more without each change.
fn savings() -> Result<Vec<Saving>, LabError> {
    let length = |switches| Ok::<_, LabError>(changed(switches)?.steps().len() as i64);
    let improved = length(Switches::IMPROVED)?;
    let without = |switches| Ok::<_, LabError>(Some(length(switches)? - improved));
    let all = Switches::IMPROVED;
    let found = [
        (
            None,
            "The machine of ours loads and stores bytes and shorts in one instruction, as the first Alphas could not: \
                there is nothing to take back.",
        ),
        (
            without(Switches { refresh_in_place: false, ..all })?,
            "A new buffer is filled with zeros, which the \
                source's is not.",
        ),
        (without(Switches { direct_descriptors: false, ..all })?, ""),
        (without(Switches { inline_cache_test: false, ..all })?, ""),
        (None, "What the source inlined it does not say."),
        (
            without(Switches { avoid_division: false, ..all })?,
            "The machine of ours divides in one instruction; the Alpha \
                calls a function for it.",
        ),
        (None, "What they were the source does not say."),
    ];
    let saving = |((technique, _), (instructions, note)): (&(&str, u64), (Option<i64>, &str))| Saving {
        technique: (*technique).to_owned(),
        instructions,
        note: note.to_owned(),
    };
    Ok(TABLE_1.iter().zip(found).map(saving).collect())
}

/// Table 2.
fn improvement(simulator: &Simulator) -> Result<Improvement, LabError> {
    let [original, improved] = [Switches::ORIGINAL, Switches::IMPROVED].map(changed);
    Ok(Improvement { original: run(simulator, &original?)?, improved: run(simulator, &improved?)? })
}

/// What the classifier adds to build ALL.
fn classified(simulator: &Simulator, stack: Protocols) -> Result<Classified, LabError> {
    let switches = Switches { classifying: Classifying::Yes, ..Switches::IMPROVED };
    let without = run(simulator, &traced(stack, Build::All, Switches::IMPROVED)?)?;
    let with = run(simulator, &traced(stack, Build::All, switches)?)?;
    Ok(Classified {
        stack,
        instructions: with.instructions - without.instructions,
        cycles: with.cycles() as i64 - without.cycles() as i64,
    })
}

/// mCPI of every build at other distances of memory.
fn by_memory(traces: &[(Protocols, Build, Trace)]) -> Result<Vec<AtDistance>, LabError> {
    let at = |cycles| {
        let simulator = Simulator::new(cycles)?;
        let mcpi = |(stack, build, trace): &(Protocols, Build, Trace)| {
            Ok::<_, LabError>((name(*stack, *build), run(&simulator, trace)?.memory_cpi()))
        };
        Ok((cycles, traces.iter().map(mcpi).collect::<Result<_, LabError>>()?))
    };
    DISTANCES.into_iter().map(at).collect()
}
