//! The tables and charts of the report, ours beside the published ones.

use super::predictions::{Policy, Predictions, Quantity};
use super::standard::{misses_as_intervening, of_application, share_of_bin, share_of_end};
use super::tables::{App, TableV, Workload};
use warmcore_record::chart::{Axis, Choice, Point, Series, Style, Unit, View};
use warmcore_record::table::{Cell, HeaderCell, Row};
use warmcore_record::{Block, Chart, Table};
use warmcore_sim::runqueue::Tally;
use warmcore_units::Estimate;

/// A published figure and ours.
type Pair = (f64, Option<Estimate<f64>>);

/// A row as published, and ours below it.
fn pair(name: &str, figures: &[Pair]) -> [Row; 2] {
    let published = figures.iter().map(|(published, _)| Cell::value(Estimate::published(*published), 1));
    let ours = figures
        .iter()
        .map(|(_, ours)| ours.map_or_else(|| Cell::missing("not simulated"), |ours| Cell::value(ours, 1)));
    [Row::new(format!("{name}: published"), published.collect()), Row::new("ours", ours.collect())]
}

fn compared(id: &str, caption: &str, header: Vec<Vec<HeaderCell>>, rows: Vec<Row>, note: &str) -> Vec<Block> {
    let notes = vec![note.to_owned()];
    vec![Block::Table(Table { id: id.to_owned(), caption: caption.to_owned(), header, rows, notes })]
}

const NOTE: &str = "Ours with the half-width of the 95 % interval over independent runs.";

pub(super) fn table_ii(predictions: &Predictions) -> Vec<Block> {
    let rows = |app: App| {
        let published = app.characteristics().intervals;
        let ours = |bin| of_application(predictions, app, |one| share_of_bin(&one.dispatches, bin));
        let figures: Vec<Pair> = (0..7).map(|bin| (published[bin], ours(bin))).collect();
        pair(app.name(), &figures)
    };
    let header = ["", "1–5 ms", "5–9 ms", "9–13 ms", "13–17 ms", "17–21 ms", "21–25 ms", "25–30 ms"];
    let rows = App::ALL.into_iter().flat_map(rows).collect();
    compared("table-ii", "Dispatch intervals, percent", Table::simple_header(header), rows, NOTE)
}

pub(super) fn table_iii(predictions: &Predictions) -> Vec<Block> {
    let rows = |app: App| {
        let published = app.characteristics().ends;
        let ours = |cause| of_application(predictions, app, |one| share_of_end(one, cause));
        let figures: Vec<Pair> = (0..4).map(|cause| (published[cause], ours(cause))).collect();
        pair(app.name(), &figures)
    };
    let header = ["", "end of quantum", "semaphore", "synchronisation", "system call, TLB fault, other"];
    let rows = App::ALL.into_iter().flat_map(rows).collect();
    compared("table-iii", "Why dispatch intervals end, percent", Table::simple_header(header), rows, NOTE)
}

pub(super) fn table_iv(predictions: &Predictions) -> Vec<Block> {
    let rows = |app: App| {
        let published = app.characteristics();
        let slice = of_application(predictions, app, |one| one.slices.median_ms(1.0));
        let misses = of_application(predictions, app, |one| misses_as_intervening(app, one));
        pair(app.name(), &[(published.slice_ms, slice), (published.intervening, misses)])
    };
    let header = ["", "median effective slice, ms", "misses in a slice, thousands"];
    let note = "The published misses are of slices that begin with flushed caches; ours are the steady ones of our slices, and the reload of the same table.";
    let rows = App::ALL.into_iter().flat_map(rows).collect();
    compared("table-iv", "Effective time slices", Table::simple_header(header), rows, note)
}

pub(super) fn table_v(predictions: &Predictions) -> Vec<Block> {
    let rows = |workload: Workload| {
        let published = workload.row()?;
        let [time, misses, idle] = published.standard;
        let standard = |of: fn(&Tally) -> f64| predictions.estimate(workload, Policy::Standard, of);
        let mut figures: Vec<Pair> = vec![
            (time, standard(Tally::mean_completion_s)),
            (misses, standard(|run| run.misses() / 1e6)),
            (idle, standard(|run| 100.0 * run.idle)),
        ];
        let [attached_time, attached_misses, attached_idle] = published.attached;
        for (policy, [time, misses]) in [
            (Policy::Light, published.light),
            (Policy::Heavy, published.heavy),
            (Policy::Attached, [attached_time, attached_misses]),
        ] {
            let change = |quantity| predictions.change(workload, policy, Policy::Standard, quantity);
            figures.push((time, change(Quantity::Time)));
            figures.push((misses, change(Quantity::Misses)));
        }
        let idle = predictions.estimate(workload, Policy::Attached, |run| 100.0 * run.idle);
        figures.push((attached_idle, idle));
        Some(pair(&workload.name(), &figures))
    };
    let groups = [("standard", 3), ("light affinity", 2), ("heavy affinity", 2), ("attached", 3)];
    let groups = groups.map(|(name, columns)| HeaderCell::new(name).over_columns(columns));
    let columns = ["s", "million misses", "idle %"]
        .into_iter()
        .chain(["time %", "misses %"].repeat(3))
        .chain(["idle %"])
        .map(HeaderCell::new);
    let header =
        vec![std::iter::once(HeaderCell::new("").over_rows(2)).chain(groups).collect(), columns.collect()];
    let rows = Workload::TABLE_V.into_iter().filter_map(rows).flatten().collect();
    compared(
        "table-v",
        "Execution times and misses; changes against the standard scheduler",
        header,
        rows,
        NOTE,
    )
}

/// Figures 1 and 2: effective time slices, one view for each workload. Slices are counted as a share of those under the standard
/// scheduler.
pub(super) fn slices(predictions: &Predictions, id: &str, policy: Policy) -> Vec<Block> {
    let view = |(pick, workload): (usize, Workload)| {
        let apps = workload.applications();
        let count = |run: &Tally| -> f64 {
            run.applications.iter().map(|one| one.slices.between(1.0, f64::INFINITY) as f64).sum()
        };
        let all = predictions.estimate(workload, Policy::Standard, count).map_or(1.0, |all| all.mean);
        let series = apps.iter().enumerate().map(|(place, app)| {
            let point = |bin: usize| {
                let [from, to] = [bin, bin + 1].map(|edge| 1.0_f64.max(edge as f64 * 10.0));
                let share = predictions.estimate(workload, policy, |run| {
                    100.0 * run.applications[place].slices.between(from, to) as f64 / all
                });
                share.map(|share| Point::new(bin as f64 * 10.0 + 5.0, share))
            };
            Series::new(
                format!("{} {}", app.name(), place + 1),
                Style::Line,
                (0..70).filter_map(point).collect(),
            )
        });
        View { picks: vec![pick], series: series.collect(), ..View::default() }
    };
    let options = Workload::TABLE_V.map(Workload::name).to_vec();
    vec![Block::Chart(Chart {
        id: id.to_owned(),
        title: format!("Effective time slices: {policy}"),
        caption: "Slices of at least 1 ms in bins of 10 ms, in percent of all under the standard scheduler."
            .to_owned(),
        x: Axis::linear("effective time slice", Unit::plain("ms")),
        y: Axis::linear("share", Unit::plain("%")),
        choices: vec![Choice { label: "Workload".to_owned(), options, initial: 0 }],
        views: Workload::TABLE_V.into_iter().enumerate().map(view).collect(),
    })]
}

/// The workloads whose applications are drawn in figure 3. The text does not name its two.
const FIGURE_3: [Workload; 2] = [Workload::MatrixMatrix, Workload::PmakeMatrix];

/// Figure 3: CPU time over time under heavy affinity.
pub(super) fn figure_3(predictions: &Predictions) -> Vec<Block> {
    let view = |(pick, workload): (usize, Workload)| {
        let apps = workload.applications();
        let series = apps.iter().enumerate().filter_map(|(place, app)| {
            let outcome = predictions.outcomes.get(&(workload, Policy::Heavy))?;
            let seconds = outcome.runs.iter().map(|run| run.applications[place].cpu_by_second.len()).min()?;
            let point = |second: usize| {
                let used = outcome.estimate(|run| run.applications[place].cpu_by_second[second]);
                Point::new((second + 1) as f64, used)
            };
            let name = format!("{} {}", app.name(), place + 1);
            Some(Series::new(name, Style::Line, (0..seconds).map(point).collect()))
        });
        View { picks: vec![pick], series: series.collect(), ..View::default() }
    };
    vec![Block::Chart(Chart {
        id: "figure-3-cpu".to_owned(),
        title: "CPU time under heavy affinity".to_owned(),
        caption: "Equal slopes are a fair allocation.".to_owned(),
        x: Axis::linear("time", Unit::plain("s")),
        y: Axis::linear("CPU time of the application", Unit::plain("s")),
        choices: vec![Choice {
            label: "Workload".to_owned(),
            options: FIGURE_3.map(Workload::name).to_vec(),
            initial: 0,
        }],
        views: FIGURE_3.into_iter().enumerate().map(view).collect(),
    })]
}

/// Figures 4 and 5: time under several schedulers, in percent of the standard one.
pub(super) fn bars(
    predictions: &Predictions,
    id: &str,
    workloads: &[Workload],
    policies: &[Policy],
) -> Vec<Block> {
    let series = |&policy: &Policy| {
        let points = workloads.iter().enumerate().filter_map(|(place, &workload)| {
            let change = predictions.change(workload, policy, Policy::Standard, Quantity::Time)?;
            Some(Point::new(place as f64, Estimate::new(100.0 + change.mean, change.half())))
        });
        Series::new(policy.to_string(), Style::Line, points.collect())
    };
    let names = workloads.iter().map(|workload| workload.name());
    vec![Block::Chart(Chart {
        id: id.to_owned(),
        title: "Execution time against the standard scheduler".to_owned(),
        caption: "In percent of the time with the standard scheduler and quanta of 30 ms.".to_owned(),
        x: Axis::categories("workload", names),
        y: Axis::linear("execution time", Unit::plain("%")),
        choices: Vec::new(),
        views: vec![View { series: policies.iter().map(series).collect(), ..View::default() }],
    })]
}

/// The changes of Table V, published and ours: the answer in one picture.
pub(super) fn lead(predictions: &Predictions) -> Chart {
    let workloads: Vec<Workload> = Workload::TABLE_V.to_vec();
    let views = TABLE_V_COLUMNS.iter().enumerate().map(|(pick, &(_, policy, quantity, published))| {
        let points = |of: &dyn Fn(Workload) -> Option<Estimate<f64>>| -> Vec<Point> {
            let at = |(place, &workload): (usize, &Workload)| Some(Point::new(place as f64, of(workload)?));
            workloads.iter().enumerate().filter_map(at).collect()
        };
        let printed = points(&|workload| Some(Estimate::published(published(workload.row()?))));
        let ours = points(&|workload| predictions.change(workload, policy, Policy::Standard, quantity));
        let series =
            vec![Series::new("published", Style::Bars, printed), Series::new("ours", Style::Bars, ours)];
        View { picks: vec![pick], series, ..View::default() }
    });
    Chart {
        id: "table-v-changes".to_owned(),
        title: "Table V: published and ours".to_owned(),
        caption: "How misses and times change against the standard scheduler. Our models were fitted to that scheduler alone. Half-widths \
                  are of 95 % intervals over independent runs."
            .to_owned(),
        x: Axis::categories("workload", workloads.iter().map(|workload| workload.name())),
        y: Axis::linear("change", Unit::plain("%")),
        choices: vec![Choice {
            label: "Change of".to_owned(),
            options: TABLE_V_COLUMNS.iter().map(|column| column.0.to_owned()).collect(),
            initial: 0,
        }],
        views: views.collect(),
    }
}

/// A column of Table V: its name, scheduler and quantity, and its published values.
pub(super) type Column = (&'static str, Policy, Quantity, fn(TableV) -> f64);

/// The predicted columns of Table V.
pub(super) const TABLE_V_COLUMNS: [Column; 6] = [
    ("misses, light affinity", Policy::Light, Quantity::Misses, |row| row.light[1]),
    ("time, light affinity", Policy::Light, Quantity::Time, |row| row.light[0]),
    ("misses, heavy affinity", Policy::Heavy, Quantity::Misses, |row| row.heavy[1]),
    ("time, heavy affinity", Policy::Heavy, Quantity::Time, |row| row.heavy[0]),
    ("misses, attached", Policy::Attached, Quantity::Misses, |row| row.attached[1]),
    ("time, attached", Policy::Attached, Quantity::Time, |row| row.attached[0]),
];
