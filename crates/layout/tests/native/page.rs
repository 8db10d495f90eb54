//! The page on a program that calls a shared library: its functions have names there, and stay where they are.

use crate::compiled::compile;
use warmcore_cachesim::machines;
use warmcore_layout::compare::{Comparison, Plan};
use warmcore_layout::movable::MovablePart;
use warmcore_layout::native::{self, Request};
use warmcore_layout::present::ComparisonFigures;
use warmcore_layout::simulate::{Setup, Summary};
use warmcore_layout::trace::Trace;
use warmcore_linux::stepping::Launch;
use warmcore_units::Cycles;

/// A path of a program that is linked dynamically.
fn traced() -> Trace {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "cc", "library.c", &["-O1"]);
    let request = Request {
        launch: Launch::new([&program]),
        first: "begin".parse().unwrap(),
        last: "finish".parse().unwrap(),
        passes: 1,
        finish: false,
    };
    native::trace(&request).unwrap().paths.remove(0)
}

fn compared(trace: &Trace, movable: &MovablePart) -> Comparison {
    let setup = Setup::new(machines::dec_3000_600(Cycles(50)));
    let plan = Plan { base: movable.base, ..Plan::new("two draws", setup) };
    plan.run(trace, &movable.graph, &mut |_, _| {}).unwrap()
}

#[test]
fn functions_of_libraries_are_named_in_every_figure_and_placed_in_none() {
    let trace = traced();
    let movable = MovablePart::new(&trace);
    assert!(movable.left_out.iter().any(|function| function.name == "rand"), "{:?}", movable.left_out);
    let placed =
        movable.graph.nodes().iter().map(|node| trace.functions()[node.function as usize].name.as_str());
    assert_eq!(placed.filter(|name| ["begin", "draw", "rand"].contains(name)).count(), 2, "not rand");

    let comparison = compared(&trace, &movable);
    let rand = |summary: &Summary| {
        let found = summary.functions.iter().find(|of| of.name == "rand");
        found.expect("the library's function has its name").figures.instructions
    };
    let figures = ComparisonFigures::from(&comparison);
    assert!(figures.functions.iter().any(|of| of.name == "rand"));
    for layout in &comparison.layouts {
        assert_eq!(rand(&layout.summary), rand(&comparison.present), "{:?}", layout.strategy);
    }
}
