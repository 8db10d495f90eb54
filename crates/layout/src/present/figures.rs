//! The figures of a comparison for programs: JSON with a number that says which fields there are.

use super::layouts::PRESENT;
use super::words;
use crate::compare::Comparison;
use crate::compare::RandomOrders;
use crate::order::Strategy;
use crate::simulate::{Column, FunctionFigures, PathSize, Stalls, Start, Summary, Words};
use serde::{Deserialize, Serialize};
use warmcore_units::{Bytes, Cycles};

/// The number of the fields below: it grows when one changes its meaning or goes.
pub const SCHEMA: u32 = 2;

/// The figures of a comparison.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ComparisonFigures {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was traced.
    pub path: String,
    /// The machine's name.
    pub machine: String,
    /// What the caches held when counting began.
    pub start: Start,
    /// The answer in words.
    pub headline: String,
    /// The layouts; the first is the present one.
    pub layouts: Vec<LayoutFigures>,
    /// What random orders cost, if any were tried.
    pub random_orders: Option<RandomOrders>,
    /// Functions under the present layout, those that wait longest first.
    pub functions: Vec<FunctionFigures>,
    /// Who displaces whom in the nearest cache for instructions under the present layout, what costs most misses first.
    pub displaced: Vec<NamedPair>,
}

/// The figures of one layout.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LayoutFigures {
    /// What it is called.
    pub name: String,
    /// How functions are placed; `None` in the present one.
    pub strategy: Option<Strategy>,
    /// Instructions that were executed.
    pub instructions: u64,
    /// Cycles per instruction before a perfect memory.
    pub icpi: f64,
    /// Cycles that an instruction waits for memory.
    pub mcpi: f64,
    /// Cycles in all.
    pub cycles: Cycles,
    /// Cycles of waiting.
    pub stalls: Stalls,
    /// The caches.
    pub columns: Vec<Column>,
    /// Words that came into the nearest cache for instructions.
    pub words: Words,
    /// How large the executed code is.
    pub size: PathSize,
    /// Bytes from the first function's beginning to the last one's end; `None` for the present layout.
    pub extent: Option<Bytes>,
    /// Bytes of these that no function has.
    pub gaps: Option<Bytes>,
}

/// A function whose lines made way for another's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NamedPair {
    /// Who brought the lines that went.
    pub victim: String,
    /// For whom the others came.
    pub by: String,
    /// How often.
    pub lines: u64,
    /// How often the victim missed one of them later.
    pub misses: u64,
}

impl From<&Comparison> for ComparisonFigures {
    fn from(comparison: &Comparison) -> Self {
        let present = &comparison.present;
        let pair = |pair: &crate::simulate::FunctionPair| NamedPair {
            victim: words::function(present, pair.victim).to_owned(),
            by: words::function(present, pair.by).to_owned(),
            lines: pair.lines,
            misses: pair.misses,
        };
        let others = comparison.layouts.iter().map(|layout| LayoutFigures {
            strategy: Some(layout.strategy),
            extent: Some(layout.placement.extent()),
            gaps: Some(layout.placement.gaps()),
            ..LayoutFigures::new(layout.strategy.to_string(), &layout.summary)
        });
        let first = LayoutFigures::new(PRESENT.to_owned(), present);
        Self {
            schema: SCHEMA,
            path: comparison.path.clone(),
            machine: present.machine.clone(),
            start: comparison.setup.start,
            headline: super::answer::headline(comparison),
            layouts: std::iter::once(first).chain(others).collect(),
            random_orders: comparison.random_orders.clone(),
            functions: present.functions_by_stalls().into_iter().cloned().collect(),
            displaced: present.pairs_by_misses().iter().map(pair).collect(),
        }
    }
}

impl LayoutFigures {
    fn new(name: String, summary: &Summary) -> Self {
        Self {
            name,
            strategy: None,
            instructions: summary.instructions,
            icpi: summary.icpi(),
            mcpi: summary.mcpi(),
            cycles: summary.cycles(),
            stalls: summary.stalls,
            columns: summary.columns.clone(),
            words: summary.words,
            size: summary.path,
            extent: None,
            gaps: None,
        }
    }
}
