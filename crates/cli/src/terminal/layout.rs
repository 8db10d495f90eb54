//! Traced paths, what they do in caches, and orders of their functions.

pub(crate) mod measure;
pub(crate) mod order;

use super::{counted, table};
use crate::visible::visible;
use warmcore_layout::order::CallGraph;
use warmcore_layout::simulate::{Column, Setup, Side, Start, Summary};
use warmcore_layout::trace::Trace;

/// How many functions are listed.
const LISTED: usize = 15;

/// What was traced, in `lengths` passes.
pub(crate) fn traced(trace: &Trace, lengths: &[usize]) -> String {
    let graph = CallGraph::new(trace);
    let bytes = |named: bool| -> u64 {
        let code = trace.instructions().iter();
        let code = code.filter(|one| trace.function_at(one.address).is_some() == named);
        code.map(|one| u64::from(one.length)).sum()
    };
    let executed = bytes(true);
    let nameless = match bytes(false) {
        0 => String::new(),
        bytes => format!(", and {bytes} bytes of nameless code"),
    };
    let whole: u64 = graph.nodes().iter().map(|node| node.size.0).sum();
    let mut nodes: Vec<_> = graph.nodes().iter().collect();
    nodes.sort_by_key(|node| std::cmp::Reverse(node.steps));
    let mut table = table(["function", "instructions", "called", "bytes"]);
    for node in nodes.iter().take(LISTED) {
        let name = shortened(&trace.functions()[node.function as usize].name);
        let numbers = [node.steps, node.invocations, node.size.0].map(|number| number.to_string());
        table.add_row([name].into_iter().chain(numbers));
    }
    format!(
        "{} of {}; {executed} bytes of code were executed, in functions of {whole}{nameless}.\n{}{}\n{table}\n{}\n",
        counted(trace.steps().len(), "instruction"),
        counted(nodes.len(), "function"),
        unnamed(trace),
        passes(lengths),
        left(nodes.len()),
    )
}

/// How many instructions lie in no function.
pub(crate) fn unnamed(trace: &Trace) -> String {
    let has_name: Vec<bool> =
        trace.instructions().iter().map(|one| trace.function_at(one.address).is_some()).collect();
    match trace.executed().filter(|&(instruction, _)| !has_name[instruction]).count() {
        0 => String::new(),
        count => format!(
            "In code without a name, as that of stripped libraries: {}.\n",
            counted(count, "instruction")
        ),
    }
}

/// How the lengths of the passes spread.
fn passes(lengths: &[usize]) -> String {
    let (least, greatest) = (lengths.iter().min(), lengths.iter().max());
    match (lengths, least, greatest) {
        ([_, _, ..], Some(least), Some(greatest)) => format!(
            "It is the one of median length of {} passes, which had {least} to {greatest} instructions.\n",
            lengths.len()
        ),
        _ => "It is one pass; --passes traces several and takes the one of median length.\n".to_owned(),
    }
}

/// How many functions the table does not list.
fn left(functions: usize) -> String {
    match functions.saturating_sub(LISTED) {
        0 => String::new(),
        left => format!("And {} more.\n", counted(left, "function")),
    }
}

/// What a path does in caches.
pub(crate) fn simulation(summary: &Summary, setup: &Setup, assumptions: &[String]) -> String {
    let mut columns = table(["cache", "accesses", "misses", "of these replacement", "stores passed on"]);
    for column in &summary.columns {
        let numbers = [column.accesses, column.misses, column.replacements, column.passed_on];
        columns.add_row([cache(column)].into_iter().chain(numbers.map(|number| number.to_string())));
    }
    format!(
        "{} on {}, {}.\n\n{columns}\n\n{}\n{}\n{}",
        counted(usize::try_from(summary.instructions).unwrap_or(usize::MAX), "instruction"),
        visible(&summary.machine),
        start(setup.start, summary),
        cycles(summary),
        functions(summary),
        assumed(assumptions)
    )
}

/// What the caches held to begin with.
fn start(start: Start, summary: &Summary) -> String {
    let held = match start {
        Start::Cold => "from empty caches",
        Start::Steady => "repeated, with what it left in the caches",
        Start::NearestCold => "repeated, with the nearest caches emptied before each time",
    };
    let unsettled = if summary.settled { "" } else { " (misses still change from time to time)" };
    format!("{held}{unsettled}")
}

fn cycles(summary: &Summary) -> String {
    format!(
        "{} cycles: {:.2} an instruction before a perfect memory (iCPI), and {:.2} of waiting for memory (mCPI): {} for \
         instructions, {} for data.\n{:.1}% of the code that was brought in was not executed before it went.\n",
        summary.cycles().0,
        summary.icpi(),
        summary.mcpi(),
        summary.stalls.instructions.0,
        summary.stalls.data.0,
        summary.words.unused_part() * 100.0
    )
}

/// The functions that wait longest for memory.
fn functions(summary: &Summary) -> String {
    let functions = summary.functions_by_stalls();
    let mut table =
        table(["function", "waits, cycles", "for code", "misses of code", "replacement", "instructions"]);
    for function in functions.iter().take(LISTED) {
        let figures = &function.figures;
        let code = figures.misses.first().copied().unwrap_or_default();
        let numbers = [
            figures.stalls.all().0,
            figures.stalls.instructions.0,
            code.misses,
            code.replacements,
            figures.instructions,
        ];
        let name = if function.name.is_empty() { "(no function)" } else { &function.name };
        table.add_row([shortened(name)].into_iter().chain(numbers.map(|number| number.to_string())));
    }
    format!("{table}\n{}", left(functions.len()))
}

pub(crate) fn assumed(assumptions: &[String]) -> String {
    assumptions.iter().map(|sentence| format!("{}\n", visible(sentence))).collect()
}

/// `L1 instructions`, `L2`.
fn cache(column: &Column) -> String {
    match column.side {
        Side::Instructions => format!("L{} instructions", column.level),
        Side::Data => format!("L{} data", column.level),
        Side::Both => format!("L{}", column.level),
    }
}

/// A name on one line of a table: generic ones of C++ and Rust have hundreds of letters.
pub(crate) fn shortened(name: &str) -> String {
    const LONGEST: usize = 60;
    let name = visible(name);
    if name.chars().count() <= LONGEST {
        return name;
    }
    let beginning: String = name.chars().take(LONGEST - 1).collect();
    format!("{beginning}…")
}
