//! One scenario to its figures.

use crate::document::AnyScenario;
use crate::failure::{Class, Failure};
use crate::figures::Said;
use crate::interruptible::{interruptible, on_threads};
use crate::models::{self, Own};
use crate::profile::{chosen, named_by};
use crate::table::Table;
use core::ops::ControlFlow;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use warmcore_scenario::traffic::TraceFile;
use warmcore_scenario::{ClusterScenario, OpenTraffic, PacketScenario, Process, RunQueueScenario};
use warmcore_sim::packet::Point;
use warmcore_sim::{cluster, runqueue};

/// Simulates the scenario of `kind` in a JSON `document`; returns its figures as JSON, and a table.
///
/// `profile` is the TOML of the costs that stand for those the scenario names.
#[pyfunction]
#[pyo3(signature = (kind, document, profile = None))]
pub(crate) fn simulate(
    py: Python<'_>,
    kind: &str,
    document: &str,
    profile: Option<&str>,
) -> PyResult<(String, Table)> {
    let scenario = AnyScenario::from_json(kind, document)?;
    let began = Instant::now();
    let said = interruptible(py, |stop| {
        on_threads(|| match &scenario {
            AnyScenario::Packet(scenario) => packet(scenario, profile, stop),
            AnyScenario::RunQueue(scenario) => run_queue(scenario, &stop),
            AnyScenario::Cluster(scenario) => cluster(scenario, &stop),
        })
    });
    let Said { mut figures, table } = said?;
    figures.set_wall_time(began.elapsed().as_secs_f64());
    Ok((figures.to_json()?, Table::new(table)?))
}

/// Simulates packets with models of one's own: the arrivals of `times` (64-bit floats, ns) and `streams` (32-bit integers), both
/// as bytes in this machine's order; a `policy` in Python and where packets wait under it; and a function of what packets cost.
#[pyfunction]
#[pyo3(signature = (document, profile = None, arrivals = None, policy = None, policy_name = None, common_queue = true, cost = None))]
#[expect(clippy::too_many_arguments, reason = "each is an argument of Python's")]
pub(crate) fn simulate_with(
    py: Python<'_>,
    document: &str,
    profile: Option<&str>,
    arrivals: Option<(PyBackedBytes, PyBackedBytes)>,
    policy: Option<Py<PyAny>>,
    policy_name: Option<&str>,
    common_queue: bool,
    cost: Option<Py<PyAny>>,
) -> PyResult<(String, Table)> {
    let AnyScenario::Packet(mut scenario) = AnyScenario::from_json("packet", document)? else {
        return Err(Failure::plain(Class::Scenario, "expected a scenario of packets").into());
    };
    let began = Instant::now();
    let trace = arrivals.map(|(times, streams)| models::trace(&times, &streams)).transpose()?;
    if trace.is_some() {
        // It stands for the file.
        scenario.traffic.process = Process::Trace(TraceFile { file: "arrivals".into(), time_scale: 1.0 });
    }
    let traffic = || match trace {
        Some(trace) => OpenTraffic::recorded(&scenario.traffic, trace),
        None => scenario.traffic.open(),
    };
    let traffic = traffic().map_err(Failure::from)?;
    let text = profile;
    let profile = chosen(&scenario.profile, text)?;
    named_by(&mut scenario.profile, &profile, text);
    let result = if policy.is_none() && cost.is_none() {
        interruptible(py, |stop| {
            on_threads(|| Ok(Point::new(&scenario, &traffic.stopped_by(stop), &profile)?.simulate()?))
        })
    } else {
        let policy =
            policy.map(|policy| if common_queue { Own::Common(policy) } else { Own::PerProcessor(policy) });
        models::simulate(&scenario, traffic, &profile, policy, cost)
    }?;
    let Said { mut figures, table } = Said::of_point(&scenario, policy_name, &result)?;
    figures.set_wall_time(began.elapsed().as_secs_f64());
    Ok((figures.to_json()?, Table::new(table)?))
}

fn packet(scenario: &PacketScenario, profile: Option<&str>, stop: Arc<AtomicBool>) -> Result<Said, Failure> {
    let costs = chosen(&scenario.profile, profile)?;
    let traffic = scenario.traffic.open()?.stopped_by(stop);
    let result = Point::new(scenario, &traffic, &costs)?.simulate()?;
    let mut scenario = scenario.clone();
    named_by(&mut scenario.profile, &costs, profile);
    Said::of_point(&scenario, None, &result)
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
