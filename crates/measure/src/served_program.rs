//! What requests cost a finished server program, measured from outside.
//!
//! The program runs on the reader's processor, in a network of our own. A source with real-time priority sends it single
//! requests, from the same processor or from another one: there the softirq runs. Its calls and the replies' times are those
//! of the source and the kernel; the processor time is what the kernel counts for the program's processes.
//!
//! ```text
//! program: started once, on the reader's processor, waited for until it listens
//! rounds ─► run: a source and its connections ─► a reply is the next that comes on its connection
//! ```
//!
//! # What must hold
//! * A connection has one request under way, so a reply needs no number: any protocol of request and reply will do.
//! * The next request comes a stated time after the reply, so each finds nothing under way, however slow the program is.
//! * A connection whose reply did not come is closed and opened anew. That request is lost, and counted.
//! * What the program uses when nobody asks it anything is measured too, and taken off.

mod connection;
mod error;
mod http;
mod rounds;
mod run;
mod served;
#[cfg(test)]
mod tests;

pub use error::ServedProgramError;

use crate::calibrate::interleaved;
use crate::calibrate::progress::{Observer, ProgressReporter};
use crate::error::{CalibrateError, RunError};
use crate::requests::experiment::Gap;
use crate::requests::rounds::Target;
use crate::requests::service::Payloads;
use crate::sockets::processors::Processors;
use crate::sockets::site::Site;
use chrono::Utc;
use core::sync::atomic::AtomicBool;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rounds::{Experiment, ProgramRounds};
use run::Context;
use served::ServedProgram;
use std::ffi::OsString;
use std::time::{Duration, Instant};
use warmcore_costs::ProgramProfile;
use warmcore_costs::profile::{Kind, Provenance};
use warmcore_costs::program::ProgramRequests;
use warmcore_costs::socket::SoftirqCpu;
use warmcore_topology::Machine;
use warmcore_units::{Nanos, Transport};

/// What to measure of a program.
#[derive(Clone, Debug)]
pub struct ProgramPlan {
    /// The program and its arguments, in which `{port}` and `{address}` say where it is to listen.
    pub words: Vec<OsString>,
    /// What it is asked.
    pub asked: Asked,
    /// Time budget.
    pub budget: Duration,
    /// Least number of runs before the half-width of a value is trusted.
    pub least_runs: u32,
    /// The half-width to reach, as a fraction of the mean.
    pub target: f64,
    /// Seed of everything random.
    pub seed: u64,
}

/// What a program is asked.
#[derive(Clone, Debug)]
pub enum Asked {
    /// UDP datagrams.
    Datagrams(Payloads),
    /// HTTP/1.1: this path.
    Http(String),
}

impl Asked {
    const fn transport(&self) -> Transport {
        match self {
            Self::Datagrams(_) => Transport::Udp,
            Self::Http(_) => Transport::Tcp,
        }
    }

    fn described(&self) -> ProgramRequests {
        match self {
            Self::Http(path) => ProgramRequests::Http { path: path.clone() },
            Self::Datagrams(payloads) => match payloads.capture() {
                Some(file) => ProgramRequests::Capture(file.clone()),
                None => ProgramRequests::Datagrams { bytes: payloads.get(0).len() },
            },
        }
    }
}

impl ProgramPlan {
    /// What `{port}` stands for in a program's words.
    pub const PORT: &str = "{port}";
    /// What `{address}` stands for.
    pub const ADDRESS: &str = "{address}";

    /// A plan for reliable results, in some 40 seconds; or a first look, in some 10.
    #[must_use]
    pub fn new(words: Vec<OsString>, asked: Asked, quick: bool, seed: u64) -> Self {
        let (seconds, least_runs) = if quick { (8, 5) } else { (40, 10) };
        Self { words, asked, budget: Duration::from_secs(seconds), least_runs, target: 0.02, seed }
    }
}

/// Measures a program on `machine` as `plan` says.
///
/// # Errors
/// See [`CalibrateError`]; with `stop` set, [`CalibrateError::Interrupted`] within moments.
pub fn calibrate_program(
    machine: &Machine,
    plan: &ProgramPlan,
    observer: &mut Observer<'_>,
    stop: &AtomicBool,
) -> Result<ProgramProfile, CalibrateError> {
    let processors = Processors::of(machine).ok_or(CalibrateError::NoProcessor)?;
    let site = Site::new().map_err(RunError::Socket)?;
    let mut forward = |progress| observer(progress);
    let mut report = ProgressReporter::new(&mut forward);
    report.begin("starting the program", 0.02);
    let program = ServedProgram::start(&site, plan, processors.reader, stop)?;
    let context = Context::new(&site, &processors, &plan.asked, program, stop);
    context.warm_up()?;
    let failed = |error| CalibrateError::from(RunError::ServedProgram(error));
    if context.is_stopped() {
        return Err(CalibrateError::Interrupted);
    }
    if context.cpu_time() == Nanos::ZERO {
        return Err(failed(ServedProgramError::Gone { program: context.name() }));
    }
    report.begin("requests to the program", 0.98);
    let idle_before = context.idle_share();
    if idle_before > BUSY {
        return Err(failed(ServedProgramError::Busy { program: context.name(), share: idle_before }));
    }
    let deadline = Instant::now() + plan.budget;
    let target = Target { least_runs: plan.least_runs, relative: plan.target };
    let mut places = vec![SoftirqCpu::Reader];
    places.extend(processors.kinds());
    let experiments =
        places.into_iter().flat_map(|softirq| Gap::ALL.map(|gap| Experiment { softirq, gap })).collect();
    let mut rounds = ProgramRounds::new(&context, target, experiments, idle_before);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
    interleaved::complete(&mut rounds, deadline, &mut rng, &mut report)?;
    let idle_share = (idle_before + context.idle_share()) / 2.0;
    report.begin("done", 1.0);
    let (times, program) = (rounds.times(), context.name());
    if times.is_empty() {
        return Err(failed(ServedProgramError::Silent { program }));
    }
    if times.iter().all(|times| times.program_cpu.mean == Nanos::ZERO) {
        return Err(failed(ServedProgramError::Gone { program }));
    }
    let words: Vec<_> = plan.words.iter().map(|word| word.to_string_lossy()).collect();
    Ok(ProgramProfile {
        schema: ProgramProfile::SCHEMA,
        name: machine.name.clone(),
        provenance: Provenance {
            kind: Kind::Measured,
            source: concat!("warmcore ", env!("CARGO_PKG_VERSION")).to_owned(),
            date: Utc::now().format("%Y-%m-%d").to_string(),
            handover: None,
            handover_range: None,
            interrupt: None,
            wake_up: None,
            runs: None,
            packets: None,
            notes: notes(&site, &rounds, idle_share),
        },
        network: site.network(),
        program: words.join(" "),
        requests: plan.asked.described(),
        idle_share,
        times,
    })
}

fn notes(site: &Site, rounds: &ProgramRounds<'_>, idle_share: f64) -> Vec<String> {
    let mut notes = vec![format!(
        "{} runs of single requests. {} of {} times of calls were set aside because an interrupt hit them (more than five times \
         the run's median). Of delays only those that began while the machine stood still are: {}",
        rounds.tally.runs, rounds.tally.packets_set_aside, rounds.tally.packets, rounds.stalled
    )];
    notes.extend(site.instead.as_ref().map(|reason| format!("requests crossed loopback, because {reason}")));
    notes.extend(rounds.without_priority.as_ref().map(|reason| {
        format!("sources had no real-time priority ({reason}), so the kernel decided when they ran")
    }));
    if idle_share > NOTABLE {
        notes.push(format!(
            "the program uses {:.1}% of a processor when nobody asks it anything; that was taken off",
            idle_share * 100.0
        ));
    }
    notes
}

/// A program that uses more than this share of a processor by itself is not measured.
pub(crate) const BUSY: f64 = 0.05;
/// A program that uses more than this share of a processor by itself is worth a note.
const NOTABLE: f64 = 0.001;
