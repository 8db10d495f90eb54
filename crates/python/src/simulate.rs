//! One scenario to its figures.

use crate::document::AnyScenario;
use crate::failure::{Class, Complaint, Failure};
use crate::figures::Said;
use crate::interruptible::interruptible;
use crate::table::Table;
use core::ops::ControlFlow;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use warmcore_costs::Profile;
use warmcore_scenario::document;
use warmcore_scenario::{ClusterScenario, PacketScenario, ProfileSource, RunQueueScenario};
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
    let said = interruptible(py, |stop| match &scenario {
        AnyScenario::Packet(scenario) => packet(scenario, profile, stop),
        AnyScenario::RunQueue(scenario) => run_queue(scenario, &stop),
        AnyScenario::Cluster(scenario) => cluster(scenario, &stop),
    });
    let Said { mut figures, table } = said?;
    figures.set_wall_time(began.elapsed().as_secs_f64());
    Ok((figures.to_json()?, Table::new(table)?))
}

fn packet(scenario: &PacketScenario, profile: Option<&str>, stop: Arc<AtomicBool>) -> Result<Said, Failure> {
    let costs = match profile {
        Some(text) => parsed(text)?,
        None => costs(&scenario.profile)?,
    };
    let traffic = scenario.traffic.open()?.stopped_by(stop);
    let result = Point::new(scenario, &traffic, &costs)?.simulate()?;
    Said::of_point(scenario, &result)
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

/// The costs that a checked scenario names.
fn costs(source: &ProfileSource) -> Result<Profile, Failure> {
    match source {
        ProfileSource::File(path) => document::read(path).map_err(unfit),
        ProfileSource::SgiChallengeXl => Ok(Profile::sgi_challenge_xl()),
        ProfileSource::Measure => {
            Err(Failure::plain(Class::Profile, "`profile` is \"measure\": `warmcore.calibrate()` measures one"))
        }
    }
}

fn parsed(text: &str) -> Result<Profile, Failure> {
    document::parse(text, "profile".as_ref()).map_err(unfit)
}

fn unfit(error: document::DocumentError) -> Failure {
    Failure::Unusable(Class::Profile, Complaint::from(error))
}
