//! Two ways to process the same packets.

use crate::document::AnyScenario;
use crate::failure::{Class, Failure};
use crate::figures::{self, Figures, Said};
use crate::interruptible::{interruptible, on_threads};
use crate::models::{Delays, Models};
use crate::profile::chosen;
use crate::table::Table;
use pyo3::prelude::*;
use std::time::Instant;
use warmcore_costs::Profile;
use warmcore_record::Column;
use warmcore_scenario::{OpenTraffic, PacketScenario, Process};
use warmcore_sim::packet::Point;
use warmcore_sim::packet::compare::{ComparedDelays, PairedComparison};
use warmcore_units::{Estimate, Fault};

/// The difference of the mean delays of the JSON `document` under its `models` and of `against` under others, on the same
/// packets: its figures as JSON, and a table.
#[pyfunction]
#[pyo3(signature = (document, models, against, against_models, profile = None))]
pub(crate) fn compare(
    py: Python<'_>,
    document: &str,
    models: Models,
    against: &str,
    against_models: Models,
    profile: Option<&str>,
) -> PyResult<(String, Table)> {
    let (ours, theirs) = (packets(document)?, packets(against)?);
    refuse_other_packets(&ours, &theirs).map_err(Failure::from)?;
    let began = Instant::now();
    let ours = Side::new(ours, models, profile)?;
    let theirs = Side::new(theirs, against_models, profile)?;
    // What is wrong with either is said before anything is simulated.
    let point = ours.point()?;
    theirs.point()?;
    let (runs, packets) = point.compared_runs();
    let delays = |side: &Side| side.delays(py, Delays { runs, packets });
    let comparison = match (delays(&ours)?, delays(&theirs)?) {
        (Some(ours), Some(theirs)) => point.compare(&ours, &theirs),
        _ => None,
    };
    let Said { mut figures, table } = said(comparison.as_ref(), runs, packets)?;
    figures.set_wall_time(began.elapsed().as_secs_f64());
    Ok((figures.to_json()?, Table::new(table)?))
}

fn packets(document: &str) -> Result<PacketScenario, Failure> {
    match AnyScenario::from_json("packet", document)? {
        AnyScenario::Packet(scenario) => Ok(*scenario),
        _ => Err(Failure::plain(Class::Scenario, "expected a scenario of packets")),
    }
}

/// Refuses what would see other packets, or others for each run.
fn refuse_other_packets(ours: &PacketScenario, theirs: &PacketScenario) -> Result<(), Fault> {
    if matches!(ours.traffic.process, Process::Trace(_)) {
        let expected = "a random arrival process: a trace is a single run, so nothing shows how much other runs would differ";
        return Err(Fault::new("traffic.process", "trace", expected));
    }
    let same = [
        ("seed", ours.seed == theirs.seed),
        ("rate_per_s", ours.rate_per_s == theirs.rate_per_s),
        ("traffic", ours.traffic == theirs.traffic),
        ("run", ours.run == theirs.run),
    ];
    match same.into_iter().find(|(_, is_same)| !is_same) {
        None => Ok(()),
        Some((field, _)) => {
            let expected = format!("the `{field}` of the scenario: both process the same packets");
            Err(Fault::new(format!("against.{field}"), "another", expected))
        }
    }
}

/// One of the two that are compared.
struct Side {
    scenario: PacketScenario,
    traffic: OpenTraffic,
    profile: Profile,
    models: Models,
}

impl Side {
    fn new(mut scenario: PacketScenario, models: Models, profile: Option<&str>) -> Result<Self, Failure> {
        let traffic = models.traffic(&mut scenario)?;
        let profile = chosen(&scenario.profile, profile)?;
        Ok(Self { scenario, traffic, profile, models })
    }

    fn point(&self) -> Result<Point<'_>, Failure> {
        Ok(Point::new(&self.scenario, &self.traffic, &self.profile)?)
    }

    /// The mean delays of its runs; `None` if it is saturated.
    fn delays(&self, py: Python<'_>, wanted: Delays) -> Result<Option<ComparedDelays>, Failure> {
        let Self { scenario, traffic, profile, models } = self;
        if models.are_code() {
            return models.run(py, scenario, traffic.clone(), profile, wanted);
        }
        interruptible(py, |stop| {
            let traffic = traffic.clone().stopped_by(stop);
            on_threads(|| Ok(Point::new(scenario, &traffic, profile)?.compared_delays()?))
        })
    }
}

fn said(comparison: Option<&PairedComparison>, runs: u64, packets: u64) -> Result<Said, Failure> {
    let [difference, relative] = [
        comparison.map(|found| (found.difference.mean, found.difference.half_width)),
        comparison.map(|found| (found.relative.mean, found.relative.half_width)),
    ]
    .map(|found| found.map(|(mean, half_width)| Estimate { mean, half_width: Some(half_width) }));
    let mut figures = Figures::default();
    let mut columns = Vec::new();
    for (name, unit, found) in [("difference", "ns", difference), ("relative", "", relative)] {
        figures.estimate(name, unit, found);
        let unknown = Estimate { mean: f64::NAN, half_width: None };
        columns.extend(figures::estimates(name, unit, &[found.unwrap_or(unknown)]));
    }
    for (name, count) in [("runs", runs), ("packets", packets)] {
        figures.plain(name, count);
        columns.push(Column::integers(name, [i64::try_from(count).ok()]));
    }
    Ok(Said { figures, table: figures::table(columns)? })
}
