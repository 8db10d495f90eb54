//! A comparison for the laboratory's own trace: what is said agrees with what was simulated.

use super::{ComparisonFigures, SCHEMA, document};
use crate::compare::{Comparison, Plan};
use crate::lab::{Form, Protocols, Switches, trace};
use crate::order::{CallGraph, Strategy};
use crate::sample::{Walk, function};
use crate::simulate::{Setup, Start};
use crate::trace::Trace;
use std::sync::LazyLock;
use warmcore_cachesim::machines;
use warmcore_record::cache_map::CacheMap;
use warmcore_record::{Block, Document};
use warmcore_units::Cycles;

fn setup() -> Setup {
    Setup::new(machines::dec_3000_600(Cycles(50)))
}

fn graph(trace: &Trace) -> CallGraph {
    CallGraph::new(trace)
}

/// A round trip of TCP/IP under all layouts and 40 random orders.
static COMPARISON: LazyLock<Comparison> = LazyLock::new(|| {
    let image = Form::Std.image().expect("a sound image");
    let trace = trace(&image, Protocols::TcpIp, Switches::IMPROVED).expect("a round trip");
    let plan = Plan { random_orders: 40, ..Plan::new("TCP/IP round trip", setup()) };
    plan.run(&trace, &graph(&trace), &mut |_, _| {}).expect("it can be compared")
});

fn map(document: &Document) -> &CacheMap {
    let mut blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let map = blocks.find_map(|block| match block {
        Block::CacheMap(map) => Some(map),
        _ => None,
    });
    map.expect("the page has a map")
}

#[test]
fn the_page_is_sound_and_its_answer_has_the_summary_s_numbers() {
    let document = document(&COMPARISON);
    assert_eq!(document.validate(), Ok(()));
    let present = &COMPARISON.present;
    let best = COMPARISON.best().expect("a better layout");
    let (before, after) = (&present.columns[0], &best.summary.columns[0]);
    let headline = &document.verdict.headline;
    for said in [
        format!("{} of {} instruction misses", before.replacements, before.misses),
        format!("fetches {} lines instead of {}", after.misses, before.misses),
        format!("fetches again {} instead of {}", after.replacements, before.replacements),
    ] {
        assert!(headline.contains(&said), "{said}: {headline}");
    }
    assert_eq!(
        document.verdict.figures[1].value,
        format!("{} → {}", present.path.pages, best.summary.path.pages)
    );
    let series = &document.charts().next().expect("a chart").views[0].series;
    assert_eq!(series[1].points[0].y.mean, present.mcpi());
    assert_eq!(
        series[0].points.len(),
        COMPARISON.layouts.len(),
        "the present one is in it, the pessimal one is not"
    );
}

#[test]
fn the_map_s_sums_are_the_totals_under_every_layout() {
    let document = document(&COMPARISON);
    let map = map(&document);
    let summary = |name: &str| {
        let other = COMPARISON.layouts.iter().find(|layout| layout.strategy.to_string() == name);
        other.map_or(&COMPARISON.present, |layout| &layout.summary)
    };
    assert_eq!(map.layouts.len(), 1 + COMPARISON.layouts.len());
    assert_eq!((map.cache.sets, map.columns), (256, 16));
    for layout in &map.layouts {
        let sum =
            |of: fn(&warmcore_record::cache_map::MapCell) -> u64| layout.cells.iter().map(of).sum::<u64>();
        let summary = summary(&layout.name);
        let column = &summary.columns[0];
        assert_eq!(sum(|cell| cell.misses), column.misses, "{}", layout.name);
        assert_eq!(sum(|cell| cell.replacements), column.replacements, "{}", layout.name);
        assert_eq!(sum(|cell| cell.fetched), summary.words.fetched, "{}", layout.name);
        assert_eq!(sum(|cell| cell.unused), summary.words.unused, "{}", layout.name);
        assert_eq!(sum(|cell| cell.lines) * 32, summary.path.lines.0, "{}", layout.name);
    }
}

/// Functions of 40 bytes, each at the beginning of its own page: they fit the cache, and packing alone gains.
fn scattered(strategies: &[Strategy]) -> Comparison {
    let names = ["a", "b", "c", "d", "e", "f"];
    let address = |at: usize| 0x10000 + 0x1020 * at as u64;
    let functions: Vec<_> = (0..).zip(names).map(|(at, name)| function(name, address(at), 40)).collect();
    let mut walk = Walk::new(&functions);
    names.iter().chain(&names).for_each(|name| {
        walk.whole(name);
    });
    let plan = Plan { strategies: strategies.to_vec(), random_orders: 40, ..Plan::new("scattered", setup()) };
    plan.run(&walk.trace, &graph(&walk.trace), &mut |_, _| {}).expect("it can be compared")
}

#[test]
fn where_nothing_is_evicted_the_answer_is_packing_and_not_an_order() {
    let comparison = scattered(&Strategy::ALL);
    assert!(comparison.random_orders.as_ref().expect("random orders").all_faster());
    let page = document(&comparison);
    assert_eq!(
        page.verdict.headline,
        "Nothing is evicted. Packing the path's functions together fetches 8 lines instead of 12; any order of them does \
         about that."
    );
    let commands: Vec<&String> = page.verdict.actions.iter().flat_map(|action| &action.commands).collect();
    assert!(commands[0].starts_with("warmcore layout order TRACE --strategy"), "{commands:?}");
    assert!(commands.last().expect("a command").starts_with("warmcore layout measure"), "{commands:?}");
}

#[test]
fn the_pessimal_layout_is_no_answer() {
    let comparison = scattered(&[Strategy::Pessimal { hottest: 1 }]);
    assert_eq!(comparison.best(), None);
    assert!(document(&comparison).verdict.actions.iter().all(|action| action.commands.is_empty()));
}

#[test]
fn random_orders_have_a_range() {
    let random = COMPARISON.random_orders.as_ref().expect("random orders");
    assert_eq!(random.orders, 40);
    assert!(
        random.mcpi.low <= random.mcpi.mean
            && random.mcpi.mean <= random.mcpi.high
            && random.mcpi.low < random.mcpi.high
    );
    assert_eq!(random.range(), "95\u{202f}% of 40");
}

#[test]
fn figures_survive_json_and_have_a_schema() {
    let figures = ComparisonFigures::from(&*COMPARISON);
    let json = serde_json::to_string(&figures).expect("it can be written");
    let read: ComparisonFigures = serde_json::from_str(&json).expect("it can be read");
    assert_eq!((read.schema, read.layouts.len()), (SCHEMA, figures.layouts.len()));
    assert_eq!(read.layouts[0].cycles, COMPARISON.present.cycles());
    assert_eq!(read.functions, figures.functions);
    assert!(figures.displaced.windows(2).all(|pair| pair[0].misses >= pair[1].misses));
}

#[test]
fn the_rendered_page_has_the_map_and_asks_for_nothing() {
    let page = warmcore_report::render(&document(&COMPARISON));
    let squares = page.matches("<rect width=\"23\"").count();
    assert_eq!(squares, 256 * (1 + COMPARISON.layouts.len()));
    let body =
        page.split("</style>").last().expect("a body").split("<script>").next().expect("before scripts");
    for reference in ["src=", "http://", "https://", "url("] {
        assert!(!body.contains(reference), "{reference}");
    }
}

#[test]
fn names_are_escaped_and_a_path_without_other_layouts_has_a_page() {
    let names = ["<Tcp as Layer<&u8>>::demux", "a & b"];
    let mut walk = Walk::new(&[function(names[0], 0x10000, 32), function(names[1], 0x12000, 32)]);
    for name in [names[0], names[1], names[0]] {
        walk.whole(name);
    }
    let setup = setup().starting(Start::Steady);
    let plan = Plan { strategies: Vec::new(), ..Plan::new("<path> & more", setup) };
    let comparison = plan.run(&walk.trace, &graph(&walk.trace), &mut |_, _| {}).expect("it can be compared");
    let document = document(&comparison);
    assert_eq!(document.validate(), Ok(()));
    let said = "2 of 2 instruction misses are lines that had been there and were evicted.";
    assert_eq!(document.verdict.headline, said);
    let page = warmcore_report::render(&document);
    for raw in ["<Tcp", "<path>", "a & b", "Layer<&u8>"] {
        assert!(!page.contains(raw), "{raw}");
    }
    assert!(page.contains("&#60;Tcp as Layer&#60;&#38;u8&#62;&#62;::demux, a &#38; b"));
}
