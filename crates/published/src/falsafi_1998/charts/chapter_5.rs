//! Charts and tables of chapter 5.

use super::{Frame, Named, Picks, beside, line, plain, points, speedup, table};
use crate::falsafi_1998::plan::{BLOCKS_5, CLUSTERS, clocked};
use crate::falsafi_1998::runs::{REQUESTERS, Runs};
use crate::falsafi_1998::setup::Setup;
use crate::falsafi_1998::system::{System, hurricane, hurricane_1};
use crate::falsafi_1998::tables::{self, TABLE_5_1, TOTALS_5_1, simulated_5_1};
use crate::falsafi_1998::work::App;
use warmcore_record::Block;
use warmcore_record::chart::{Axis, Series, Style, Unit};
use warmcore_record::table::{Cell, Row};

const NOTE: &str = "Published | ours.";

pub(super) fn totals(runs: &Runs) -> Vec<Block> {
    let systems = [System::SComa, hurricane(1), hurricane_1(1)];
    let round_trip = |setup: Setup| runs.estimate(&[setup], |runs| runs.round_trip(&setup));
    let cells = systems
        .into_iter()
        .zip(TOTALS_5_1)
        .map(|(system, published)| beside(published as f64, round_trip(Setup::remote_read(system)), 0));
    let header = ["", "S-COMA", "Hurricane", "Hurricane-1"];
    let rows = vec![Row::new("a simulated remote read", cells.collect())];
    let fixed = |bytes: u64| round_trip(Setup::remote_read(System::Fixed).blocks(bytes));
    let stated = [(64, 1204.0), (128, 1490.0), (256, 2055.0)];
    let cells = stated.into_iter().map(|(bytes, published)| beside(published, fixed(bytes), 0));
    let typhoon = vec![Row::new("Stache on Typhoon-1", cells.collect())];
    vec![
        table("table-5-1-totals", "Cycles of a remote read, 64-byte blocks", &header, rows, NOTE),
        table(
            "typhoon-1-round-trips",
            "Cycles of a remote read in chapter 4",
            &["", "64 bytes", "128 bytes", "256 bytes"],
            typhoon,
            "Published (§4.3.3) | ours. The steps of Typhoon-1 are set by two of the three.",
        ),
    ]
}

pub(super) fn rows() -> Vec<Block> {
    let ours = simulated_5_1();
    let row = |(place, row): (usize, &tables::Row)| {
        let cells = (0..3).map(|of| Cell::text(format!("{} | {}", row.published[of], ours[of][place])));
        Row::new(row.action, cells.collect())
    };
    let header = ["", "S-COMA", "Hurricane", "Hurricane-1"];
    let note = "Published | in the simulator, which has them from this table.";
    let rows = TABLE_5_1.iter().enumerate().map(row).collect();
    vec![table("table-5-1-steps", "Steps of a remote read in cycles", &header, rows, note)]
}

/// Figures 5-5 to 5-7: bandwidth over the number of requesters.
pub(super) fn bandwidths(runs: &Runs, figure: &str) -> Vec<Block> {
    type Make = fn(System, u32) -> Setup;
    let directions: [(String, Make); 2] =
        [("reply".to_owned(), Setup::reply), ("request/response".to_owned(), Setup::request)];
    let (label, varied, systems) = match figure {
        "5-6" => (
            "Block",
            BLOCKS_5.map(|bytes| (format!("{bytes} bytes"), bytes)).to_vec(),
            System::CHAPTER_5[..7].to_vec(),
        ),
        "5-7" => ("", vec![(String::new(), 64)], clocked()),
        _ => ("", vec![(String::new(), 64)], System::CHAPTER_5[..7].to_vec()),
    };
    let picks = Picks { first: ("Bandwidth", &directions), second: (label, &varied) };
    let series = |make: &Make, &bytes: &u64| {
        let of = |&system: &System| {
            let at = |requesters: u32| {
                let setup = make(system, requesters).blocks(bytes);
                (f64::from(requesters), runs.estimate(&[setup], |runs| runs.bandwidth(&setup)))
            };
            line(system.to_string(), REQUESTERS.map(at))
        };
        systems.iter().map(of).collect::<Vec<Series>>()
    };
    vec![
        Frame {
            id: &format!("figure-{figure}-bandwidth"),
            title: "Bandwidth of one node's device",
            caption: "Bytes of blocks that are read, over the requesters that read them.",
            x: plain("requesters"),
            y: Axis::linear("bandwidth", Unit::plain("MB/s")),
        }
        .block(picks.choices(), picks.views(series)),
    ]
}

pub(super) fn table_5_3(runs: &Runs) -> Vec<Block> {
    let row = |app: App| {
        let [time, faster] = tables::table_5_3(app).unwrap_or_default();
        let alone = Setup::uniprocessor(app);
        let cycles = runs.estimate(&[alone], |runs| Ok(runs.get(&alone)?.cycles as f64 / 1e6));
        let ours = speedup(runs, Setup::chapter_5(System::SComa, app), alone);
        Row::new(app.name(), vec![beside(time, cycles, 0), beside(faster, ours, 1)])
    };
    let header = ["", "uniprocessor, million cycles", "S-COMA's speedup, 8 nodes of 8"];
    let note = "Published | ours. The pace of each program is set by the first column.";
    vec![table(
        "table-5-3-times",
        "Uniprocessor times and speedups",
        &header,
        App::CHAPTER_5.map(row).to_vec(),
        note,
    )]
}

/// Figures 5-8 to 5-13: performance relative to S-COMA.
pub(super) fn performance(runs: &Runs, figure: &str) -> Vec<Block> {
    let hurricanes = || vec![hurricane(1), hurricane(2), hurricane(4)];
    let hurricanes_1 = || vec![hurricane_1(1), hurricane_1(2), hurricane_1(4), System::Mult];
    let systems = match figure {
        "5-8" => [hurricanes(), hurricanes_1()].concat(),
        "5-9" | "5-11" => hurricanes(),
        "5-10" | "5-12" => hurricanes_1(),
        _ => clocked(),
    };
    // Processors per node, and bytes of a block.
    let (label, varied): (&str, Named<(u32, u64)>) = match figure {
        "5-9" | "5-10" => {
            let name = |per_node: u32| format!("{} nodes of {per_node}", 64 / per_node);
            ("Cluster", CLUSTERS.map(|per_node| (name(per_node), (per_node, 64))).to_vec())
        }
        "5-11" | "5-12" => ("Block", BLOCKS_5.map(|bytes| (format!("{bytes} bytes"), (8, bytes))).to_vec()),
        _ => ("", vec![(String::new(), (8, 64))]),
    };
    let alone = [(String::new(), ())];
    let picks = Picks { first: (label, &varied), second: ("", &alone) };
    let series = |&(per_node, bytes): &(u32, u64), (): &()| {
        let of = |&system: &System| {
            let setup = |system, app| Setup::chapter_5(system, app).clustered(per_node).blocks(bytes);
            let relative = |app| speedup(runs, setup(system, app), setup(System::SComa, app));
            let places = App::CHAPTER_5.into_iter().enumerate();
            let values = places.map(|(place, app)| (place as f64, relative(app)));
            Series::new(system.to_string(), Style::Bars, points(values))
        };
        systems.iter().map(of).collect::<Vec<Series>>()
    };
    vec![
        Frame {
            id: &format!("figure-{figure}-performance"),
            title: "Performance relative to S-COMA",
            caption: "Below 1 S-COMA is faster.",
            x: Axis::categories("program", App::CHAPTER_5.map(App::name)),
            y: plain("speedup over S-COMA's"),
        }
        .block(picks.choices(), picks.views(series)),
    ]
}
