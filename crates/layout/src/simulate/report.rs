//! From the last round of a simulation to its summary.

use super::code::Block;
use super::columns::Side;
use super::path::PathSize;
use super::round::{Round, Simulation};
use super::summary::{
    BlockFigures, Column, Displaced, Figures, FunctionFigures, LineFigures, Misses, Summary, Words,
};
use std::collections::BTreeMap;
use warmcore_cachesim::CacheId;
use warmcore_units::Bytes;

impl Simulation<'_> {
    /// What `round`, the last one, amounted to.
    pub(super) fn summary(&self, round: &Round, rounds: u32, settled: bool) -> Summary {
        let blocks = self.blocks();
        let mut words = Words::default();
        blocks.iter().for_each(|block| words += block.figures.words);
        let line = self.line(self.columns.headings[0].cache);
        Summary {
            machine: self.setup.caches.name.clone(),
            rounds,
            settled,
            instructions: round.pipeline.instructions,
            columns: self.table(round),
            stalls: round.stalls,
            pipeline: round.pipeline,
            words,
            path: PathSize::new(self.trace, &self.code.blocks, line),
            functions: self.functions(&blocks),
            lines: self.lines(line),
            displaced: self.who_displaces(round),
            blocks,
        }
    }

    fn table(&self, round: &Round) -> Vec<Column> {
        let counts = round.asked.iter().zip(&round.misses);
        let column =
            |(heading, (&(asked, passed_on), misses)): (&super::columns::Heading, (&_, &Misses))| Column {
                cache: heading.cache.0,
                level: self.setup.caches.caches[heading.cache.index()].level,
                side: heading.side,
                misses: misses.misses + passed_on,
                accesses: if heading.side == Side::Instructions {
                    round.pipeline.instructions
                } else {
                    asked
                },
                replacements: misses.replacements,
                passed_on,
            };
        self.columns.headings.iter().zip(counts).map(column).collect()
    }

    fn blocks(&self) -> Vec<BlockFigures> {
        let watch = &self.caches.observer().0;
        let words = watch.words();
        let figures = |at: usize| BlockFigures {
            function: self.code.blocks[at].function,
            address: self.code.blocks[at].address,
            size: size(&self.code.blocks[at]),
            executions: self.tallies[at].executions,
            figures: Figures {
                instructions: self.tallies[at].instructions,
                misses: watch.misses(at).to_vec(),
                stalls: self.tallies[at].stalls,
                cycles: self.tallies[at].cycles,
                words: words[at],
            },
        };
        (0..self.code.blocks.len()).map(figures).collect()
    }

    fn functions(&self, blocks: &[BlockFigures]) -> Vec<FunctionFigures> {
        let mut sums: BTreeMap<u32, Figures> = BTreeMap::new();
        for block in blocks {
            *sums.entry(block.function.unwrap_or(u32::MAX)).or_default() += &block.figures;
        }
        let figures = |(at, figures): (u32, Figures)| {
            let function = self.trace.functions().get(at as usize);
            FunctionFigures {
                function: function.map(|_| at),
                name: function.map_or_else(String::new, |function| function.name.clone()),
                size: Bytes(function.map_or(0, |function| function.size)),
                figures,
            }
        };
        sums.into_iter().map(figures).collect()
    }

    /// The lines of `line` bytes in the nearest cache for instructions.
    fn lines(&self, line: u64) -> Vec<LineFigures> {
        let mut functions: BTreeMap<u64, Vec<Option<u32>>> = BTreeMap::new();
        for block in &self.code.blocks {
            for number in block.address / line..=block.end.saturating_sub(1) / line {
                let there = functions.entry(number).or_default();
                if !there.contains(&block.function) {
                    there.push(block.function);
                }
            }
        }
        let mut figures = self.caches.observer().0.lines();
        for &number in figures.keys() {
            functions.entry(number).or_default();
        }
        let figures = |(number, functions): (u64, Vec<Option<u32>>)| {
            let (misses, words) = figures.remove(&number).unwrap_or_default();
            LineFigures { address: number.saturating_mul(line), functions, misses, words }
        };
        functions.into_iter().map(figures).collect()
    }

    fn who_displaces(&self, round: &Round) -> Vec<Displaced> {
        let mut all: Vec<Displaced> = Vec::new();
        for (heading, tally) in self.columns.headings.iter().zip(&round.displaced) {
            if all.iter().all(|other| other.cache != heading.cache.0) {
                all.push(Displaced {
                    cache: heading.cache.0,
                    functions: tally.functions(&self.code.blocks),
                    lines: tally.lines(self.line(heading.cache)),
                });
            }
        }
        all
    }

    fn line(&self, cache: CacheId) -> u64 {
        self.setup.caches.caches[cache.index()].geometry.line.0
    }
}

fn size(block: &Block) -> Bytes {
    Bytes(block.end.saturating_sub(block.address))
}
