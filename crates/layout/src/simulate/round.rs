//! One execution of a trace.

use super::code::Code;
use super::columns::Columns;
use super::displaced::Tally;
use super::pipeline::{PipelineFigures, PipelineRun};
use super::summary::{Misses, Stalls};
use super::watch::Watch;
use super::{Setup, Start};
use crate::trace::{Access, Instruction, Trace};
use warmcore_cachesim::observe::Displacements;
use warmcore_cachesim::{Counts, Hierarchy, Kind, Owner, Reference};
use warmcore_units::{Cycles, Fault};

/// Caches and a pipeline, and the trace that goes through them.
pub(super) struct Simulation<'a> {
    pub(super) setup: &'a Setup,
    pub(super) trace: &'a Trace,
    pub(super) code: Code,
    pub(super) columns: Columns,
    pub(super) caches: Hierarchy<(Watch, Displacements)>,
    pipeline: PipelineRun,
    /// By block.
    pub(super) tallies: Vec<BlockTally>,
}

/// What one block did in a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockTally {
    pub(super) executions: u64,
    pub(super) instructions: u64,
    pub(super) stalls: Stalls,
    pub(super) cycles: Cycles,
}

/// What a round amounted to.
pub(super) struct Round {
    /// By column: how often it was asked, and what it passed on.
    pub(super) asked: Vec<(u64, u64)>,
    /// By column: lines that were brought in.
    pub(super) misses: Vec<Misses>,
    pub(super) stalls: Stalls,
    pub(super) pipeline: PipelineFigures,
    /// Who displaced whom, column by column.
    pub(super) displaced: Vec<Tally>,
}

impl Round {
    /// Whether it missed as often and took as long as `other`.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (&self.asked, &self.misses, self.stalls, self.pipeline)
            == (&other.asked, &other.misses, other.stalls, other.pipeline)
    }
}

impl<'a> Simulation<'a> {
    /// Cold caches.
    pub(super) fn new(setup: &'a Setup, trace: &'a Trace) -> Result<Self, Fault> {
        setup.caches.check()?;
        let columns = Columns::new(&setup.caches)?;
        let code = Code::new(trace);
        let watch = Watch::new(&setup.caches, &columns, code.blocks.len(), setup.word.0);
        Ok(Self {
            caches: Hierarchy::observed(&setup.caches, (watch, Displacements::default()))?,
            pipeline: PipelineRun::new(setup.pipeline),
            tallies: vec![BlockTally::default(); code.blocks.len()],
            setup,
            trace,
            code,
            columns,
        })
    }

    /// Something else has run: what the nearest caches hold and once held is gone.
    fn empty_nearest(&mut self) {
        for heading in &self.columns.headings[..2] {
            self.caches.empty(heading.cache);
            self.caches.observer_mut().0.forget(heading.cache);
        }
    }

    /// Executes the trace once more.
    pub(super) fn round(&mut self) -> Round {
        if self.setup.start == Start::NearestCold {
            self.empty_nearest();
        }
        let before = (self.asked(), self.displaced());
        self.caches.observer_mut().0.restart();
        self.pipeline.restart();
        self.tallies.fill(BlockTally::default());
        self.execute();
        self.caches.drain();
        let (mut asked, mut displaced) = (self.asked(), self.displaced());
        for (now, then) in asked.iter_mut().zip(before.0) {
            *now = (now.0 - then.0, now.1 - then.1);
        }
        displaced.iter_mut().zip(&before.1).for_each(|(now, then)| now.subtract(then));
        let mut stalls = Stalls::default();
        self.tallies.iter().for_each(|tally| stalls += tally.stalls);
        Round { asked, misses: self.misses(), stalls, pipeline: self.pipeline.figures(), displaced }
    }

    fn execute(&mut self) {
        let instructions = self.trace.instructions();
        let mut steps = self.trace.executed().peekable();
        while let Some((at, accesses)) = steps.next() {
            let instruction = &instructions[at];
            let next = steps.peek().map(|&(next, _)| instructions[next].address);
            self.step(at, instruction, accesses, next);
        }
    }

    #[inline]
    fn step(&mut self, at: usize, instruction: &Instruction, accesses: &[Access], next: Option<u64>) {
        let block = self.code.block_of[at];
        let owner = Owner(block);
        let fetch = Reference::new(Kind::Fetch, instruction.address, u16::from(instruction.length));
        let fetched = self.stall(fetch.by(owner), 0);
        let mut data = Cycles(0);
        for access in accesses {
            data += self.stall(Reference::new(access.kind, access.address, access.size).by(owner), 1);
        }
        let cycles = self.pipeline.issue(instruction, next);
        let tally = &mut self.tallies[block as usize];
        tally.executions += u64::from(self.code.blocks[block as usize].first as usize == at);
        tally.instructions += 1;
        tally.stalls += Stalls { instructions: fetched, data };
        tally.cycles += cycles;
    }

    /// What `reference` takes beyond a hit.
    #[inline]
    fn stall(&mut self, reference: Reference, side: usize) -> Cycles {
        let served = self.caches.access(self.columns.cpu, reference);
        Cycles(served.cycles.0.saturating_sub(self.columns.nearest[side].0))
    }

    /// How often each column has been asked, and what it passed on.
    fn asked(&self) -> Vec<(u64, u64)> {
        let counts: Counts = self.caches.counts();
        let columns = 0..self.columns.headings.len();
        columns.map(|column| self.columns.asked(&self.setup.caches, column, &counts)).collect()
    }

    fn misses(&self) -> Vec<Misses> {
        let watch = &self.caches.observer().0;
        let mut sums = vec![Misses::default(); self.columns.headings.len()];
        for block in 0..self.code.blocks.len() {
            sums.iter_mut().zip(watch.misses(block)).for_each(|(sum, &one)| *sum += one);
        }
        sums
    }

    fn displaced(&self) -> Vec<Tally> {
        let observer = &self.caches.observer().1;
        self.columns.headings.iter().map(|heading| Tally::new(observer, heading.cache)).collect()
    }
}
