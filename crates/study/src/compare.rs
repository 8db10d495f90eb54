//! A prediction held against the clock: the same scenario simulated and run, at several loads.
//!
//! What a packet costs in the stack comes from a calibration, what the runtime itself costs from a
//! [rehearsal](overheads) with packets that only pass the time. Nothing is fitted to the runs that
//! the prediction is compared with.
//!
//! | module | step |
//! |---|---|
//! | [`nearness`] | runs count only where the processors are as near as in the others |
//! | [`packets`] | costs count only if they are of packets like those of the runs |
//! | [`overheads`] | what the runtime costs, measured apart |
//! | [`point`] | one load: predicted, run, and the difference laid at somebody's door |
//! | [`results`] | the figures for other programs |
//! | [`present`] | the report |

pub mod nearness;
pub mod overheads;
pub mod packets;
pub mod point;
pub mod present;
pub mod results;

use nearness::Nearness;
use overheads::Overheads;
use point::ComparedPoint;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use warmcore_costs::Profile;
use warmcore_costs::execution::IncompleteProfile;
use warmcore_runtime::RunError;
use warmcore_runtime::from_scenario::{Setup, SetupError};
use warmcore_scenario::{Mode, PacketScenario, Scheduling};
use warmcore_sim::packet::{PointError, simulate};
use warmcore_units::{Estimate, PerSecond};

/// What is compared.
#[derive(Clone, Debug)]
pub struct Request {
    /// The host and its traffic; its rate is not used.
    pub scenario: PacketScenario,
    /// The ways to schedule it.
    pub schedulings: Vec<Scheduling>,
    /// The loads, as fractions of each one's predicted capacity.
    pub loads: Vec<f64>,
}

/// One way to schedule, predicted and run.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Which.
    pub scheduling: Scheduling,
    /// What the runtime costs under it.
    pub overheads: Overheads,
    /// The predicted capacity.
    pub capacity: Estimate<PerSecond>,
    /// By load.
    pub points: Vec<ComparedPoint>,
}

/// A comparison cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The scenario cannot be simulated.
    #[error(transparent)]
    Prediction(#[from] PointError),
    /// It cannot be run here.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// How far apart processors are could not be measured.
    #[error(transparent)]
    Measurement(#[from] warmcore_measure::RunError),
    /// The profile lacks what is needed.
    #[error(transparent)]
    Profile(#[from] IncompleteProfile),
    /// Too much was taken away from the workers for anything to be measured.
    #[error(
        "{0} could not be measured: no packet met a time in which all workers ran; expected longer runs, or a \
         machine that has less else to do"
    )]
    Disturbed(&'static str),
    /// The user has stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Predicts and runs all that is asked, and hands over each way to schedule as it is done.
///
/// # Errors
/// If something cannot be predicted or run, or `stop` is set.
pub fn compare(
    request: &Request,
    profile: &Profile,
    base: &Path,
    stop: &AtomicBool,
    mut done: impl FnMut(&Compared),
) -> Result<Vec<Compared>, CompareError> {
    let mut all = Vec::new();
    let anything = PacketScenario { rate_per_s: Some(PerSecond(1.0)), ..request.scenario.clone() };
    let cpus = Setup::of(&anything, profile, base)?.options.cpus;
    let mut nearness = Nearness::of(&cpus, profile.provenance.handover, stop)?;
    for &scheduling in &request.schedulings {
        let scenario = PacketScenario { scheduling, ..request.scenario.clone() };
        let compared = compare_one(&scenario, &request.loads, profile, base, &mut nearness)?;
        done(&compared);
        all.push(compared);
    }
    Ok(all)
}

fn compare_one(
    scenario: &PacketScenario,
    loads: &[f64],
    profile: &Profile,
    base: &Path,
    nearness: &mut Nearness<'_>,
) -> Result<Compared, CompareError> {
    let profile = &between_packets(scenario, profile);
    let overheads = overheads::measure(scenario, profile, base, nearness)?;
    let charged = |rate: PerSecond| overheads.at(rate).charged_to(scenario);
    let busy = PacketScenario { rate_per_s: Some(PerSecond(1.0)), ..charged(PerSecond(f64::INFINITY)) };
    let capacity = simulate(&busy, profile, base)?.capacity.rate;
    let mut points = Vec::new();
    for &load in loads {
        let rate = PerSecond(capacity.mean.0 * load);
        let compare = || point::compare(scenario, &charged(rate), load, rate, profile, base);
        let (point, near) = nearness.hold(compare)?;
        points.push(ComparedPoint { near, ..point });
    }
    Ok(Compared { scheduling: scenario.scheduling, overheads, capacity, points })
}

/// `profile` as far as it applies to `scenario`: processors that do nothing between packets leave
/// their caches alone.
fn between_packets(scenario: &PacketScenario, profile: &Profile) -> Profile {
    let mut profile = profile.clone();
    if scenario.live.mode == Mode::Fixed || scenario.live.work_kib == 0 {
        profile.intervening.references_per_us = f64::MIN_POSITIVE;
    }
    profile
}
