//! A trace through the source's caches and processor.

use super::super::points::{CacheCounts, Run};
use super::MEMORY;
use warmcore_layout::lab::LabError;
use warmcore_layout::lab::dec_3000_600;
use warmcore_layout::order::{CallGraph, Placement, Site, Strategy};
use warmcore_layout::relocate::relocate;
use warmcore_layout::simulate::{Column, Setup, Start};
use warmcore_layout::trace::{Class, Instruction, Registers, Trace};

/// Where clones lie: after everything else of the program.
const BASE: u64 = 0x0400_0000;
/// Bytes of an instruction.
const INSTRUCTION: u64 = 4;

/// The source's machine, for counts and for cycles.
pub(super) struct Simulator {
    cold: Setup,
    resumed: Setup,
}

/// The place for clones.
pub(super) fn site() -> Result<Site, LabError> {
    Ok(dec_3000_600::site(BASE, MEMORY)?)
}

impl Simulator {
    /// With memory so many cycles away.
    pub(super) fn new(memory: u64) -> Result<Self, LabError> {
        let setup = dec_3000_600::setup(memory);
        Ok(Self { cold: setup.clone(), resumed: setup.starting(Start::NearestCold) })
    }

    /// As it lies, and then with the program's functions in `orders` random orders.
    pub(super) fn runs(&self, trace: &Trace, orders: u32) -> Result<Vec<Run>, LabError> {
        let mut runs = vec![run(self, trace)?];
        for seed in 0..u64::from(orders) {
            runs.push(run(self, &relocate(trace, &linked(trace, seed)?)?)?);
        }
        Ok(runs)
    }
}

/// All functions of the program in a random order, executed or not, one behind the other from where the first one was: what
/// a linker makes that gets one section for each function. Only executed ones side by side would be a kind of cloning.
fn linked(trace: &Trace, seed: u64) -> Result<Placement, LabError> {
    let mut all = Trace::new(trace.functions().to_vec());
    for function in trace.functions() {
        all.push(&entry(function.address), &[]);
    }
    let base = trace.functions().first().map_or(BASE, |first| first.address);
    let site = dec_3000_600::site(base, MEMORY)?;
    Ok(Strategy::Random { seed }.place(&all, &CallGraph::new(&all), &site)?)
}

/// An instruction at `address`: a strategy places what is executed.
const fn entry(address: u64) -> Instruction {
    let none = Registers(0);
    Instruction {
        address,
        length: INSTRUCTION as u8,
        class: Class::Other,
        reads: none,
        writes: none,
        target: None,
    }
}

/// What one round trip amounts to.
pub(super) fn run(simulator: &Simulator, trace: &Trace) -> Result<Run, LabError> {
    let cold = simulator.cold.run(trace)?;
    let resumed = simulator.resumed.run(trace)?;
    let column = |at: usize| cold.columns.get(at).map_or_else(CacheCounts::default, counts);
    Ok(Run {
        instructions: cold.instructions,
        issue_cycles: resumed.pipeline.cycles.0,
        stall_cycles: resumed.stalls.all().0,
        instruction_cache: column(0),
        data_cache: column(1),
        board_cache: column(2),
        unused: cold.path.unused_part(),
        main_line: cold.path.main_line.0 / INSTRUCTION,
        calls: trace.steps().filter(|step| step.instruction.class == Class::Call).count() as u64,
    })
}

const fn counts(column: &Column) -> CacheCounts {
    CacheCounts { misses: column.misses, accesses: column.accesses, replacements: column.replacements }
}
