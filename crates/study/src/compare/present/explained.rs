//! The section on what the predictions consist of and what they leave out.

use super::words::{in_micros, load};
use crate::compare::costs::RuntimeCosts;
use crate::compare::figures::LoadFigures;
use crate::compare::point::PredictionModel;
use crate::compare::{Compared, Comparison};
use core::iter;
use warmcore_costs::Situation;
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Section, Table};
use warmcore_units::{Estimate, Nanos};

pub(super) fn section(comparison: &Comparison) -> Section {
    let mix = |compared: &Compared| {
        let point = compared.points.get(compared.points.len() / 2)?;
        let share = |figures: Option<&LoadFigures>, situation: Situation| match figures {
            Some(figures) => Cell::text(format!("{:.1}%", figures.situations[situation.index()] * 100.0)),
            None => Cell::missing("not known"),
        };
        let cells = Situation::all().filter(|situation| situation.index() < 6).flat_map(|situation| {
            [share(point.by(PredictionModel::Caches), situation), share(point.figures(), situation)]
        });
        Some(Row::new(format!("{}, {}", compared.scheduling, load(point)), cells.collect()))
    };
    let situations = ["A1", "A2", "A3", "B1", "B2", "B3"];
    let columns =
        situations.into_iter().flat_map(|name| [format!("{name} predicted"), format!("{name} measured")]);
    Section {
        heading: "What the predictions are made of".to_owned(),
        anchor: "explained".to_owned(),
        intro: [
            "Besides the stack, a packet costs the runtime's own work: deciding where it goes and, if its processor is busy with \
            other work, starting it there. Packets that are in one stack at the same time wait for each other's locks; the \
            prediction does not include that.",
            "What a packet finds in cache depends on who wrote its session lines last (A: this processor, B: \
             another) and on the stack's history lines (1: not written, 2: last written here, 3: elsewhere). \
             The simulator and the runtime use the same bookkeeping.",
        ]
        .map(str::to_owned)
        .to_vec(),
        blocks: vec![
            costs_table(&comparison.costs),
            Block::Table(Table {
                id: "situations".to_owned(),
                caption: "Shares of packets in each situation, the thread's stack being in cache".to_owned(),
                header: Table::simple_header(iter::once(String::new()).chain(columns)),
                rows: comparison.compared.iter().filter_map(mix).collect(),
                notes: Vec::new(),
            }),
        ],
        folded: false,
    }
}

fn costs_table(costs: &[RuntimeCosts]) -> Block {
    let row = |name: &str, time: fn(&RuntimeCosts) -> Estimate<Nanos>| {
        Row::new(name, costs.iter().map(|costs| Cell::value(in_micros(time(costs)), 3)).collect())
    };
    let fitted = costs.iter().map(|costs| {
        let kind = if costs.alone { "each worker decides alone" } else { "workers share a dispatcher" };
        format!("{kind}: {} at {}", costs.scheduling, costs.rate)
    });
    Block::Table(Table {
        id: "costs".to_owned(),
        caption: "What the runtime costs, in µs, by kind of dispatcher, and what the stack took there"
            .to_owned(),
        header: Table::simple_header(iter::once(String::new()).chain(fitted)),
        rows: vec![
            row("deciding, each packet that follows another", |costs| costs.deciding),
            row("starting, each packet that finds its processor at other work", |costs| costs.starting),
            row("time in the stack, as the null model has it everywhere", |costs| costs.stack),
        ],
        notes: Vec::new(),
    })
}

pub(super) fn limits() -> Section {
    let notes = [
        "In the simulator packets wait for processors, but not for locks that others hold.",
        "The costs of the runtime are assumed to be the same at every load, and under every policy with the same kind of \
        dispatcher. They are lower if several packets are handled at a time, and higher if the runtime's own code has been \
        displaced: on an AMD EPYC with 10 ms between packets it took several µs instead of the fraction of one that is \
        charged, and the predicted mean is too short.",
        "After long work between packets, a packet was measured to take up to twice as long as after the calibration's walk \
        that makes caches fully cold. In the model no packet takes longer than that.",
        "At low rates, the data of a single stream are displaced more the more streams there are: on one \
        processor of that machine at 10,000 packets a second, a packet was measured to take 98 ns in the stack \
        with one stream, and 178 ns with eight. The calibration and the model have a single time since protocol work, \
        for all streams. Also, workers look for packets between two pieces of other work, which therefore displaces caches \
        more slowly than in the calibration. The predicted time in the stack may then be too long or too short.",
        "Under Locking, a packet that follows one of another stream was measured to take a tenth longer in runs than \
        in the calibration, even on one processor, with two streams as well as with 32. The reason is not known: in the \
        calibration, streams that follow each other irregularly take as long as streams that alternate.",
        "Arrival times come from a schedule. A packet's delay counts from its arrival, whether or not a worker was looking.",
        "A worker that something else on the machine keeps from running is noticed if that lasts longer than \
        8 µs; shorter interruptions are part of the measurement.",
    ];
    Section {
        heading: "What to keep in mind".to_owned(),
        anchor: "limits".to_owned(),
        intro: Vec::new(),
        blocks: notes.map(|note| Block::Note(note.to_owned())).to_vec(),
        folded: false,
    }
}
