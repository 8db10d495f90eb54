//! A made-up document with every kind of block, shared by the example and the browser test.
//!
//! The curves come from formulas of the right shape; only the table headed 1994 is real: it is
//! Table 2 of Salehi, Kurose & Towsley 1994.

use warmcore_record::chart::{
    Axis, Chart, Choice, Direction, Look, Mark, Point, Region, Series, Style, Unit, View,
};
use warmcore_record::document::{Action, Confidence, ConfidenceLevel, KeyFigure, Statement, Term};
use warmcore_record::manifest::{FactGroup, Seed};
use warmcore_record::table::{Cell, HeaderCell, Row};
use warmcore_record::{Block, Document, Estimate, Manifest, ReportVerdict, Section, Table};

/// The sample document.
pub(crate) fn sample() -> Document {
    Document {
        title: "Where should protocol work run on this machine?".into(),
        subtitle: "Sample data, made up to try the look of the report: nothing here was measured, except \
                   the published table of 1994."
            .into(),
        verdict: verdict(),
        sections: vec![capacity(), costs(), reload(), other_processor_counts(), words()],
        manifest: manifest(),
    }
}

fn statement(text: &str, evidence: &[&str], level: ConfidenceLevel, reason: &str) -> Statement {
    Statement {
        text: text.into(),
        evidence: evidence.iter().map(ToString::to_string).collect(),
        confidence: Confidence { level, reason: reason.into() },
    }
}

fn verdict() -> ReportVerdict {
    ReportVerdict {
        headline:
            "Give each processor its own protocol stack and keep every stream on one; only when traffic \
                   is light, prefer the processor that worked last."
                .into(),
        confidence: Some(Confidence {
            level: ConfidenceLevel::Moderate,
            reason: "the weakest of the claims below".into(),
        }),
        scope: "This speaks for a made-up receive path on a made-up machine with 8 processors.".into(),
        chart: Some(delay()),
        actions: vec![Action {
            text: "Pin one worker to each processor.".into(),
            commands: vec!["taskset --cpu-list 0 ./receiver &".into()],
        }],
        figures: vec![
            figure(
                "−31\u{202f}%",
                "± 2\u{202f}%",
                "mean delay at light load, most recently used instead of the common default",
            ),
            figure(
                "+118\u{202f}%",
                "± 3\u{202f}%",
                "packets per second this machine can take, independent stacks instead of locks",
            ),
            figure(
                "2.9 ×",
                "± 0.1",
                "time of a packet that finds every cache cold, over one that finds all warm",
            ),
        ],
        statements: vec![
            statement(
                "Below 20 k packets/s: independent stacks, most recently used processor.",
                &[
                    "Mean delay 2.31 ± 0.02 µs, against 3.36 ± 0.03 µs for the worst (Locking, LRU, global pools).",
                    "Against the common default (Locking, Wired-Streams): 31 ± 2 % less.",
                ],
                ConfidenceLevel::High,
                "The intervals lie 35 half-widths apart; 20 replications with common random numbers.",
            ),
            statement(
                "From 20 k to 900 k packets/s: independent stacks, wired streams.",
                &["Mean delay 1.62 ± 0.02 µs; the runner-up (independent stacks, MRU) takes 1.66 ± 0.02 µs."],
                ConfidenceLevel::Moderate,
                "The intervals touch: another run may prefer the runner-up, which costs 2 % at most.",
            ),
            statement(
                "A pool of threads per processor matters little once the load is high.",
                &["Capacity with and without: 1 094 ± 12 k/s and 1 088 ± 14 k/s."],
                ConfidenceLevel::Low,
                "The figures do not decide it.",
            ),
        ],
    }
}

fn figure(value: &str, half_width: &str, meaning: &str) -> KeyFigure {
    KeyFigure { value: value.into(), half_width: half_width.into(), meaning: meaning.into() }
}

const APPROACHES: [&str; 2] = ["Locking", "IPS"];
const POLICIES: [&str; 3] = ["MRU", "LRU", "Wired-Streams"];
const POOLS: [&str; 4] =
    ["per-processor pools", "global thread pool", "global memory pool", "both pools global"];

fn delay() -> Chart {
    let processors = [2_u32, 8, 64];
    let views = processors.iter().enumerate().map(|(pick, &processors)| {
        let capacity = f64::from(processors) / 1.9e-6;
        View {
            picks: vec![pick],
            series: delay_series(processors),
            regions: vec![
                Region { label: "light".into(), from: 0.0, to: 0.02 * capacity },
                Region { label: "medium".into(), from: 0.02 * capacity, to: 0.7 * capacity },
                Region { label: "heavy".into(), from: 0.7 * capacity, to: f64::MAX },
            ],
            marks: vec![Mark { label: "fully cold".into(), axis: Direction::Y, at: 5.2e-6 }],
        }
    });
    Chart {
        id: "delay-rate".into(),
        title: "Mean delay of a packet against the rate of arrivals".into(),
        caption: "Every curve falls at first, because busy processors keep the protocol's code and data in \
                  their caches, and rises at the end, because packets queue. The lower, the better; where \
                  two curves lie within each other's error bars, nothing is decided."
            .into(),
        x: Axis::log("Arrival rate", Unit::per_second()),
        y: Axis::log("Mean delay", Unit::seconds()),
        choices: vec![Choice {
            label: "Processors".into(),
            options: processors.map(|n| n.to_string()).to_vec(),
            initial: 1,
        }],
        views: views.collect(),
    }
}

fn other_processor_counts() -> Section {
    Section {
        heading: "On 64 processors".into(),
        anchor: "other-processor-counts".into(),
        intro: vec!["Extrapolated from what two processors cost.".into()],
        blocks: vec![
            Block::Statements(vec![statement(
                "On 64 processors independent stacks carry six times what one stack does.",
                &["12.4 ± 0.4 M/s against 2.1 ± 0.3 M/s."],
                ConfidenceLevel::Low,
                "Extrapolated from 2 processors.",
            )]),
            Block::Note(
                "These are predictions of a simulation that was fed with the costs measured below, not \
                 observations of live traffic."
                    .into(),
            ),
        ],
        folded: true,
    }
}

fn delay_series(processors: u32) -> Vec<Series> {
    let mut all = Vec::new();
    for (pool, pool_name) in POOLS.iter().enumerate() {
        for (approach, approach_name) in APPROACHES.iter().enumerate() {
            for (policy, policy_name) in POLICIES.iter().enumerate() {
                all.push(Series {
                    group: Some(format!("With {pool_name}")),
                    look: Some(Look { colour: policy, pattern: approach }),
                    hidden: pool > 0,
                    emphasised: (approach, policy, pool) == (1, 2, 0),
                    ..Series::new(
                        format!("{approach_name}, {policy_name}"),
                        Style::Line,
                        delay_points(processors, approach, policy, pool),
                    )
                });
            }
        }
    }
    all
}

fn delay_points(processors: u32, approach: usize, policy: usize, pool: usize) -> Vec<Point> {
    let hot = [2.05e-6, 1.25e-6][approach] * [1.0, 1.04, 0.88][policy]
        + 0.11e-6 * f64::from(u8::try_from(pool).unwrap_or(0));
    let cold = [5.2e-6, 4.1e-6][approach];
    let warmth = [40.0, 9.0, 16.0][policy];
    let n = f64::from(processors);
    let capacity = n / hot * [1.0, 1.0, 0.97][policy];
    (0..16_i32)
        .map(|step| {
            let rate = capacity * 10_f64.powf(-4.0 + f64::from(step) * 0.265);
            let load = rate / capacity;
            let service = hot + (cold - hot) / (1.0 + warmth * (rate / n * 1e-3));
            let queueing = if policy == 2 { 1.0 } else { 1.0 / n.sqrt() };
            (rate, load, service + hot * queueing * load / (1.0 - load).max(0.02))
        })
        .filter(|(_, load, _)| *load < 1.0)
        .map(|(rate, load, delay)| {
            let missed = load > 0.9;
            let half_width = delay * if missed { 0.06 } else { 0.009 };
            Point {
                missed_target: missed,
                note: missed.then(|| "close to saturation, where delays vary most".into()),
                ..Point::new(rate, Estimate::new(delay, half_width))
            }
        })
        .collect()
}

fn capacity() -> Section {
    let categories = APPROACHES.iter().flat_map(|a| POLICIES.iter().map(move |p| format!("{a}, {p}")));
    let base = [498e3, 495e3, 602e3, 1_090e3, 1_088e3, 1_094e3];
    let series = POOLS.iter().enumerate().map(|(pool, name)| Series {
        look: Some(Look { colour: pool, pattern: pool }),
        ..Series::new(*name, Style::Bars, capacity_points(&base, pool))
    });
    let chart = Chart {
        id: "capacity-bars".into(),
        title: "The highest rate that each combination can keep up with, 8 processors".into(),
        caption: "Independent stacks take about twice the packets, whatever the policy. Under locks, keeping \
                  streams on their processor helps. A dagger marks a bar whose half-width is wider than its target."
            .into(),
        x: Axis::categories("Approach and policy", categories),
        y: Axis::linear("Capacity", Unit::per_second()),
        choices: vec![],
        views: vec![View { series: series.collect(), ..View::default() }],
    };
    Section {
        heading: "How many packets can it take?".into(),
        anchor: "capacity".into(),
        intro: vec![
            "Past its capacity a machine falls behind without end. The bars show where that is.".into(),
        ],
        blocks: vec![Block::Chart(chart)],
        folded: false,
    }
}

fn capacity_points(base: &[f64], pool: usize) -> Vec<Point> {
    let loss = [1.0, 0.995, 0.93, 0.92][pool];
    let points = base.iter().zip(0_u32..).map(|(capacity, category)| Point {
        missed_target: category == 4 && pool == 3,
        ..Point::new(f64::from(category), Estimate::new(capacity * loss, capacity * 0.012))
    });
    points.collect()
}

/// Table 2 of Salehi 1994: Locking and IPS in turn, hot and first level cold, stack cached and migrating.
const TABLE_2: [(&str, &str, [f64; 8]); 6] = [
    ("A1", "none", [66.6, 57.4, 91.9, 80.5, 86.8, 77.3, 110.2, 98.5]),
    ("A2", "3", [83.3, 74.0, 111.4, 100.2, 103.9, 94.0, 130.5, 118.4]),
    ("A3", "1, 3, 4", [103.0, 87.5, 131.2, 113.8, 124.6, 108.4, 148.9, 130.7]),
    ("B1", "1, 2", [105.1, 77.0, 129.0, 100.1, 125.8, 97.4, 146.9, 117.0]),
    ("B2", "2, 3", [111.3, 89.7, 139.9, 116.9, 130.8, 108.7, 155.3, 131.6]),
    ("B3", "1, 2, 3, 4", [130.2, 102.5, 158.1, 128.9, 149.9, 121.9, 173.1, 143.9]),
];

fn costs() -> Section {
    let measured = |row: usize, column: usize, micros: f64| match (row, column) {
        (2, 4..) => Cell::missing("the machine has one processor that may be used: nothing can migrate"),
        _ => Cell::Value {
            value: Estimate::new(micros * 0.021, micros * 0.000_12),
            decimals: 3,
            missed_target: (row + column) % 7 == 3,
        },
    };
    let published =
        |_: usize, _: usize, micros: f64| Cell::value(Estimate { mean: micros, half_width: None }, 1);
    Section {
        heading: "What does a packet cost?".into(),
        anchor: "costs".into(),
        intro: vec![
            "Each experiment arranges what a packet finds in the cache: whether the lines it writes were last \
             written by this processor or by another, and whether the thread's stack is here."
                .into(),
        ],
        blocks: vec![
            Block::Table(cost_table("costs-here", "Measured here: time of a packet (µs), sample data", measured)),
            Block::Table(cost_table("costs-1994", "Published in 1994, SGI Challenge XL: time of a packet (µs)", published)),
        ],
        folded: false,
    }
}

fn cost_table(id: &str, caption: &str, cell: impl Fn(usize, usize, f64) -> Cell) -> Table {
    let header = vec![
        vec![
            HeaderCell::new("Experiment").over_rows(3),
            HeaderCell::new("Overheads").over_rows(3),
            HeaderCell::new("Thread stack cached").over_columns(4),
            HeaderCell::new("Thread stack migrates").over_columns(4),
        ],
        ["hot", "first level cold", "hot", "first level cold"]
            .map(|t| HeaderCell::new(t).over_columns(2))
            .to_vec(),
        APPROACHES.repeat(4).into_iter().map(HeaderCell::new).collect(),
    ];
    let rows = TABLE_2.iter().enumerate().map(|(row, (name, overheads, times))| {
        let values = times.iter().enumerate().map(|(column, micros)| cell(row, column, *micros));
        Row::new(*name, std::iter::once(Cell::text(*overheads)).chain(values).collect())
    });
    let notes = vec![
        "Overheads: 1 locks migrate, 2 session lines migrate, 3 active maps are searched, 4 their history \
         lines migrate."
            .into(),
    ];
    Table { id: id.into(), caption: caption.into(), header, rows: rows.collect(), notes }
}

fn reload() -> Section {
    let hot = 1.2e-6;
    let flushed = |x: f64, half: f64| 1.0 - (-x / half).exp();
    let time = |x: f64| hot + 0.9e-6 * flushed(x, 30e-6) + 2.4e-6 * flushed(x, 4e-3);
    let xs = |steps: i32| (0..=steps).map(move |i| 1e-6 * 10_f64.powf(6.0 * f64::from(i) / f64::from(steps)));
    let wiggle = |x: f64| 1.0 + 0.035 * (x.ln() * 5.3).sin();
    let measured =
        xs(12).map(|x| Point::new(x, Estimate::new(time(x) * wiggle(x), time(x) * 0.025))).collect();
    let fitted = xs(80).map(|x| Point::new(x, Estimate::new(time(x), time(x) * 0.02))).collect();
    let published =
        xs(80).map(|x| Point::new(x, Estimate { mean: time(x * 0.4), half_width: None })).collect();
    let times = Chart {
        id: "reload-time".into(),
        title: "Time of a packet after other work has run for x".into(),
        caption:
            "The longer other work runs on a processor, the less of the protocol is left in its caches. \
                  Dots are measured, the dashed line is the model fitted to them with its 95 % band."
                .into(),
        x: Axis::log("Intervening work, x", Unit::seconds()),
        y: Axis::linear("Time of a packet, t(x)", Unit::seconds()),
        choices: vec![],
        views: vec![View {
            series: vec![
                Series::new("measured", Style::Points, measured),
                Series::new("model, constants fitted here", Style::Curve, fitted),
                Series::new("model, constants of Salehi 1994", Style::Curve, published),
            ],
            marks: vec![
                Mark { label: "all caches hot".into(), axis: Direction::Y, at: hot },
                Mark { label: "all caches cold".into(), axis: Direction::Y, at: 4.5e-6 },
            ],
            ..View::default()
        }],
    };
    let flush = |name: &str, half: f64| {
        let points =
            xs(80).map(|x| Point::new(x, Estimate { mean: 100.0 * flushed(x, half), half_width: None }));
        Series::new(name, Style::Curve, points.collect())
    };
    let flushes = Chart {
        id: "flush-curves".into(),
        title: "How much of the protocol each cache level has lost after x".into(),
        caption: "The first level forgets within tens of microseconds, the last within tens of milliseconds."
            .into(),
        x: Axis::log("Intervening work, x", Unit::seconds()),
        y: Axis::linear("Displaced, F(x)", Unit::plain("%")),
        choices: vec![],
        views: vec![View {
            series: vec![
                flush("F1, 48 KiB", 30e-6),
                flush("F2, 1 MiB", 4e-3),
                flush("F3, 32 MiB, shared by 2 cores", 60e-3),
            ],
            ..View::default()
        }],
    };
    Section {
        heading: "How fast do the caches forget?".into(),
        anchor: "reload".into(),
        intro: vec![
            "Between two packets a processor does other work, and that work displaces the protocol.".into(),
        ],
        blocks: vec![Block::Chart(times), Block::Chart(flushes)],
        folded: false,
    }
}

fn words() -> Section {
    Section {
        heading: "Words used here".into(),
        anchor: "words".into(),
        intro: vec![],
        blocks: vec![Block::Glossary(vec![
            Term::new("Locking", "One protocol stack for all processors; locks keep them apart."),
            Term::new("IPS", "Independent protocol stacks: one per processor, a packet stays within one."),
            Term::new(
                "MRU, LRU",
                "Of the idle processors, the one that worked on packets most, or least, recently.",
            ),
            Term::new("Wired-Streams", "Every stream has one processor that all its packets go to."),
            Term::new(
                "Half-width",
                "With 95 % confidence the true mean is within this distance of the value shown.",
            ),
        ])],
        folded: false,
    }
}

fn manifest() -> Manifest {
    Manifest {
        command: ["warmcore", "study", "--processors", "2,8,64"].map(Into::into).to_vec(),
        facts: vec![
            FactGroup::new(
                "Machine (made up)",
                [
                    ("Processors", "2 logical, 2 cores, no SMT"),
                    ("First level", "48 KiB data, 12 ways, 64 B lines, private"),
                    ("Second level", "1 MiB, 8 ways, private"),
                    ("Third level", "32 MiB, 16 ways, shared by cpus 0-1"),
                ],
            ),
            FactGroup::new(
                "Limits",
                [("Allowed cpus", "0-1"), ("Hardware counters", "none on this machine")],
            ),
        ],
        seeds: vec![Seed { purpose: "the simulation".into(), value: 1994 }],
        scenario: Some(
            "[scenario]\nversion = 1\nprocessors = [2, 8, 64]\n\n[traffic]\narrivals = \"poisson\"\n".into(),
        ),
        ..Manifest::now("warmcore", "0.1.0")
    }
}
