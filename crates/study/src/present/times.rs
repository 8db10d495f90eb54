//! The receive times, in the layout of Table 2 of Salehi, Kurose & Towsley 1994.

use super::scope::handover;
use crate::Findings;
use warmcore_costs::profile::{Kind, Measured, Profile};
use warmcore_costs::{Approach, Experiment, Situation, ThreadStack};
use warmcore_record::table::{Cell, HeaderCell, Row};
use warmcore_record::{Block, Section, Table};
use warmcore_units::{Estimate, Nanos};

/// The section with the times: of this machine if it was measured, and of Salehi 1994.
#[must_use]
pub fn section(findings: &Findings) -> Section {
    let source = Profile::sgi_challenge_xl();
    let profile = &findings.profile;
    let mut blocks = vec![Block::Table(table("times", profile)), Block::Table(others("fully-cold", profile))];
    blocks.extend(profile.levels.iter().filter_map(|level| {
        let reached = level.cold_reached.as_ref()?;
        Some(Block::Paragraph(format!("How {} was made cold: {reached}", level.name)))
    }));
    if profile.provenance.kind == Kind::Measured {
        blocks.push(Block::Paragraph(
            "For comparison, what Salehi 1994 measured on its machine, a multiprocessor of 1994 with 100 MHz \
             processors:"
                .to_owned(),
        ));
        blocks.push(Block::Table(table("source-times", &source)));
        blocks.push(Block::Table(others("source-fully-cold", &source)));
    }
    Section {
        heading: "What cold caches and migration cost".to_owned(),
        anchor: "costs".to_owned(),
        intro: [
            "The time to receive one packet in each situation. Rows say which of the data that every packet \
            writes were last written by another processor and must migrate. In A1 to A3 the packet's session \
            (counters, per-stream state) was last written here, in B1 to B3 elsewhere; the active maps' \
            history is not written (1), written and last written here (2), or elsewhere (3). Columns say \
            whether the thread's stack must migrate too, and which cache levels were flushed of everything \
            else, above all the code.",
            "A1, hot, is the best case; the difference of any other cell to it is what scheduling can avoid.",
        ]
        .map(str::to_owned)
        .to_vec(),
        blocks,
        folded: false,
    }
}

/// The unit in which a profile's times are shown.
struct Shown {
    unit: &'static str,
    scale: f64,
    decimals: usize,
}

impl Shown {
    fn new(profile: &Profile) -> Self {
        let hot = profile.times.locking.cached.get(&Experiment::A1).map_or(Nanos::ZERO, |a1| a1.hot.mean);
        if hot < Nanos::from_micros(5.0) {
            Self { unit: "ns", scale: 1.0, decimals: 1 }
        } else {
            Self { unit: "µs", scale: 1e-3, decimals: 1 }
        }
    }

    fn cell(&self, time: &Measured) -> Cell {
        let shown = |time: Nanos| time.0 * self.scale;
        let value = Estimate { mean: shown(time.mean), half_width: time.half_width.map(shown) };
        Cell::Value { value, decimals: self.decimals, missed_target: time.missed_target }
    }
}

fn table(id: &str, profile: &Profile) -> Table {
    let shown = Shown::new(profile);
    let states: Vec<String> = std::iter::once("hot".to_owned())
        .chain((1..profile.levels.len()).map(|level| {
            let names: Vec<&str> = profile.levels[..level].iter().map(|level| level.name.as_str()).collect();
            format!("{} cold", names.join(", "))
        }))
        .collect();
    let per_stack = 2 * states.len();
    let stacks = ThreadStack::ALL.map(|stack| HeaderCell::new(sentence(stack)).over_columns(per_stack));
    let experiment = HeaderCell::new("Experiment").over_rows(3);
    let header = vec![
        std::iter::once(experiment).chain(stacks).collect(),
        ThreadStack::ALL
            .iter()
            .flat_map(|_| &states)
            .map(|state| HeaderCell::new(state).over_columns(2))
            .collect(),
        (0..per_stack)
            .flat_map(|_| Approach::ALL.map(|approach| HeaderCell::new(approach.short())))
            .collect(),
    ];
    let cell = |thread_stack, experiment, state: usize, approach| {
        let receive = profile.times.get(approach).get(Situation { experiment, thread_stack });
        let time = receive.and_then(|receive| match state {
            0 => Some(&receive.hot),
            level => receive.cold.get(level - 1),
        });
        time.map_or_else(|| Cell::missing("not measured: it takes two processors"), |time| shown.cell(time))
    };
    let row = |experiment: Experiment| {
        let cells = ThreadStack::ALL.into_iter().flat_map(|stack| {
            (0..states.len()).flat_map(move |state| Approach::ALL.map(|approach| (stack, state, approach)))
        });
        let cells = cells.map(|(stack, state, approach)| cell(stack, experiment, state, approach));
        Row::new(experiment.to_string(), cells.collect())
    };
    Table {
        id: id.to_owned(),
        caption: format!("{}: receive times in {} for a single packet", profile.name, shown.unit),
        header,
        rows: Experiment::ALL.into_iter().map(row).collect(),
        notes: vec![half_widths(profile).to_owned()],
    }
}

/// The times that are not in Table 2: fully cold packets, and the overheads of the free-memory pool.
fn others(id: &str, profile: &Profile) -> Table {
    let shown = Shown::new(profile);
    let fully_cold = Approach::ALL.map(|approach| {
        let time = &profile.times.get(approach).fully_cold;
        Row::new(format!("Nothing in any cache, {}", approach.short()), vec![shown.cell(time)])
    });
    let overhead = |name: &str, time: Option<&Measured>| {
        let cell = time
            .map_or_else(|| Cell::missing("not measured: it takes two processors"), |time| shown.cell(time));
        Row::new(name, vec![cell])
    };
    let pool = profile.free_memory.as_ref();
    let overheads = [
        overhead(
            "Added when acquiring memory from a pool last used elsewhere",
            pool.map(|pool| &pool.acquire),
        ),
        overhead("Added when releasing memory to a pool last used elsewhere", pool.map(|pool| &pool.release)),
    ];
    Table {
        id: id.to_owned(),
        caption: format!("{}: fully cold times and pool overheads", profile.name),
        header: Table::simple_header(["Time", shown.unit]),
        rows: fully_cold.into_iter().chain(overheads).chain(distance(profile)).collect(),
        notes: Vec::new(),
    }
}

/// How near the processors were: most of the times above increase with this distance.
fn distance(profile: &Profile) -> Option<Row> {
    let name = "A cache line from one processor to the other (95% of the readings)";
    Some(Row::new(name, vec![Cell::Text(handover(profile)?)]))
}

fn half_widths(profile: &Profile) -> &'static str {
    match profile.provenance.kind {
        Kind::Measured => "Mean ± half-width of the 95% confidence interval over runs.",
        Kind::Published => {
            "Salehi 1994 states that half-widths do not exceed 1% of the means, and does not list them."
        }
    }
}

fn sentence(stack: ThreadStack) -> &'static str {
    match stack {
        ThreadStack::Cached => "Thread stack cached",
        ThreadStack::Migrates => "Thread stack migrates",
    }
}
