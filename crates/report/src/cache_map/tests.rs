//! What is said of a map, and in which colours.

use super::{MapPart, Measure};
use crate::render;
use warmcore_record::cache_map::{CacheMap, MapCell, MapLayout, MappedCache, Occupant};
use warmcore_record::{Block, Bytes, Document, Manifest, ReportVerdict, Section};

fn cell(lines: u64, misses: u64, replacements: u64) -> MapCell {
    let occupants = vec![
        Occupant { name: "<Tcp as Layer>::demux & co".into(), lines: 2 },
        Occupant { name: "checksum".into(), lines: 1 },
    ];
    MapCell { occupants, lines, misses, replacements, fetched: 8 * misses, unused: misses }
}

fn map(sets_per_cell: u64) -> CacheMap {
    let layout = |name: &str, cells: &[MapCell]| MapLayout { name: name.into(), cells: cells.to_vec() };
    CacheMap {
        id: "sets".into(),
        title: "Sets".into(),
        caption: "Few compete.".into(),
        cache: MappedCache { sets: 3 * sets_per_cell, ways: 1, line: Bytes(32), sets_per_cell },
        columns: 2,
        layouts: vec![
            layout("as it lies", &[cell(3, 7, 5), cell(1, 1, 0), MapCell::default()]),
            layout("linear <1>", &[cell(1, 1, 0), cell(1, 1, 0), cell(1, 1, 0)]),
            layout("apart", &[cell(1, 1, 0), cell(2, 3, 1), MapCell::default()]),
        ],
    }
}

fn page(map: CacheMap) -> String {
    let section = Section {
        heading: "Map".into(),
        anchor: "map".into(),
        intro: vec![],
        blocks: vec![Block::CacheMap(map)],
        folded: false,
    };
    let document = Document {
        title: "A map".into(),
        subtitle: String::new(),
        verdict: ReportVerdict::default(),
        sections: vec![section],
        manifest: Manifest::now("warmcore", "0.1.0"),
    };
    document.validate().expect("it is sound");
    render(&document)
}

#[test]
fn a_square_has_a_level_of_each_measure_and_says_whose_lines_it_has() {
    let map = map(1);
    let part = MapPart::new(&map);
    let square = &part.panes[0].squares[0];
    assert_eq!(square.classes, "a4 b2 c1");
    assert_eq!((square.x, square.y), (40, 0));
    assert!(
        square
            .title
            .starts_with("Set 0: 3 lines for 1 place\n7 misses, 5 of them replacement misses\n7 of 56 words")
    );
    assert!(square.title.ends_with("demux & co (2 lines), checksum"), "{}", square.title);
    let empty = &part.panes[0].squares[2];
    assert_eq!((empty.classes.as_str(), empty.numbers.len(), empty.used), ("empty", 0, false));
    assert_eq!(empty.title, "Set 2: not used");
    assert_eq!(
        part.panes[0].totals,
        "8 misses, 5 of them replacement misses; 12\u{202f}% of the fetched words unused."
    );
}

#[test]
fn cells_of_several_sets_say_so() {
    let map = map(4);
    let part = MapPart::new(&map);
    assert!(
        part.reading.starts_with("Each square is 4 neighbouring sets of the cache: room for 4 lines of 32 B")
    );
    assert_eq!(part.panes[0].squares[1].sets, "4 to 7");
    assert_eq!(part.panes[0].rows[1].set, "8");
    assert_eq!(part.panes[0].squares[0].classes, "a4 b0 c1", "three lines fit");
}

#[test]
fn the_scale_is_that_of_the_first_layout_and_its_ranges_have_no_holes() {
    let mut map = map(1);
    map.layouts[0].cells[0].replacements = 40;
    let [replacements, lines, unused] = Measure::of(&map).map(|measure| measure.key());
    let ranges = |key: &super::Key| key.levels.iter().map(|(_, range)| range.clone()).collect::<Vec<_>>();
    assert_eq!(ranges(&replacements), ["0", "1 to 5", "6 to 10", "11 to 20", "more than 20"]);
    assert_eq!(ranges(&lines), ["1 line: all fit", "2", "3", "4", "more than 4"]);
    assert_eq!(ranges(&unused), ["0", "1 to 25", "26 to 50", "51 to 75", "more than 75"]);
}

#[test]
fn the_page_has_all_squares_escapes_names_and_needs_no_script() {
    let page = page(map(1));
    assert_eq!(page.matches("<rect width=\"23\"").count(), 9);
    assert!(!page.contains("<script") && !page.contains("linear <1>") && !page.contains("<Tcp"));
    assert!(page.contains("&#60;Tcp as Layer&#62;::demux &#38; co"));
    assert_eq!(page.matches("class=\"beside-").count(), 2, "two layouts can stand beside the first");
}

#[test]
fn a_single_layout_offers_no_other() {
    let mut map = map(1);
    map.layouts.truncate(1);
    let page = page(map);
    assert!(!page.contains("class=\"beside") && page.contains("panes alone"));
}
