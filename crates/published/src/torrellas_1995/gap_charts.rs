//! The charts and tables of the open parameters: what the calibration chose, and how much each result depends on them.

use super::blind::{Choice as Chosen, Misfit, REPLICAS};
use super::charts::{Column, TABLE_V_COLUMNS};
use super::gaps::Gap;
use super::open::{OpenParameter, Origin};
use super::predictions::{Policy, Predictions};
use super::tables::Workload;
use warmcore_record::chart::{Axis, Choice, Direction, Mark, Point, Series, Style, Unit, View};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Table};
use warmcore_units::Estimate;

/// The claims that compare all workloads with each column of Table V.
const CLAIMS: [&str; 6] =
    ["light-misses", "light-time", "heavy-misses", "heavy-time", "attached-misses", "attached-time"];

/// How much the changes of Table V depend on each open parameter; nothing if none was varied.
pub(super) fn sensitivity(predictions: &Predictions) -> Vec<Block> {
    if predictions.gaps.tried.is_empty() {
        return Vec::new();
    }
    let open = &predictions.replicas.open;
    let views = Workload::TABLE_V.into_iter().enumerate().flat_map(|(place, workload)| {
        TABLE_V_COLUMNS
            .iter()
            .enumerate()
            .map(move |(at, column)| view(predictions, (place, workload), (at, column)))
    });
    let names = OpenParameter::ALL.map(|parameter| format!("{} = {}", parameter.name, parameter.value(open)));
    vec![Block::Chart(Chart {
        id: "open-parameters".to_owned(),
        title: "How much each change of Table V depends on what the text leaves open".to_owned(),
        caption: "Each open parameter has the value beside its name in our results, and its other values one at a time here, with the \
                  calibration made anew. A gap matters to a result if its marks lie far from the line of ours, and can explain a \
                  difference if one of them reaches the published line."
            .to_owned(),
        x: Axis::linear("change", Unit::plain("%")),
        y: Axis::categories("open parameter", names),
        choices: vec![
            Choice { label: "Workload".to_owned(), options: Workload::TABLE_V.map(Workload::name).to_vec(), initial: 0 },
            Choice {
                label: "Change of".to_owned(),
                options: TABLE_V_COLUMNS.iter().map(|column| column.0.to_owned()).collect(),
                initial: 0,
            },
        ],
        views: views.collect(),
    })]
}

fn view(
    predictions: &Predictions,
    (place, workload): (usize, Workload),
    (column, &(_, policy, quantity, published)): (usize, &Column),
) -> View {
    let open = &predictions.replicas.open;
    let published = workload.row().map(published);
    let mark = |label: &str, at: f64| Mark { label: label.to_owned(), axis: Direction::X, at };
    let ours = predictions.change(workload, policy, Policy::Standard, quantity);
    let marks = published
        .map(|at| mark("published", at))
        .into_iter()
        .chain(ours.map(|ours| mark("ours", ours.mean)))
        .collect();
    let at = |gap: &Gap| Some(ours?.mean + predictions.gaps.shift(gap, CLAIMS[column], place)?);
    let series = [("other value", false), ("greater value", true)].map(|(name, is_above)| {
        let points = OpenParameter::ALL.iter().enumerate().flat_map(|(row, parameter)| {
            let own = parameter.value(open);
            let others = predictions
                .gaps
                .tried
                .iter()
                .filter(move |gap| gap.parameter.name == parameter.name && (gap.value > own) == is_above);
            others.filter_map(move |gap| {
                let note = Some(format!("{} = {}", gap.parameter.name, gap.value));
                Some(Point { note, ..Point::new(at(gap)?, Estimate::published(row as f64)) })
            })
        });
        let mut points: Vec<Point> = points.collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        let name = if is_above { name } else { "smaller value" };
        Series::new(name, Style::Points, points)
    });
    View { picks: vec![place, column], series: series.to_vec(), marks, ..View::default() }
}

/// What each open parameter was set to, and why.
pub(super) fn chosen(predictions: &Predictions) -> Vec<Block> {
    let open = &predictions.replicas.open;
    let row = |parameter: OpenParameter| {
        let listed = |values: &[f64]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let origin = match (parameter.origin, &predictions.choice) {
            (Origin::Document(document), _) => document.to_owned(),
            (Origin::Calibration, Some(choice)) => reason(choice, &parameter),
            (Origin::Calibration, None) => "as recorded of a full run".to_owned(),
        };
        let cells = [
            parameter.value(open).to_string(),
            listed(parameter.values),
            parameter.neutral.to_string(),
            origin,
        ];
        Row::new(parameter.name, cells.map(Cell::text).to_vec())
    };
    let note = predictions.choice.as_ref().map_or_else(
        || "A full run searches the values anew, from the standard scheduler's data alone.".to_owned(),
        |Chosen { misfit, .. }| {
            let [neutral, best] = misfit.map(Misfit::mean);
            format!("In parentheses, by how much other values change the mean misfit of {REPLICAS} calibrations. Misfit of the standard \
                     scheduler: {neutral:.1} with all neutral values, {best:.1} with those chosen.")
        },
    );
    let header = ["", "value", "tried", "neutral", "why"];
    let rows = OpenParameter::ALL.map(row).to_vec();
    vec![Block::Table(Table {
        id: "open-choice".to_owned(),
        caption: "The open parameters, chosen without sight of a predicted column".to_owned(),
        header: Table::simple_header(header),
        rows,
        notes: vec![note],
    })]
}

/// Why the search gave `parameter` its value.
fn reason(choice: &Chosen, parameter: &OpenParameter) -> String {
    let trials = choice.trials.iter().filter(|trial| trial.parameter.name == parameter.name);
    let tried: Vec<String> = trials
        .clone()
        .map(|trial| format!("{}: {:+.1}", trial.value, trial.misfit.mean() - trial.before.mean()))
        .collect();
    let verb = if trials.clone().any(|trial| trial.taken) {
        "lowers the misfit in each calibration"
    } else {
        "no other lowers the misfit in each calibration"
    };
    format!("{verb} ({})", tried.join("; "))
}
