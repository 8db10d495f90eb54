//! The charts of Salehi 1994.

use crate::page::capitalised;
use crate::salehi_1994::curves::{Curve, POOL_POLICIES};
use crate::salehi_1994::latency::{MULTIPLES, reduction};
use crate::salehi_1994::rates::NEAR_CAPACITY;
use crate::salehi_1994::simulations::{Simulated, steady};
use crate::salehi_1994::{FigureName, Simulations};
use warmcore_costs::{Approach, Displacement, Experiment, Profile, Situation, ThreadStack};
use warmcore_record::chart::{Axis, Choice, Direction, Look, Mark, Point, Series, Style, Unit, View};
use warmcore_record::table::{Cell, HeaderCell, Row};
use warmcore_record::{Chart, Table};
use warmcore_scenario::Parallelism::{Ips, Locking};
use warmcore_sim::packet::PointResult;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The chart of `figure`; `None` if it is not shown as a chart.
#[must_use]
pub fn chart(simulations: &Simulations, figure: FigureName) -> Option<Chart> {
    let (x, y) = axes(figure)?;
    let choices = choices(figure);
    let views = match choices.first() {
        None => vec![view(simulations, figure, 0, Vec::new())],
        Some(choice) => {
            let options = 0..choice.options.len();
            options.map(|option| view(simulations, figure, option, vec![option])).collect()
        }
    };
    Some(Chart {
        id: format!("chart-{}", figure.name()),
        title: capitalised(&format!("{} against {}", y.label, x.label)),
        caption: caption(figure).to_owned(),
        x,
        y,
        choices,
        views,
    })
}

fn axes(figure: FigureName) -> Option<(Axis, Axis)> {
    let rate = "arrival rate";
    let delay = Axis::log("mean packet delay", Unit::seconds());
    let capacity = Axis::linear("highest rate kept up with", Unit::per_second());
    Some(match figure {
        FigureName::Table2 => return None,
        FigureName::F4 => (
            Axis::log("x, duration of the other work", Unit::seconds()),
            Axis::linear("fraction flushed, F(x)", Unit::plain("")),
        ),
        FigureName::F7a | FigureName::F7b | FigureName::F9a | FigureName::F9b => {
            (Axis::log(rate, Unit::per_second()), delay)
        }
        FigureName::F11a | FigureName::F11b => (
            Axis::log(rate, Unit::per_second()),
            Axis::linear("reduction of end-to-end latency", Unit::plain("%")),
        ),
        FigureName::F15 => (Axis::linear("processors", Unit::plain("")), capacity),
        FigureName::Hosts => (
            Axis::log("processors", Unit::plain("")),
            Axis::log("highest rate kept up with", Unit::per_second()),
        ),
        _ => (Axis::linear(rate, Unit::per_second()), delay),
    })
}

/// The text below the chart of a figure.
const fn caption(figure: FigureName) -> &'static str {
    match figure {
        FigureName::Table2 => "",
        FigureName::F4 => "Computed, not simulated: the curves have no intervals.",
        FigureName::F7a => "Lower is better. A curve ends where its policy no longer keeps up.",
        FigureName::F7b => "Four organisations of the two pools, all else equal.",
        FigureName::F8a => {
            "Vertical lines mark the capacities. Points beyond 90% of a capacity come from shorter runs."
        }
        FigureName::F8b => "Vertical lines mark the capacities.",
        FigureName::F9a => {
            "Delays rise to the right much earlier than under Locking: packets wait for their stack \
              although processors are idle."
        }
        FigureName::F9b => {
            "The gain of free memory grows toward high rates, where its pool limits the capacity."
        }
        FigureName::F10a => "One vertical line: the capacities are equal.",
        FigureName::F10b => "Vertical lines mark the capacities.",
        FigureName::F11a => "Higher means a larger gain from affinity scheduling.",
        FigureName::F11b => "Higher means a larger gain from affinity scheduling.",
        FigureName::F12 => "Colours are policies, dashes are approaches.",
        FigureName::F13a => "Colours are batch sizes, dashes are approaches; both under MRU.",
        FigureName::F13b => "Colours are batch sizes, dashes are approaches; both under MRU.",
        FigureName::F14 => {
            "Colours are the approaches, dashes the mean batch sizes (geometric); all under MRU."
        }
        FigureName::F15 => "Every point is simulated under overload.",
        FigureName::Hosts => {
            "Both axes are logarithmic: a capacity that grows with the processors is a straight line."
        }
    }
}

fn choices(figure: FigureName) -> Vec<Choice> {
    match figure {
        FigureName::F7b | FigureName::F8b | FigureName::F9b | FigureName::F10b => vec![Choice {
            label: "Processors chosen by".to_owned(),
            options: POOL_POLICIES.map(|policy| policy.to_string()).to_vec(),
            initial: 0,
        }],
        _ => Vec::new(),
    }
}

fn view(simulations: &Simulations, figure: FigureName, option: usize, picks: Vec<usize>) -> View {
    let curves: Vec<Curve> = figure.curves().into_iter().filter(|curve| curve.option == option).collect();
    let (series, marks) = match figure {
        FigureName::Table2 => (Vec::new(), Vec::new()),
        FigureName::F4 => (displacement(&simulations.options.profile), Vec::new()),
        FigureName::F11a => (latency(simulations, Locking), Vec::new()),
        FigureName::F11b => (latency(simulations, Ips), Vec::new()),
        FigureName::F15 | FigureName::Hosts => (by_processors(simulations, curves), Vec::new()),
        FigureName::F8a | FigureName::F8b | FigureName::F10a | FigureName::F10b => {
            (against_rate(simulations, &curves, 0.5), capacities(simulations, &curves))
        }
        _ => (against_rate(simulations, &curves, 0.0), Vec::new()),
    };
    View { picks, series, marks, ..View::default() }
}

/// Mean delay at rates of at least `from` times each curve's capacity.
fn against_rate(simulations: &Simulations, curves: &[Curve], from: f64) -> Vec<Series> {
    let series = |curve: &Curve| {
        let simulated = simulations.get(curve.setting)?;
        let enough = |result: &&PointResult| result.rate.0 >= from * simulated.capacity.mean;
        let points = simulated.points.iter().filter(enough).filter_map(|result| delay(simulated, result));
        Some(series_of(curve, Style::Line, points.collect()))
    };
    curves.iter().filter_map(series).collect()
}

fn delay(simulated: &Simulated, result: &PointResult) -> Option<Point> {
    let outcome = steady(result)?;
    let y = outcome.delay.map(Nanos::secs);
    let near = result.rate.0 > simulated.capacity.mean * NEAR_CAPACITY;
    let note = near.then(|| "above 90 % of capacity: a shorter run".to_owned());
    Some(Point { missed_target: !outcome.is_precise(), note, ..Point::new(result.rate.0, y) })
}

/// A vertical line at each capacity; equal capacities share one.
fn capacities(simulations: &Simulations, curves: &[Curve]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for curve in curves {
        let Some(capacity) = simulations.capacity(curve.setting) else { continue };
        match marks.iter().position(|mark| (mark.at / capacity.mean - 1.0).abs() < 0.01) {
            Some(_) => {}
            None => {
                let label = format!("capacity {}", PerSecond(capacity.mean));
                marks.push(Mark { label, axis: Direction::X, at: capacity.mean });
            }
        }
    }
    marks
}

/// Capacity against the number of processors; curves of one name form one series.
fn by_processors(simulations: &Simulations, curves: Vec<Curve>) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for curve in curves {
        let Some(capacity) = simulations.capacity(curve.setting) else { continue };
        let point = Point::new(f64::from(curve.setting.processors), capacity);
        match series.iter_mut().find(|series| series.name == curve.name) {
            Some(series) => series.points.push(point),
            None => series.push(series_of(&curve, Style::Line, vec![point])),
        }
    }
    series
}

fn series_of(curve: &Curve, style: Style, points: Vec<Point>) -> Series {
    let look = Some(Look { colour: curve.colour, pattern: curve.pattern });
    Series { look, ..Series::new(curve.name.clone(), style, points) }
}

fn latency(simulations: &Simulations, approach: warmcore_scenario::Parallelism) -> Vec<Series> {
    let of_multiple = |multiple: f64| {
        let reductions = reduction(simulations, approach, multiple, 0.0..=1.0);
        let points = reductions.into_iter().map(|at| Point::new(at.rate, at.value));
        Series::new(format!("V = {multiple}"), Style::Line, points.collect())
    };
    MULTIPLES.map(of_multiple).to_vec()
}

fn displacement(profile: &Profile) -> Vec<Series> {
    let of_level = |level: &warmcore_costs::CacheLevel| {
        let displacement = Displacement::new(profile.intervening, level.geometry, 1);
        let point = |x: Nanos| Point::new(x.secs(), Estimate::published(displacement.fraction(x)));
        let grid = (0..=120).map(|step| Nanos(10_f64.powf(3.0 + f64::from(step) / 20.0)));
        Series::new(
            format!("{} ({})", level.name, level.geometry.size),
            Style::Curve,
            grid.map(point).collect(),
        )
    };
    profile.levels.iter().map(of_level).collect()
}

/// The receive times in the layout of Table 2 of Salehi 1994. Of the cold states it shows the one with the
/// first level cold.
#[must_use]
pub fn table_2(profile: &Profile) -> Table {
    let names = |texts: &[&str], columns: usize| {
        texts.iter().map(|text| HeaderCell::new(*text).over_columns(columns)).collect::<Vec<_>>()
    };
    let mut top = vec![HeaderCell::new("Experiment").over_rows(3)];
    top.extend(names(&["thread stack cached", "thread stack migrates"], 4));
    let approaches = Approach::ALL.map(Approach::short).repeat(4);
    let header = vec![top, names(&["hot", "first level cold"].repeat(2), 2), names(&approaches, 1)];
    let cold = Approach::ALL.map(|approach| {
        format!("{}, fully cold: {}", approach.short(), profile.times.get(approach).fully_cold.mean)
    });
    Table {
        id: "table-2".to_owned(),
        caption: format!("Time to receive one packet on the {} (µs)", profile.name),
        header,
        rows: Experiment::ALL.into_iter().map(|experiment| times(profile, experiment)).collect(),
        notes: vec![
            "A: the packet's session was last written here; B: elsewhere. 1: the active maps' history \
             lines are not written; 2: written, and last written here; 3: written, and last written \
             elsewhere."
                .to_owned(),
            format!("{}.", cold.join("; ")),
        ],
    }
}

fn times(profile: &Profile, experiment: Experiment) -> Row {
    let mut cells = Vec::new();
    for thread_stack in ThreadStack::ALL {
        for is_cold in [false, true] {
            for approach in Approach::ALL {
                let receive = profile.times.get(approach).get(Situation { experiment, thread_stack });
                let time =
                    receive.and_then(|times| if is_cold { times.cold.first() } else { Some(&times.hot) });
                let cell = time.map_or_else(
                    || Cell::missing("not measured"),
                    |time| {
                        let micros = time.estimate();
                        Cell::value(
                            Estimate {
                                mean: micros.mean.micros(),
                                half_width: micros.half_width.map(Nanos::micros),
                            },
                            1,
                        )
                    },
                );
                cells.push(cell);
            }
        }
    }
    Row::new(experiment.to_string(), cells)
}
