//! A trace through the source's caches and processor.

use super::super::points::{CacheCounts, Run};
use super::MEMORY;
use warmcore_layout::lab::LabError;
use warmcore_layout::lab::dec_3000_600;
use warmcore_layout::order::{CallGraph, Site, Strategy};
use warmcore_layout::relocate::relocate;
use warmcore_layout::simulate::{Column, Setup, Start};
use warmcore_layout::trace::Trace;

/// Where clones and reordered functions lie: after everything else of the program.
const BASE: u64 = 0x0400_0000;
/// Bytes of an instruction.
const INSTRUCTION: u64 = 4;

/// The source's machine, for counts and for cycles.
pub(super) struct Simulator {
    cold: Setup,
    resumed: Setup,
}

/// The place for clones and reordered functions.
pub(super) fn site() -> Result<Site, LabError> {
    Ok(dec_3000_600::site(BASE, MEMORY)?)
}

impl Simulator {
    /// With memory so many cycles away.
    pub(super) fn new(memory: u64) -> Result<Self, LabError> {
        let setup = dec_3000_600::setup(memory);
        Ok(Self { cold: setup.clone(), resumed: setup.starting(Start::NearestCold) })
    }

    /// As it lies, and then in `orders` random orders of its functions.
    pub(super) fn runs(&self, trace: &Trace, orders: u32) -> Result<Vec<Run>, LabError> {
        let graph = CallGraph::new(trace);
        let mut runs = vec![run(self, trace)?];
        for seed in 0..u64::from(orders) {
            let placement = Strategy::Random { seed }.place(trace, &graph, &site()?)?;
            runs.push(run(self, &relocate(trace, &placement)?)?);
        }
        Ok(runs)
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
    })
}

const fn counts(column: &Column) -> CacheCounts {
    CacheCounts { misses: column.misses, accesses: column.accesses, replacements: column.replacements }
}
