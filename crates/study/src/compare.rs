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
//! | [`quiet`] | which of several runs tells most of scheduling |
//! | [`overheads`] | what the runtime costs, measured apart |
//! | [`trial`] | one load: rehearsed, run, and predicted |
//! | [`point`] | what comes of it, and where the difference comes from |
//! | [`results`] | the figures for other programs |
//! | [`present`] | the report |

pub mod nearness;
pub mod overheads;
pub mod packets;
pub mod point;
pub mod present;
pub mod quiet;
pub mod results;
pub mod trial;

use nearness::Nearness;
use overheads::Rehearsals;
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
        "{0} could not be measured: the workers hardly ran in any of {rounds} rounds; expected longer runs, or \
         a machine that has less else to do",
        rounds = trial::ROUNDS
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
    let rehearsals = Rehearsals::of(scenario, profile, base, nearness)?;
    let saturated = rehearsals.saturated().charged_to(scenario);
    let busy = PacketScenario { rate_per_s: Some(PerSecond(1.0)), ..saturated };
    let capacity = simulate(&busy, profile, base)?.capacity.rate;
    let point = |&load: &f64| {
        let rate = PerSecond(capacity.mean.0 * load);
        trial::compare(scenario, load, rate, profile, base, &rehearsals, nearness)
    };
    let points = loads.iter().map(point).collect::<Result<_, _>>()?;
    Ok(Compared { scheduling: scenario.scheduling, capacity, points })
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
