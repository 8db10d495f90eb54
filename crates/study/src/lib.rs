//! The closed loop: measure, predict, decide, and report.
//!
//! | module | step |
//! |---|---|
//! | [`costs`] | what caches cost on this machine, measured |
//! | [`predictions`] | what predictions are, with their intervals |
//! | [`predict`] | every combination of policies at every load, simulated |
//! | [`resample`] | how far all that moves with costs that are as likely as the measured |
//! | [`decide`] | which combination to use in which region of load |
//! | [`streams`] | whether that holds with more streams |
//! | [`grade`] | how sure that is |
//! | [`present`] | the report's words, charts and tables |
//! | [`results`] | the figures for other programs |
//!
//! Beside the loop, what a user asks of the simulator alone: [`point`] has the figures of one point
//! for other programs, [`observed`] shows everything that was observed of it, [`mod@sweep`] varies a scenario along its
//! fields, [`grid`] one of any kind along any fields. [`mod@compare`] holds
//! predictions against live runs. [`mod@placement`] says where the interrupts, packets and threads of a
//! host should go, [`server`] which way a server should share its port, [`mod@mix`] makes a scenario of what its threads did.

pub mod compare;
pub mod costs;
pub mod decide;
pub mod grade;
pub mod grid;
pub mod mix;
pub mod observed;
pub mod placement;
pub mod point;
pub mod predict;
pub mod predictions;
pub mod present;
pub mod resample;
pub mod results;
pub mod server;
pub mod streams;
pub mod sweep;

use decide::Advice;
use predict::OnProgress;
use predictions::{HostPredictions, PredictError};
use server::advice::ServerFindings;
use std::sync::atomic::AtomicBool;
use streams::ManyStreams;
use warmcore_costs::Profile;
use warmcore_scenario::Study;
use warmcore_topology::Machine;

/// What a study found.
#[derive(Clone, PartialEq, Debug)]
pub struct Findings {
    /// The costs the predictions rest on.
    pub profile: Profile,
    /// The machine they were measured on in this study, where they were.
    pub machine: Option<Machine>,
    /// The predictions, for each number of processors.
    pub hosts: Vec<HostPredictions>,
    /// The advice, for each number of processors.
    pub advice: Vec<Advice>,
    /// What becomes of the first advice with more streams than processors; `None` where nothing was predicted.
    pub many_streams: Option<ManyStreams>,
    /// How many processors there were to measure on; for more, predictions are extrapolated. Of a
    /// profile whose machine is not at hand, as many as its costs need.
    pub measured_processors: u32,
    /// Which way to share its port suits a server on the kernel's sockets; empty if its costs were not measured.
    pub servers: ServerFindings,
}

/// How many times as long as looking at more streams choosing takes, roughly.
const CHOOSING: usize = 8;

/// Predicts and decides what `study` asks, with the costs of `profile`.
///
/// # Errors
/// If something asked for cannot be predicted, or `stop` is set.
pub fn conclude(
    study: &Study,
    profile: Profile,
    machine: Option<Machine>,
    progress: OnProgress,
    stop: &AtomicBool,
) -> Result<Findings, PredictError> {
    let asked = &study.prediction;
    let chosen = |done: usize, of: usize| progress(done * CHOOSING, of * (CHOOSING + 1));
    let hosts = predict::predict(&profile, asked, study.seed, &chosen, stop)?;
    let advice: Vec<Advice> = hosts.iter().filter_map(decide::decide).collect();
    let held = |done: usize, of: usize| progress(of * CHOOSING + done, of * (CHOOSING + 1));
    let many_streams = hosts.first().zip(advice.first());
    let many_streams = many_streams
        .map(|first| streams::with_many(&profile, asked, first, study.seed, &held, stop))
        .transpose()?;
    let cores = machine.as_ref().and_then(|machine| u32::try_from(machine.usable_cores().len()).ok());
    let measured_processors = cores.unwrap_or(if profile.is_complete() { 2 } else { 1 });
    Ok(Findings {
        profile,
        machine,
        hosts,
        advice,
        many_streams,
        measured_processors,
        servers: ServerFindings::default(),
    })
}
