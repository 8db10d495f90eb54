//! `warmcore run` and `warmcore compare` with `--driver udp-socket` or `tcp-socket`: a server on the kernel's sockets.

pub(crate) mod compare;
pub(crate) mod run;
pub(crate) mod service;

use crate::args::given::Given;
use crate::args::live::RunnableArguments;
use crate::args::served::ServedArguments;
use crate::calibrate::look_at_machine;
use crate::misuse::misuse;
use crate::unused_options::refuse;
use crate::{documents, progress};
use core::time::Duration;
use miette::{IntoDiagnostic, WrapErr};
use std::sync::atomic::AtomicBool;
use warmcore_costs::{ServerCosts, SocketProfile};
use warmcore_measure::requests::service::{ServedHandler, Service};
use warmcore_measure::{CalibrateError, Progress, SocketPlan, calibrate_sockets};
use warmcore_runtime::from_scenario::usable_cores;
use warmcore_scenario::{DriverKind, ProfileSource};
use warmcore_topology::Machine;
use warmcore_units::{CpuId, Transport};

/// How requests come to a server on the kernel's sockets, if the flags ask for one.
pub(crate) fn asked(flags: &RunnableArguments) -> Option<Transport> {
    flags.live.driver.and_then(DriverKind::of_sockets)
}

/// Why options of such a server do not fit others.
pub(crate) const NO_PORT: &str = "only --driver udp-socket or tcp-socket has a port to share";

/// Where the costs of such a server are written. It is no profile of the stack's, which other commands look for.
pub(crate) const fn profile_file(transport: Transport) -> &'static str {
    match transport {
        Transport::Tcp => "tcp-socket.toml",
        Transport::Udp | Transport::Rpc => "udp-socket.toml",
    }
}

/// What both commands take, beside their own options.
const TAKEN: [&str; 8] =
    ["driver", "sharing", "processors", "seed", "profile", "seconds", "payload", "handler-bytes"];

/// Refuses options that a server makes no use of.
fn check_effects(given: &Given, also_taken: &[&str]) -> miette::Result<()> {
    let reason = "with --driver udp-socket or tcp-socket the kernel dispatches, as --sharing says";
    let options = [
        "document",
        "approach",
        "policy",
        "queue",
        "threads",
        "thread-order",
        "memory",
        "stacks",
        "rate",
        "streams",
        "zipf",
        "batch",
        "batch-distribution",
        "process",
        "trace",
        "time-scale",
        "sizes",
        "send-fraction",
        "interface",
        "address",
        "port",
        "transport",
        "mode",
        "cpus",
        "work-kib",
        "verify-udp-checksum",
        "handler-ns",
        "reply",
        "capacity",
        "overload",
        "shutdown",
        "metrics",
        "print-scenario",
        "approaches",
        "policies",
    ];
    let refused =
        options.into_iter().filter(|option| !TAKEN.contains(option) && !also_taken.contains(option));
    // The parser's name of --scenario.
    let name = |option: &'static str| if option == "document" { "scenario" } else { option };
    refused.into_iter().try_for_each(|option| refuse(name(option), given.has(option), reason))
}

/// Refuses options about servers where there is none.
pub(crate) fn refuse_served(flags: &ServedArguments) -> miette::Result<()> {
    let reason = "only a server on the kernel's sockets is asked: --driver udp-socket or tcp-socket, or --path of `calibrate` \
                  with the same names";
    refuse("handler", flags.handler.is_some(), reason)?;
    refuse("requests", flags.requests.is_some(), reason)
}

/// What is served.
struct Served {
    cpus: Vec<CpuId>,
    service: Service,
    long: Duration,
    seed: u64,
}

/// Longest run of one load, in seconds.
const LONGEST: f64 = 60.0;
/// Requests for which a run is too short say nothing, in seconds.
const SHORTEST: f64 = 0.05;

impl Served {
    fn of(flags: &RunnableArguments, transport: Transport, default_seconds: f64) -> miette::Result<Self> {
        let seconds = flags.live.seconds.unwrap_or(default_seconds);
        if !(SHORTEST..=LONGEST).contains(&seconds) {
            return Err(misuse(format!("--seconds is {seconds}, expected {SHORTEST} to {LONGEST}")));
        }
        let cores = usable_cores().into_diagnostic()?;
        let wanted = flags.processors.map_or(cores.len(), |processors| processors as usize);
        if wanted > cores.len() {
            let cores = cores.len();
            return Err(misuse(format!(
                "--processors is {wanted}, expected at most {cores}: the cores that this process may use"
            )));
        }
        let given = flags.live.handler_bytes.is_some() && flags.served.handler.is_some();
        refuse("handler-bytes", given, "the library named by --handler has the state")?;
        let state_bytes = flags.live.handler_bytes.unwrap_or(0) as usize;
        let payload_bytes = flags.live.payload.map_or(SocketPlan::standard().payload_bytes, usize::from);
        SocketPlan {
            payload_bytes,
            handlers: vec![ServedHandler::State(state_bytes)],
            ..SocketPlan::quick()
        }
        .check()
        .map_err(|error| misuse(error.to_string()))?;
        Ok(Self {
            cpus: cores.into_iter().take(wanted).collect(),
            service: service::service(&flags.served, state_bytes, payload_bytes)?.over(transport),
            long: Duration::from_secs_f64(seconds),
            seed: flags.scenario.seed.unwrap_or(1),
        })
    }

    /// The costs of its handler: those of the profile named, or measured now.
    fn costs(
        &self,
        profile: Option<&ProfileSource>,
        quick: bool,
        json: bool,
        stop: &AtomicBool,
    ) -> miette::Result<(ServerCosts, SocketProfile)> {
        let profile = match profile {
            Some(ProfileSource::File(path)) => documents::read::<SocketProfile>(path)?,
            Some(_) => {
                return Err(misuse(format!(
                    "--profile is not a file, expected one that `warmcore calibrate --path {}-socket` wrote",
                    self.service.transport
                )));
            }
            None => self.measure(quick, json, stop)?,
        };
        let fits = |costs: &&ServerCosts| self.service.is_of(costs);
        let Some(costs) = profile.servers.iter().find(fits) else {
            let measured: Vec<String> = profile.servers.iter().map(in_words).collect();
            let measured = if measured.is_empty() { "none".to_owned() } else { measured.join("; ") };
            return Err(misuse(format!(
                "the profile has no costs of this handler and these requests over {}, expected one of: {measured}; without \
                 --profile, fitting costs are measured first",
                self.service.transport
            )));
        };
        Ok((costs.clone(), profile.clone()))
    }

    fn measure(&self, quick: bool, json: bool, stop: &AtomicBool) -> miette::Result<SocketProfile> {
        let machine = look_at_machine(json)?;
        let plan = if quick { SocketPlan::quick() } else { SocketPlan::standard() };
        let plan = SocketPlan { seed: self.seed, ..plan }.servers_only(self.service.clone());
        let profile = measure(&machine, &plan, stop);
        profile.into_diagnostic().wrap_err("cannot measure what requests cost on this machine")
    }
}

/// What costs are about, as the flags say it.
fn in_words(costs: &ServerCosts) -> String {
    let driver = format!("--driver {}-socket", costs.transport);
    let handler = match &costs.library {
        Some(file) => format!("{driver} --handler {} (checksum {:08x})", file.name, file.crc32),
        None => format!("{driver} --handler-bytes {}", costs.state_bytes),
    };
    match &costs.requests {
        Some(file) => format!("{handler} --requests {} (checksum {:08x})", file.name, file.crc32),
        None => format!("{handler} --payload {}", costs.payload_bytes),
    }
}

/// Measures the kernel's path, and shows how far that is.
pub(crate) fn measure(
    machine: &Machine,
    plan: &SocketPlan,
    stop: &AtomicBool,
) -> Result<SocketProfile, CalibrateError> {
    let bar = progress::bar("measuring");
    let mut observer = |at: Progress| {
        bar.set_message(at.stage);
        progress::set(&bar, at.done);
    };
    let profile = calibrate_sockets(machine, plan, &mut observer, stop);
    bar.finish_and_clear();
    profile
}
