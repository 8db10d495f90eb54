//! What a simulated trace amounts to.

use super::columns::Side;
use super::path::PathSize;
use super::pipeline::PipelineFigures;
use core::ops::AddAssign;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use warmcore_units::{Bytes, Cycles};

/// A trace that went through caches and a pipeline.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// The machine's name.
    pub machine: String,
    /// How often the trace was executed; the last time is counted.
    pub rounds: u32,
    /// Whether that time was like the one before. Always so from cold caches, where there is one round.
    pub settled: bool,
    /// Instructions that were executed.
    pub instructions: u64,
    /// A column for each cache of Table 6: instructions, data, then all caches further away by level.
    pub columns: Vec<Column>,
    /// What memory added to what the pipeline takes.
    pub stalls: Stalls,
    /// The pipeline before a perfect memory.
    pub pipeline: PipelineFigures,
    /// Words of the lines that came into the nearest cache for instructions, as often as they came.
    pub words: Words,
    /// How large the executed code is, and which part of its lines is never executed (Table 9).
    pub path: PathSize,
    /// Functions that were executed, by address; code of no function comes last.
    pub functions: Vec<FunctionFigures>,
    /// Basic blocks that were executed, by address.
    pub blocks: Vec<BlockFigures>,
    /// Lines of the nearest cache for instructions that hold executed code or came for other reasons, by address.
    pub lines: Vec<LineFigures>,
    /// Who displaces whom, in each cache of `columns`, each cache once.
    pub displaced: Vec<Displaced>,
}

impl Summary {
    /// Cycles per instruction before a perfect memory (Table 7, "iCPI").
    #[must_use]
    pub fn icpi(&self) -> f64 {
        self.pipeline.icpi()
    }

    /// Cycles that an instruction waits for memory on average (Table 7, "mCPI"). It is a model, in which nothing overlaps: each
    /// reference adds what it takes beyond a hit, be it needed at once or not. The source measured how long the code
    /// took and took iCPI off.
    #[must_use]
    pub fn mcpi(&self) -> f64 {
        if self.instructions == 0 { 0.0 } else { self.stalls.all().0 as f64 / self.instructions as f64 }
    }

    /// Cycles per instruction in all.
    #[must_use]
    pub fn cpi(&self) -> f64 {
        self.icpi() + self.mcpi()
    }

    /// What the trace takes in all.
    #[must_use]
    pub fn cycles(&self) -> Cycles {
        self.pipeline.cycles + self.stalls.all()
    }

    /// Functions that were executed, those that wait longest for memory first, of equal ones those that executed more.
    #[must_use]
    pub fn functions_by_stalls(&self) -> Vec<&FunctionFigures> {
        let mut functions: Vec<&FunctionFigures> = self.functions.iter().collect();
        functions.sort_by_key(|of| (Reverse(of.figures.stalls.all()), Reverse(of.figures.instructions)));
        functions
    }

    /// Who displaces whom in the nearest cache for instructions, those that cost the most misses first.
    #[must_use]
    pub fn pairs_by_misses(&self) -> Vec<FunctionPair> {
        let nearest = self.columns.first().map(|column| column.cache);
        let displaced = self.displaced.iter().find(|of| Some(of.cache) == nearest);
        let mut pairs = displaced.map_or_else(Vec::new, |of| of.functions.clone());
        pairs.sort_by_key(|pair| (Reverse(pair.misses), Reverse(pair.lines), pair.victim, pair.by));
        pairs
    }
}

/// A column of Table 6.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Column {
    /// The cache: its place in the description.
    pub cache: u32,
    /// 1 is nearest to the core.
    pub level: u32,
    /// What is counted.
    pub side: Side,
    /// "Miss": lines that were brought in, and for data with a write-through cache also what it passed on: blocks of its
    /// write buffer, each with all stores that merged in it, or without a buffer all stores.
    pub misses: u64,
    /// "Acc": for instructions, how many were executed; otherwise how often the cache was asked.
    pub accesses: u64,
    /// "Repl": misses of lines that had been there before.
    pub replacements: u64,
    /// Of `misses`, blocks or stores that were passed on.
    pub passed_on: u64,
}

/// Misses of a column that brought a line in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Misses {
    /// Lines that were brought in.
    pub misses: u64,
    /// Of these, lines that had been there before.
    pub replacements: u64,
}

impl AddAssign for Misses {
    fn add_assign(&mut self, other: Self) {
        self.misses += other.misses;
        self.replacements += other.replacements;
    }
}

/// What references took beyond a hit of the nearest cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Stalls {
    /// Fetches.
    pub instructions: Cycles,
    /// Loads and stores, with waiting for a place in a write buffer.
    pub data: Cycles,
}

impl Stalls {
    /// Both.
    #[must_use]
    pub fn all(self) -> Cycles {
        self.instructions + self.data
    }
}

impl AddAssign for Stalls {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.data += other.data;
    }
}

/// Words of lines that came into a cache for instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Words {
    /// Words that came.
    pub fetched: u64,
    /// Of these, words that were not executed before their line went, or until the end.
    pub unused: u64,
}

impl Words {
    /// The unused part, 0 to 1; 0 if nothing came.
    #[must_use]
    pub fn unused_part(self) -> f64 {
        if self.fetched == 0 { 0.0 } else { self.unused as f64 / self.fetched as f64 }
    }
}

impl AddAssign for Words {
    fn add_assign(&mut self, other: Self) {
        self.fetched += other.fetched;
        self.unused += other.unused;
    }
}

/// What some code did and cost.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Instructions that it executed.
    pub instructions: u64,
    /// Lines that it brought in, column by column of [`Summary::columns`]: without what a cache passed on.
    pub misses: Vec<Misses>,
    /// What memory added.
    pub stalls: Stalls,
    /// What its instructions took in the pipeline.
    pub cycles: Cycles,
    /// Words of the lines that it brought into the nearest cache for instructions; whoever executed them used them.
    pub words: Words,
}

impl AddAssign<&Self> for Figures {
    fn add_assign(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.misses.resize(self.misses.len().max(other.misses.len()), Misses::default());
        self.misses.iter_mut().zip(&other.misses).for_each(|(all, &one)| *all += one);
        self.stalls += other.stalls;
        self.cycles += other.cycles;
        self.words += other.words;
    }
}

/// A function that was executed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FunctionFigures {
    /// Its index in [`Trace::functions`](crate::trace::Trace::functions); `None` for code of no function.
    pub function: Option<u32>,
    /// Its name; empty for code of no function.
    pub name: String,
    /// Its size; 0 for code of no function.
    pub size: Bytes,
    /// What it did and cost, without those it called.
    pub figures: Figures,
}

/// A basic block that was executed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockFigures {
    /// Its function, as in [`FunctionFigures`].
    pub function: Option<u32>,
    /// Its first byte.
    pub address: u64,
    /// How many bytes it has.
    pub size: Bytes,
    /// Times that its first instruction was executed.
    pub executions: u64,
    /// What it did and cost.
    pub figures: Figures,
}

/// A line of the nearest cache for instructions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LineFigures {
    /// Its first byte.
    pub address: u64,
    /// The functions of which it holds executed code, as in [`FunctionFigures`], each once, by address.
    pub functions: Vec<Option<u32>>,
    /// How often it was missed.
    pub misses: Misses,
    /// The words that came with it.
    pub words: Words,
}

/// Who displaces whom in one cache.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Displaced {
    /// The cache: its place in the description.
    pub cache: u32,
    /// All pairs of functions, the most frequent first.
    pub functions: Vec<FunctionPair>,
    /// Pairs of lines, the most frequent first: the first [`MAX_LINE_PAIRS`].
    pub lines: Vec<LinePair>,
}

/// How many pairs of lines a summary has for a cache.
pub const MAX_LINE_PAIRS: usize = 1000;

/// A function whose lines made way for another's. `None` is code of no function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct FunctionPair {
    /// Who brought the lines that went.
    pub victim: Option<u32>,
    /// For whom the others came.
    pub by: Option<u32>,
    /// How often.
    pub lines: u64,
    /// How often `victim` missed a line that `by` had displaced, whoever had brought it.
    pub misses: u64,
}

/// A line that made way for another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LinePair {
    /// The first byte of the line that went.
    pub victim: u64,
    /// The first byte of the line that came.
    pub by: u64,
    /// How often.
    pub times: u64,
}
