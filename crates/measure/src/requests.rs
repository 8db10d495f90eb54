//! What a request costs a server on the kernel's sockets, and what the same server does under load.
//!
//! The server is [`warmcore_runtime::server`]; its requests are sent by [sources](source), one on each processor, which take
//! the place of a network card's interrupts.
//!
//! ```text
//! experiment ─► run ─► trial (server, sources) ─► rounds ─► costs     single requests and bursts
//! load ───────────────► trial ─► figures                              random arrivals, open loop
//! ```
//!
//! # Clock
//! All moments are of the system's real-time clock, by which the kernel stamps replies (`SO_TIMESTAMPNS`). A delay counts from
//! the time at which its request was due, so a late source hides nothing.

mod connection;
mod costs;
pub(crate) mod experiment;
mod handler;
pub mod load;
pub(crate) mod rounds;
mod run;
pub(crate) mod schedule;
pub mod service;
pub(crate) mod source;
mod stall;
mod steal;
#[cfg(test)]
mod tests;
mod trial;

use crate::calibrate::interleaved::{self, Interleaved};
use crate::calibrate::progress::ProgressReporter;
use crate::calibrate::rounds::RunCounts;
use crate::error::{CalibrateError, RunError};
use crate::sockets::processors::Processors;
use crate::sockets::site::Site;
use core::sync::atomic::AtomicBool;
use experiment::{Gap, RequestExperiment};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rounds::{RequestRounds, Target};
use run::Context;
use service::{ServedHandler, Service};
use std::time::{Duration, Instant};
use warmcore_costs::ServerCosts;

/// How often what sources take is measured again if nothing is known of it.
const TRIES: usize = 20;
/// The fewest bytes of a request.
pub(crate) const LEAST_BYTES: usize = source::HEADER;
/// Flows of each source.
pub(crate) const FLOWS: usize = 16;

/// How much to measure of a server.
#[derive(Clone, Debug)]
pub struct RequestPlan {
    /// Time budget.
    pub budget: Duration,
    /// Least number of runs before the half-width of a value is trusted.
    pub least_runs: u32,
    /// The half-width to reach, as a fraction of the mean.
    pub target: f64,
    /// What is asked and answered.
    pub service: Service,
    /// Seed of everything random.
    pub seed: u64,
}

/// What was measured.
pub(crate) struct MeasuredServer {
    pub(crate) costs: ServerCosts,
    /// About how, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// Measures what requests cost, at `site`.
pub(crate) fn calibrate(
    site: &Site,
    processors: &Processors,
    plan: &RequestPlan,
    report: &mut ProgressReporter<'_>,
    stop: &AtomicBool,
) -> Result<MeasuredServer, CalibrateError> {
    let deadline = Instant::now() + plan.budget;
    let context = Context { site, processors, service: plan.service.clone(), flows: FLOWS, stop };
    let experiments = RequestExperiment::all(processors, &Gap::ALL, plan.service.transport);
    let target = Target { least_runs: plan.least_runs, relative: plan.target };
    let mut rounds = RequestRounds::new(&context, target, experiments.clone());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
    interleaved::complete(&mut rounds, deadline, &mut rng, report)?;
    let of = |rounds: &RequestRounds<'_>| costs::costs(rounds, &experiments, &plan.service, FLOWS);
    // On a busy machine a run may show nothing of its source.
    for _ in 0..TRIES {
        if of(&rounds).is_some() {
            break;
        }
        for needed in costs::needed_by_sources() {
            let index = experiments.iter().position(|experiment| *experiment == needed);
            index.map_or(Ok(()), |index| rounds.run(index, true, &mut rng))?;
        }
    }
    let costs = of(&rounds).ok_or(RunError::NothingTimed)?;
    let RunCounts { runs, packets, packets_set_aside, .. } = rounds.tally;
    let handler = match &plan.service.handler {
        ServedHandler::State(bytes) => format!("whose handler uses {bytes} bytes of its flow's state"),
        ServedHandler::Library(_, file) => format!("with the handler library {}", file.name),
    };
    let mut notes = vec![format!(
        "{} requests to a server {handler}: {runs} runs; {packets_set_aside} of {packets} times were set aside because an interrupt hit them (more than five times the run's median)",
        plan.service.transport
    )];
    notes.extend(rounds.without_priority.map(|reason| {
        format!(
            "sources had no real-time priority ({reason}), so workers gave way to them instead (SCHED_IDLE)"
        )
    }));
    Ok(MeasuredServer { costs, notes })
}
