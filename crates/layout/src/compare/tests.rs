//! A strategy's layout and its order alone.

use super::Plan;
use crate::order::{CallGraph, Strategy};
use crate::sample::{Walk, function};
use crate::simulate::Setup;
use warmcore_cachesim::machines;
use warmcore_units::{Bytes, Cycles};

#[test]
fn an_order_alone_comes_before_the_layout_with_gaps() {
    // Three path functions of 3 KiB around a library function: they do not fit a cache of 8 KiB together.
    let functions =
        ["p", "q", "r", "l"].map(|name| function(name, 0x10000 + 4096 * u64::from(name.as_bytes()[0]), 3072));
    let mut walk = Walk::new(&functions);
    walk.whole("l").whole("p").whole("l").whole("q").whole("l").whole("r").whole("l");
    let plan = Plan {
        base: 0x100_0000,
        alignment: Bytes(16),
        strategies: vec![Strategy::Linear, Strategy::Bipartite],
        packs: true,
        ..Plan::new("a path", Setup::new(machines::dec_3000_600(Cycles(50))))
    };
    let mut done = Vec::new();
    let graph = CallGraph::new(&walk.trace);
    let comparison = plan
        .run(&walk.trace, &graph, &mut |next, part| done.push((next.to_owned(), part)))
        .expect("it can be compared");
    assert_eq!(done, [("linear".to_owned(), 0.0), ("bipartite".to_owned(), 0.5)]);
    let [linear, order, gaps] = &comparison.layouts[..] else { panic!("{:?}", comparison.layouts) };
    assert_eq!([linear, order, gaps].map(|one| one.gaps.is_some()), [false, false, true]);
    let bytes = gaps.gaps.expect("the library has its own part of the cache");
    assert_eq!(gaps.placement.extent().0, order.placement.extent().0 + bytes.0);
    assert_eq!(gaps.placement.symbols(&walk.trace), order.placement.symbols(&walk.trace));
    let rows = comparison.layout_rows();
    assert!(rows[3].replacements < rows[2].replacements, "{rows:?}");
    assert_eq!((rows[0].layout, rows[0].change, rows[0].removed), (None, 0.0, 0));
    assert_eq!(rows[3].removed, rows[0].misses as i64 - rows[3].misses as i64);
    // As they lie, each function of 3 KiB has a page; one after the other they have three.
    assert_eq!([rows[0].pages, rows[1].pages], [4, 3]);
    assert_eq!(rows[3].change, rows[3].cycles.0 as f64 / rows[0].cycles.0 as f64 - 1.0);
}
