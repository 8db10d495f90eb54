//! The scenario of a point from flags and a document; and its faults, named by flag and field.

use crate::args::SimulatePacketArguments;
use crate::args::packet::{
    EffectArguments, ExtensionArguments, HostArguments, PointArguments, RunArguments, ScenarioArguments,
    TrafficArguments,
};
use crate::costs::Chosen;
use crate::misuse::misuse;
use crate::{documents, flags, unused_options};
use std::fmt;
use std::path::{Path, PathBuf};
use warmcore_scenario::document::Checked;
use warmcore_scenario::traffic::TraceFile;
use warmcore_scenario::{OpenTraffic, PacketScenario, Process, TrafficError};
use warmcore_sim::packet::PointError;
use warmcore_units::PerSecond;
use warmcore_workload::{ImpossibleArrivals, Popularity};

/// The checked scenario of one point, from flags and the document they name, and how its profile was chosen.
pub(crate) fn scenario(arguments: &SimulatePacketArguments) -> miette::Result<(PacketScenario, Chosen)> {
    let (mut scenario, chosen) = unchecked(&arguments.point)?;
    set(&mut scenario.processors, arguments.processors);
    scenario.check().map_err(|fault| flags::refused(&fault))?;
    unused_options::check_unused(&arguments.point.scenario.given, &scenario.unused())?;
    Ok((scenario, chosen))
}

/// The same without the checks. A flag overrides the field of the document.
pub(crate) fn unchecked(arguments: &PointArguments) -> miette::Result<(PacketScenario, Chosen)> {
    let mut scenario = from_flags(&arguments.scenario)?;
    let chosen = Chosen::new(&mut scenario, &arguments.scenario);
    set_effects(&mut scenario, &arguments.effects);
    set_extensions(&mut scenario, &arguments.extensions);
    set_run(&mut scenario, &arguments.run);
    Ok((scenario, chosen))
}

/// The part that live runs have too: seed, host and traffic, from flags and the document they name.
pub(crate) fn from_flags(arguments: &ScenarioArguments) -> miette::Result<PacketScenario> {
    let mut scenario = arguments.document.as_deref().map_or_else(|| Ok(PacketScenario::default()), read)?;
    set(&mut scenario.seed, arguments.seed);
    set_host(&mut scenario, &arguments.host);
    set_traffic(&mut scenario, &arguments.traffic)?;
    Ok(scenario)
}

/// The scenario at `path`. The files it names are relative to its folder, which is put before their paths.
fn read(path: &Path) -> miette::Result<PacketScenario> {
    let scenario: PacketScenario = documents::read(path)?;
    Ok(scenario.with_files_below(path.parent().unwrap_or(Path::new(""))))
}

pub(crate) fn set<T>(field: &mut T, flag: Option<T>) {
    if let Some(value) = flag {
        *field = value;
    }
}

fn set_host(scenario: &mut PacketScenario, flags: &HostArguments) {
    let scheduling = &mut scenario.scheduling;
    set(&mut scheduling.approach, flags.approach);
    set(&mut scheduling.policy, flags.policy);
    set(&mut scheduling.queue, flags.queue);
    set(&mut scheduling.threads, flags.threads);
    set(&mut scheduling.thread_order, flags.thread_order);
    set(&mut scheduling.memory, flags.memory);
    set(&mut scenario.stacks, flags.stacks);
    set(&mut scenario.profile, flags.profile.clone());
}

fn set_traffic(scenario: &mut PacketScenario, flags: &TrafficArguments) -> miette::Result<()> {
    scenario.rate_per_s = flags.rate.map(PerSecond).or(scenario.rate_per_s);
    let traffic = &mut scenario.traffic;
    set(&mut traffic.streams, flags.streams);
    set(&mut traffic.popularity, flags.zipf.map(Popularity::Zipf));
    set(&mut traffic.batch.mean, flags.batch);
    set(&mut traffic.batch.distribution, flags.batch_distribution);
    set(&mut traffic.process, flags.process.clone().or_else(|| flags.trace.as_deref().map(trace)));
    set(&mut traffic.send_fraction, flags.send_fraction);
    if !flags.sizes.is_empty() {
        traffic.sizes.clone_from(&flags.sizes);
    }
    match (&mut traffic.process, flags.time_scale) {
        (_, None) => Ok(()),
        (Process::Trace(trace), Some(scale)) => {
            trace.time_scale = scale;
            Ok(())
        }
        (process, Some(_)) => Err(misuse(format!(
            "--time-scale scales a trace, and the process is `{}`: give --trace FILE too",
            process.name()
        ))),
    }
}

fn trace(file: &Path) -> Process {
    Process::Trace(TraceFile { file: PathBuf::from(file), time_scale: 1.0 })
}

fn set_effects(scenario: &mut PacketScenario, flags: &EffectArguments) {
    let effects = &mut scenario.effects;
    set(&mut effects.checksum_ns_per_byte, flags.checksum_ns_per_byte);
    set(&mut effects.copy_ns_per_byte, flags.copy_ns_per_byte);
    set(&mut effects.send_path, flags.send_path);
    set(&mut effects.map_lock_ns, flags.map_lock_ns);
    set(&mut effects.session_lock_ns, flags.session_lock_ns);
    set(&mut effects.decision_ns, flags.decision_ns);
    set(&mut effects.start_ns, flags.start_ns);
    set(&mut effects.staleness_ns, flags.staleness_ns);
}

fn set_extensions(scenario: &mut PacketScenario, flags: &ExtensionArguments) {
    set(&mut scenario.service.distribution, flags.service.clone());
    scenario.queues.limit = flags.queue_limit.or(scenario.queues.limit);
    set(&mut scenario.queues.scope, flags.queue_scope);
    if !flags.priorities.is_empty() {
        scenario.priorities.clone_from(&flags.priorities);
    }
    if !flags.speeds.is_empty() {
        scenario.speeds.clone_from(&flags.speeds);
    }
}

fn set_run(scenario: &mut PacketScenario, flags: &RunArguments) {
    let run = &mut scenario.run;
    set(&mut run.precision, flags.precision);
    set(&mut run.max_packets, flags.max_packets);
    set(&mut run.replications, flags.replications);
    run.packets = flags.packets.or(run.packets);
    run.warmup_packets = flags.warmup_packets.or(run.warmup_packets);
}

/// Refuses a profile that lacks what is needed of it.
pub(crate) fn unfit_profile(why: &dyn fmt::Display) -> miette::Report {
    misuse(format!("--profile (in a scenario: `profile`) does not fit: {why}"))
}

/// The opened traffic of `scenario`.
pub(crate) fn traffic(scenario: &PacketScenario) -> miette::Result<OpenTraffic> {
    scenario.traffic.open().map_err(|error| explained(error.into()))
}

/// What is wrong with a point, with flags beside fields.
pub(crate) fn explained(error: PointError) -> miette::Report {
    match error {
        PointError::Scenario(fault) => flags::refused(&fault),
        PointError::Traffic(error) => traffic_explained(error),
        PointError::Profile(error) => unfit_profile(&error),
    }
}

/// What is wrong with the traffic, with flags beside fields.
pub(crate) fn traffic_explained(error: TrafficError) -> miette::Report {
    match error {
        TrafficError::Field(fault) | TrafficError::Arrivals(ImpossibleArrivals::Parameter(fault)) => {
            flags::refused(&fault)
        }
        error => misuse(format!("the traffic (--trace or `traffic` in a scenario) cannot be made: {error}")),
    }
}
