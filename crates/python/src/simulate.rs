//! One scenario to its figures.

use crate::document::AnyScenario;
use crate::failure::{Class, Failure};
use crate::figures::Said;
use crate::interruptible::{interruptible, on_threads};
use crate::models::{Models, Simulated};
use crate::profile::{chosen, named_by};
use crate::table::Table;
use core::ops::ControlFlow;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use warmcore_scenario::{ClusterScenario, PacketScenario, RunQueueScenario};
use warmcore_sim::packet::Point;
use warmcore_sim::{cluster, runqueue};

/// Simulates the scenario of `kind` in a JSON `document`; returns its figures as JSON, and a table.
#[pyfunction]
pub(crate) fn simulate(py: Python<'_>, kind: &str, document: &str) -> PyResult<(String, Table)> {
    let scenario = AnyScenario::from_json(kind, document)?;
    let began = Instant::now();
    let said = interruptible(py, |stop| {
        on_threads(|| match &scenario {
            AnyScenario::Packet(scenario) => packet(scenario, stop),
            AnyScenario::RunQueue(scenario) => run_queue(scenario, &stop),
            AnyScenario::Cluster(scenario) => cluster(scenario, &stop),
        })
    });
    let Said { mut figures, table } = said?;
    figures.set_wall_time(began.elapsed().as_secs_f64());
    Ok((figures.to_json()?, Table::new(table)?))
}

/// Simulates packets with `models` of one's own. `profile` is the TOML of the costs that stand for those the scenario names.
#[pyfunction]
#[pyo3(signature = (document, models, profile = None))]
pub(crate) fn simulate_with(
    py: Python<'_>,
    document: &str,
    models: Models,
    profile: Option<&str>,
) -> PyResult<(String, Table)> {
    let AnyScenario::Packet(mut scenario) = AnyScenario::from_json("packet", document)? else {
        return Err(Failure::plain(Class::Scenario, "expected a scenario of packets").into());
    };
    let began = Instant::now();
    let traffic = models.traffic(&mut scenario)?;
    let text = profile;
    let profile = chosen(&scenario.profile, text)?;
    named_by(&mut scenario.profile, &profile, text);
    let result = if models.are_code() {
        models.run(py, &scenario, traffic, &profile, Simulated)
    } else {
        interruptible(py, |stop| {
            on_threads(|| Ok(Point::new(&scenario, &traffic.stopped_by(stop), &profile)?.simulate()?))
        })
    }?;
    let Said { mut figures, table } = Said::of_point(&scenario, models.policy_name.as_deref(), &result)?;
    figures.set_wall_time(began.elapsed().as_secs_f64());
    Ok((figures.to_json()?, Table::new(table)?))
}

fn packet(scenario: &PacketScenario, stop: Arc<AtomicBool>) -> Result<Said, Failure> {
    let costs = chosen(&scenario.profile, None)?;
    let traffic = scenario.traffic.open()?.stopped_by(stop);
    let result = Point::new(scenario, &traffic, &costs)?.simulate()?;
    Said::of_point(scenario, None, &result)
}

fn run_queue(scenario: &RunQueueScenario, stop: &AtomicBool) -> Result<Said, Failure> {
    let outcome = runqueue::simulate_until(scenario, stop)?.ok_or(Failure::Interrupted(None))?;
    Said::of_run_queue(scenario, &outcome)
}

fn cluster(scenario: &ClusterScenario, stop: &AtomicBool) -> Result<Said, Failure> {
    let watch = |_| match stop.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let options = cluster::Options { watch: &watch, ..cluster::Options::from(scenario) };
    let simulated = cluster::simulate(scenario, &options).map_err(|error| match error {
        cluster::Error::Impossible(fault) => fault.into(),
        cluster::Error::Stopped { .. } => Failure::Interrupted(None),
        error => Failure::plain(Class::Other, error),
    })?;
    Said::of_cluster(scenario, &simulated)
}
