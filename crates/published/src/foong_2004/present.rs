//! The report: for a reader who has never seen the source.

use super::claims::{Concluded, Verdict, percent};
use super::points::{Affinity, Direction, Point, Quantity};
use warmcore_record::chart::{Axis, Choice, Series, Style, Unit, View};
use warmcore_record::document::{Confidence, Level, Statement};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Document, Manifest, Section, Table, Verdict as Answer};
use warmcore_stats::blocks::Verdict as Visible;
use warmcore_stats::paired::Change;
use warmcore_units::Estimate;

/// The report on `points` and what was concluded from them, with their provenance.
#[must_use]
pub fn document(points: &[Point], claims: &[Concluded], manifest: Manifest) -> Document {
    Document {
        title: "User-directed affinity, 2004: bulk transfers tried again".to_owned(),
        subtitle: format!("{}. Between two network namespaces of this machine.", super::SOURCE),
        verdict: answer(claims),
        sections: vec![
            question(),
            all_claims(claims),
            figure_2(points),
            figure_3(points),
            figure_5(points),
            readings(),
        ],
        manifest,
    }
}

fn answer(claims: &[Concluded]) -> Answer {
    let count = |verdict: Verdict| claims.iter().filter(|concluded| concluded.verdict == verdict).count();
    let all = [Verdict::Holds, Verdict::HoldsPartly, Verdict::Differs, Verdict::NotMeasured];
    let counted: Vec<String> = all.map(|verdict| format!("{} {verdict}", count(verdict))).to_vec();
    let statement = |concluded: &Concluded| Statement {
        text: format!("{} – {}.", concluded.claim.says.trim_end_matches('.'), concluded.verdict),
        evidence: vec![format!("Published: {}; ours: {}.", concluded.claim.published, concluded.ours())],
        confidence: Confidence {
            level: match concluded.verdict {
                Verdict::Holds => Level::High,
                Verdict::HoldsPartly => Level::Moderate,
                Verdict::Differs | Verdict::NotMeasured => Level::Low,
            },
            reason: format!("{}.", concluded.reason),
        },
    };
    Answer {
        headline: format!("Of {} claims: {}.", claims.len(), counted.join(", ")),
        statements: claims.iter().map(statement).collect(),
        ..Answer::default()
    }
}

fn question() -> Section {
    let story = "A packet is worked off on the cpu to which its interrupt goes, and the program that reads it runs on \
                 the cpu where the scheduler puts it. If these differ, what the one has touched is not in the cache of \
                 the other. Foong, Fung and Newell measured in 2004 what it gains to direct both: bulk transfers by \
                 eight ttcp processes over eight network cards, under four models of affinity.";
    let anew = "This report transfers anew, between two network namespaces of this machine: each connection has its own \
                virtual wire, and the softirq mask of the wire's receive queues says on which cpu its packets are \
                worked off, as the interrupt's mask does for a card.";
    section("question", "What this report is about", &[story, anew], Vec::new())
}

fn section(anchor: &str, heading: &str, intro: &[&str], blocks: Vec<Block>) -> Section {
    let intro = intro.iter().map(|paragraph| (*paragraph).to_owned()).collect();
    Section { heading: heading.to_owned(), anchor: anchor.to_owned(), intro, blocks, folded: false }
}

fn all_claims(claims: &[Concluded]) -> Section {
    let rule = "A gain \"of up to\" a figure is looked for at every size, in both directions; ours is the greatest that \
                can be told from chance. It holds if its interval reaches to within a fifth of the published figure, \
                and holds partly if there is a gain of another amount, or if the interval does not decide. Intervals are of 95 %; no affinity is tried \
                twice in every block, and where it differs from itself a point says nothing.";
    let row = |concluded: &Concluded| {
        let verdict = concluded.verdict.to_string();
        let cells =
            [concluded.claim.published.to_owned(), concluded.ours(), verdict, concluded.reason.clone()];
        Row::new(concluded.claim.says, cells.map(Cell::text).to_vec())
    };
    let table = Table {
        id: "all-claims".to_owned(),
        caption: "Every claim of the source about these figures".to_owned(),
        header: Table::simple_header(["The source says", "published", "ours", "verdict", "why"]),
        rows: claims.iter().map(row).collect(),
        notes: Vec::new(),
    };
    section("claims", "What the source says, and what we find", &[rule], vec![Block::Table(table)])
}

fn figure_2(points: &[Point]) -> Section {
    let throughput =
        chart(points, "throughput", "Throughput by size", "throughput", "Gbit/s", Quantity::Throughput, 1e-9);
    let cpu_use = chart(points, "cpu-use", "Cpu use by size", "cpu use", "%", Quantity::CpuUse, 100.0);
    let table = changes(points, "gains", "Throughput against no affinity", Quantity::Throughput);
    let intro =
        "The source's figure 2 shows cpu use and throughput over the size of a transaction, for each model.";
    section("figure-2", "Figure 2: cpu use and throughput", &[intro], [throughput, cpu_use, table].concat())
}

fn figure_3(points: &[Point]) -> Section {
    let cost = chart(points, "cost", "Cost by size", "cost", "cycles per bit", Quantity::Cost, 1.0);
    let table = changes(points, "savings", "Cost against no affinity", Quantity::Cost);
    let intro = "Cycles for each bit, the source's GHz/Gbps: cpu use and throughput in one. Both ends work on this \
                 machine, so it is the cost of sending and receiving together.";
    section(
        "figure-3",
        "Figure 3: processing costs",
        &[intro],
        [cost, table, notes(points, |point| &point.cycles)].concat(),
    )
}

fn figure_5(points: &[Point]) -> Section {
    let row = |point: &Point| {
        let cell = |(quantity, why): (Quantity, &str)| {
            changed(point.compared(Affinity::Full, Affinity::Nobody, quantity), why)
        };
        let cells = [
            (Quantity::Cost, "no cost could be had"),
            (Quantity::L2Misses, "not counted here"),
            (Quantity::L3Misses, "not counted here"),
        ];
        Row::new(point.place(), cells.map(cell).to_vec())
    };
    let table = Table {
        id: "reductions".to_owned(),
        caption: "Changes from no to full affinity, for each bit, with 95 % intervals".to_owned(),
        header: Table::simple_header(["", "time (cycles)", "L2 misses", "L3 misses"]),
        rows: points.iter().map(row).collect(),
        notes: vec![MARKS.to_owned()],
    };
    let blocks = [vec![Block::Table(table)], notes(points, |point| &point.counters)].concat();
    let intro = "The source's figure 5 sets the reduction in time beside those in L2 and L3 misses, from no to full \
                 affinity, normalised to work done.";
    section("figure-5", "Figure 5: reductions from no to full affinity", &[intro], blocks)
}

/// What the points say of themselves, once for all that say the same.
fn notes(points: &[Point], note: fn(&Point) -> &String) -> Vec<Block> {
    let mut told: Vec<&String> = points.iter().map(note).collect();
    told.dedup();
    told.into_iter().map(|note| Block::Note(note.clone())).collect()
}

fn readings() -> Section {
    let readings = [
        "No affinity is the source's: all packets come to the first cpu, as all interrupts did on its kernel, and the \
         scheduler places programs. Process affinity keeps it so and places programs. A veth without steering works \
         packets off on the sender's cpu, which is nearly aligned by itself; that is the model \"no steering\".",
        "A size is that of each write of the sender. Receivers read all there is at once, in both directions.",
        "The source's machine under test did one side of a transfer; here both sides share the cpus, so that sending \
         and receiving differ by who made the connection only. TX and RX are two measurements of nearly the same.",
        "The source has eight cards and gigabit wires; virtual wires are as fast as the cpus copy.",
    ];
    let blocks = readings.map(|reading| Block::Paragraph(reading.to_owned())).to_vec();
    section("readings", "How the source was read, and what is different here", &[], blocks)
}

/// A line for each model, over the sizes; a view for each direction.
fn chart(
    points: &[Point],
    id: &str,
    title: &str,
    label: &str,
    unit: &str,
    quantity: Quantity,
    scale: f64,
) -> Vec<Block> {
    let mut directions: Vec<Direction> = points.iter().map(|point| point.direction).collect();
    directions.dedup();
    let view = |(pick, &direction): (usize, &Direction)| {
        let line = |affinity: Affinity| {
            let of_model = points.iter().filter(|point| point.direction == direction);
            let drawn = of_model.filter_map(|point| {
                let Estimate { mean, half_width } = point.runs.get(&affinity)?.estimate(quantity)?;
                let value = Estimate { mean: mean * scale, half_width: half_width.map(|half| half * scale) };
                Some(warmcore_record::chart::Point::new(point.size as f64, value))
            });
            Series::new(affinity.to_string(), Style::Line, drawn.collect())
        };
        let series = Affinity::ALL.map(line).into_iter().filter(|series| !series.points.is_empty()).collect();
        View { picks: vec![pick], series, ..View::default() }
    };
    let views: Vec<View> = directions.iter().enumerate().map(view).collect();
    if views.iter().all(|view| view.series.is_empty()) {
        return vec![Block::Note(format!("{title}: not here: the kernel does not tell what it takes."))];
    }
    let options = directions.iter().map(ToString::to_string).collect();
    vec![Block::Chart(Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: "Means over the blocks, with the half-widths of their 95 % intervals.".to_owned(),
        x: Axis::log("size of a write", Unit::plain("B")),
        y: Axis::linear(label, Unit::plain(unit)),
        choices: vec![Choice { label: "Direction".to_owned(), options, initial: 0 }],
        views,
    })]
}

/// Each model against no affinity, at every point.
fn changes(points: &[Point], id: &str, caption: &str, quantity: Quantity) -> Vec<Block> {
    let models = [Affinity::ProcessOnly, Affinity::InterruptOnly, Affinity::Full, Affinity::Today];
    let row = |point: &Point| {
        let why = "it could not be had";
        let cell = |model| changed(point.compared(model, Affinity::Nobody, quantity), why);
        let itself = point.itself(quantity);
        let itself = itself.map_or_else(|| Cell::missing(why), |change| Cell::text(percent(&change)));
        Row::new(point.place(), [itself].into_iter().chain(models.map(cell)).collect())
    };
    let first = ["", "no affinity, again"].map(str::to_owned);
    let names = first.into_iter().chain(models.map(|model| model.to_string()));
    vec![Block::Table(Table {
        id: id.to_owned(),
        caption: format!("{caption}, with 95 % intervals"),
        header: Table::simple_header(names),
        rows: points.iter().map(row).collect(),
        notes: vec![MARKS.to_owned()],
    })]
}

/// What the marks of [`changed`] mean.
const MARKS: &str = "A change without a mark can be told from chance, and is more than no affinity differed from \
                     itself. ‡ cannot be told from these. † no affinity differed from itself: nothing can be told.";

/// A change, marked where it is none or may be none; `why` it is missing.
fn changed(compared: Option<(Change, Visible)>, why: &str) -> Cell {
    let Some((change, visible)) = compared else { return Cell::missing(why) };
    let mark = match visible {
        Visible::More | Visible::Less => "",
        Visible::NotVisible => " ‡",
        Visible::Unsound => " †",
    };
    Cell::text(percent(&change) + mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foong_2004::{Runs, conclude};

    fn points(cost: &[f64]) -> Vec<Point> {
        let runs = Runs {
            throughput: vec![1e10, 1.1e10],
            cpu_use: vec![0.9, 1.0],
            cost: cost.to_vec(),
            ..Runs::default()
        };
        let each = [Direction::Transmit, Direction::Receive].map(|direction| {
            let of_model = Affinity::ALL.map(|affinity| (affinity, runs.clone()));
            [64, 65_536].map(|size| Point {
                direction,
                size,
                runs: of_model.clone().into(),
                control: runs.clone(),
                cycles: "Cycles are busy time.".to_owned(),
                counters: "No counters here: the system said so.".to_owned(),
            })
        });
        each.concat()
    }

    fn report(points: &[Point]) -> Document {
        let document = document(points, &conclude(points), Manifest::now("test", "0"));
        document.validate().expect("a sound document");
        document
    }

    #[test]
    fn every_figure_is_there_and_what_is_not_counted_says_so() {
        let document = report(&points(&[1.0, 1.1]));
        let charts: Vec<&str> = document.charts().map(|chart| chart.id.as_str()).collect();
        assert_eq!(charts, ["throughput", "cpu-use", "cost"]);
        assert!(document.charts().all(|chart| chart.views.len() == 2 && chart.views[0].series.len() == 5));
        let page = warmcore_report::render(&document);
        assert!(page.contains("No counters here: the system said so.") && page.contains("not counted here"));
        assert!(page.contains("Cycles are busy time."));
    }

    #[test]
    fn a_change_that_chance_may_have_made_is_marked() {
        let runs = |around: f64| Runs {
            throughput: [0.98, 1.0, 1.02].map(|of| of * around).to_vec(),
            ..Runs::default()
        };
        let tables = |full: f64, control: f64| {
            let each = [(Affinity::Nobody, runs(1e10)), (Affinity::Full, runs(full))];
            let (direction, size) = (Direction::Transmit, 64);
            let [cycles, counters] = ["by a clock rate", "none"].map(str::to_owned);
            let control = runs(control);
            let point = Point { direction, size, runs: each.into(), control, cycles, counters };
            warmcore_report::render(&report(&[point]))
        };
        let marked = |page: &str, mark: &str| page.contains(&format!("] {mark}<"));
        let page = tables(1.4e10, 1e10);
        assert!(page.contains("no affinity, again") && !marked(&page, "‡") && !marked(&page, "†"), "{page}");
        assert!(marked(&tables(1e10, 1e10), "‡"));
        assert!(marked(&tables(1.4e10, 1.4e10), "†"));
    }

    #[test]
    fn without_a_cost_its_figure_says_so_and_nothing_else_is_lost() {
        let document = report(&points(&[]));
        assert_eq!(document.charts().count(), 2);
        assert!(report(&[]).charts().next().is_none());
    }
}
