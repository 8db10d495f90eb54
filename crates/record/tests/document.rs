//! A document survives a JSON round trip, and faults name the field that is wrong.

use warmcore_record::cache_map::{CacheMap, MapCell, MapLayout, MappedCache, Occupant};
use warmcore_record::chart::{Axis, Chart, Choice, Point, Series, Style, Unit, View};
use warmcore_record::table::{Cell, HeaderCell, Row};
use warmcore_record::{Block, Document, Estimate, Manifest, ReportVerdict, Section, Table};
use warmcore_units::Bytes;

fn chart() -> Chart {
    let points = vec![Point::new(1e3, Estimate::new(2e-6, 1e-8)), Point::new(1e4, Estimate::published(3e-6))];
    let view = |pick| View {
        picks: vec![pick],
        series: vec![Series::new("MRU", Style::Line, points.clone())],
        ..View::default()
    };
    Chart {
        id: "delay".into(),
        title: "Delay".into(),
        caption: String::new(),
        x: Axis::log("Rate", Unit::per_second()),
        y: Axis::log("Delay", Unit::seconds()),
        choices: vec![Choice {
            label: "Processors".into(),
            options: vec!["2".into(), "8".into()],
            initial: 1,
        }],
        views: vec![view(0), view(1)],
    }
}

fn table() -> Table {
    Table {
        id: "costs".into(),
        caption: String::new(),
        header: vec![
            vec![HeaderCell::new("Experiment").over_rows(2), HeaderCell::new("hot").over_columns(2)],
            vec![HeaderCell::new("Locking"), HeaderCell::new("IPS")],
        ],
        rows: vec![Row::new("A1", vec![Cell::value(Estimate::published(66.6), 1), Cell::missing("one cpu")])],
        notes: vec![],
    }
}

fn map() -> CacheMap {
    let cell = MapCell {
        occupants: vec![Occupant { name: "demux".into(), lines: 2 }],
        lines: 2,
        misses: 3,
        replacements: 1,
        fetched: 24,
        unused: 5,
    };
    CacheMap {
        id: "sets".into(),
        title: "Sets".into(),
        caption: String::new(),
        cache: MappedCache { sets: 3, ways: 1, line: Bytes(32), sets_per_cell: 2 },
        columns: 2,
        layouts: vec![MapLayout { name: "now".into(), cells: vec![cell, MapCell::default()] }],
    }
}

fn document() -> Document {
    Document {
        title: "Where?".into(),
        subtitle: String::new(),
        verdict: ReportVerdict { headline: "There.".into(), ..ReportVerdict::default() },
        sections: vec![Section {
            heading: "Delay".into(),
            anchor: "how-long".into(),
            intro: vec![],
            blocks: vec![Block::Chart(chart()), Block::Table(table()), Block::CacheMap(map())],
            folded: false,
        }],
        manifest: Manifest::now("warmcore", "0.1.0"),
    }
}

/// The field found wrong after `spoil` has changed a valid document.
fn fault_after(spoil: impl FnOnce(&mut Document, &mut Chart, &mut Table)) -> String {
    let (mut document, mut chart, mut table) = (document(), chart(), table());
    assert_eq!(document.validate(), Ok(()));
    spoil(&mut document, &mut chart, &mut table);
    document.sections[0].blocks = vec![Block::Chart(chart), Block::Table(table)];
    document.validate().expect_err("a spoilt document is refused").field
}

#[test]
fn a_document_survives_a_json_round_trip() {
    let text = serde_json::to_string(&document()).expect("a document is JSON");
    assert_eq!(serde_json::from_str::<Document>(&text).expect("the JSON is a document"), document());
}

#[test]
fn invalid_documents_are_refused_with_the_field() {
    let chart = |field| format!("sections[0].blocks[0].{field}");
    let table = |field| format!("sections[0].blocks[1].{field}");
    assert_eq!(
        fault_after(|document, _, _| document.sections[0].anchor = "How long".into()),
        "sections[0].anchor"
    );
    assert_eq!(
        fault_after(|document, _, _| document.sections[0].anchor = "verdict".into()),
        "sections[0].anchor"
    );
    assert_eq!(fault_after(|_, chart, _| chart.id = "how-long".into()), chart("id"));
    assert_eq!(fault_after(|_, chart, _| chart.choices[0].initial = 2), chart("choices[0].initial"));
    assert_eq!(fault_after(|_, chart, _| chart.views[1].picks = vec![2]), chart("views[1].picks"));
    assert_eq!(fault_after(|_, chart, _| chart.views[1].picks = vec![0]), chart("views"));
    assert_eq!(fault_after(|_, chart, _| drop(chart.views.pop())), chart("views"));
    assert_eq!(
        fault_after(|_, chart, _| chart.views[0].series[0].points[1].x = 0.0),
        chart("views[0].series[0].points[1].x")
    );
    assert_eq!(
        fault_after(|_, chart, _| chart.views[0].series[0].points[1].y.mean = f64::NAN),
        chart("views[0].series[0].points[1].y.mean")
    );
    assert_eq!(
        fault_after(|_, chart, _| chart.x = Axis::categories("", ["a"])),
        chart("views[0].series[0].points[0].x")
    );
    assert_eq!(fault_after(|_, _, table| table.header[0][1].columns = 3), table("header[1]"));
    assert_eq!(fault_after(|_, _, table| drop(table.rows[0].cells.pop())), table("rows[0]"));
}

/// The field found wrong after `spoil` has changed the map of a valid document.
fn fault_of_map(spoil: impl FnOnce(&mut CacheMap)) -> String {
    let (mut document, mut map) = (document(), map());
    spoil(&mut map);
    document.sections[0].blocks = vec![Block::CacheMap(map)];
    let field = document.validate().expect_err("a spoilt map is refused").field;
    field.strip_prefix("sections[0].blocks[0].").expect("a field of the map").to_owned()
}

#[test]
fn a_map_has_all_cells_of_every_layout_and_no_part_exceeds_its_whole() {
    assert_eq!((map().cache.cells(), map().cache.places()), (2, 2), "the last cell has one set only");
    assert_eq!(fault_of_map(|map| map.id = "how-long".into()), "id");
    assert_eq!(fault_of_map(|map| map.columns = 0), "columns");
    assert_eq!(fault_of_map(|map| map.cache.ways = 0), "cache.ways");
    assert_eq!(fault_of_map(|map| map.cache.sets_per_cell = 0), "cache.sets_per_cell");
    assert_eq!(fault_of_map(|map| map.layouts.clear()), "layouts");
    assert_eq!(fault_of_map(|map| drop(map.layouts[0].cells.pop())), "layouts[0].cells");
    assert_eq!(
        fault_of_map(|map| map.layouts[0].cells[0].replacements = 4),
        "layouts[0].cells[0].replacements"
    );
    assert_eq!(fault_of_map(|map| map.layouts[0].cells[1].unused = 1), "layouts[0].cells[1].unused");
}
