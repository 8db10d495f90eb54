//! From flags and documents to the scenario of a point; and what is wrong with it, said in the
//! words of who typed it.

use crate::args::SimulatePacketArguments;
use crate::args::packet::{
    EffectArguments, HostArguments, PointArguments, RunArguments, ScenarioArguments, TrafficArguments,
};
use crate::costs::Chosen;
use crate::misuse::{OrMisuse, misuse};
use crate::{effect, messages};
use std::fmt;
use std::path::{Path, PathBuf};
use warmcore_costs::Profile;
use warmcore_files::{LONGEST_DOCUMENT, read_text};
use warmcore_scenario::document::{self, Checked};
use warmcore_scenario::traffic::TraceFile;
use warmcore_scenario::{OpenTraffic, PacketScenario, Process, ProfileSource, TrafficError};
use warmcore_sim::packet::PointError;
use warmcore_units::{Fault, PerSecond};
use warmcore_workload::{ImpossibleArrivals, Popularity};

/// What a scenario's traffic names is looked for from where the command runs: [`scenario`] has
/// already put the folder of the document before what the document names.
pub(crate) const HERE: &str = "";

/// The scenario of one point, and who chose its profile.
pub(crate) fn scenario(arguments: &SimulatePacketArguments) -> miette::Result<(PacketScenario, Chosen)> {
    let (mut scenario, chosen) = described(&arguments.point)?;
    set(&mut scenario.processors, arguments.processors);
    scenario.check().map_err(|fault| refused(&fault))?;
    effect::check_unused(&arguments.point.scenario.given, &scenario.unused())?;
    Ok((scenario, chosen))
}

/// What the flags and the document they name describe, not yet checked, and who chose its profile;
/// flags come first.
pub(crate) fn described(arguments: &PointArguments) -> miette::Result<(PacketScenario, Chosen)> {
    let mut scenario = of_flags(&arguments.scenario)?;
    let chosen = Chosen::new(&mut scenario, &arguments.scenario);
    set_effects(&mut scenario, &arguments.effects);
    set_run(&mut scenario, &arguments.run);
    Ok((scenario, chosen))
}

/// What live runs have too of what the flags and their document describe.
pub(crate) fn of_flags(arguments: &ScenarioArguments) -> miette::Result<PacketScenario> {
    let mut scenario = arguments.document.as_deref().map_or_else(|| Ok(PacketScenario::default()), read)?;
    set(&mut scenario.seed, arguments.seed);
    set_host(&mut scenario, &arguments.host);
    set_traffic(&mut scenario, &arguments.traffic)?;
    Ok(scenario)
}

/// The profile that a checked scenario names.
pub(crate) fn profile(source: &ProfileSource) -> miette::Result<Profile> {
    match source {
        ProfileSource::File(path) => read_document(path),
        ProfileSource::SgiChallengeXl => Ok(Profile::sgi_challenge_xl()),
        ProfileSource::Measure => Err(misuse(
            "--profile is measure, expected sgi-challenge-xl or a profile's file: `warmcore calibrate` measures one",
        )),
    }
}

/// Reads and checks the document at `path`.
pub(crate) fn read_document<D: Checked>(path: &Path) -> miette::Result<D> {
    messages::detail(format_args!("reading the {} {}", D::WHAT, path.display()));
    document::read(path).or_misuse()
}

/// The scenario at `path`; the files it names are found from where the command runs.
fn read(path: &Path) -> miette::Result<PacketScenario> {
    let mut scenario: PacketScenario = read_document(path)?;
    let folder = path.parent().unwrap_or(Path::new(HERE));
    if let ProfileSource::File(file) = &mut scenario.profile {
        *file = folder.join(&*file);
    }
    if let Process::Trace(trace) = &mut scenario.traffic.process {
        trace.file = folder.join(&trace.file);
    }
    Ok(scenario)
}

pub(crate) fn set<T>(field: &mut T, flag: Option<T>) {
    if let Some(value) = flag {
        *field = value;
    }
}

/// Whether the `document` has a value of its own for `key`.
pub(crate) fn names(document: Option<&Path>, key: &str) -> bool {
    let read = document.and_then(|path| read_text(path, LONGEST_DOCUMENT).ok());
    read.and_then(|text| text.parse::<toml::Table>().ok()).is_some_and(|table| table.contains_key(key))
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

fn set_run(scenario: &mut PacketScenario, flags: &RunArguments) {
    let run = &mut scenario.run;
    set(&mut run.precision, flags.precision);
    set(&mut run.max_packets, flags.max_packets);
    set(&mut run.replications, flags.replications);
}

/// The fields whose flags are not called like the field, tables being left out.
const FLAGS: [(&str, &str); 8] = [
    ("payload-bytes", "payload"),
    ("rate-per-s", "rate"),
    ("popularity", "zipf"),
    ("batch.mean", "batch"),
    ("batch.distribution", "batch-distribution"),
    ("process.trace.file", "trace"),
    ("process.trace.time-scale", "time-scale"),
    ("process", "process"),
];

/// The tables of a document, which flags do not name.
const TABLES: [&str; 7] = ["axes.", "effects.", "live.", "prediction.", "run.", "scheduling.", "traffic."];

/// The flag that sets `field` of the document.
pub(crate) fn flag(field: &str) -> String {
    let field = field.replace('_', "-");
    let field = TABLES.into_iter().find_map(|table| field.strip_prefix(table)).unwrap_or(&field);
    let is_in =
        |table: &str| field.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let named = FLAGS.into_iter().find(|(table, _)| is_in(table)).map(|(_, flag)| flag);
    named.or_else(|| field.split('.').next()).unwrap_or(field).to_owned()
}

/// Refuses the value at `fault`, naming the flag beside the field.
pub(crate) fn refused(fault: &Fault) -> miette::Report {
    let Fault { field, found, expected } = fault;
    misuse(format!("--{} is {found}, expected {expected} (in a scenario: `{field}`)", flag(field)))
}

/// Refuses a profile that lacks what is needed of it.
pub(crate) fn unfit_profile(why: &dyn fmt::Display) -> miette::Report {
    misuse(format!("--profile (in a scenario: `profile`) does not fit: {why}"))
}

/// The opened traffic of `scenario`.
pub(crate) fn traffic(scenario: &PacketScenario) -> miette::Result<OpenTraffic> {
    scenario.traffic.open(Path::new(HERE)).map_err(|error| explained(error.into()))
}

/// What is wrong with a point, with flags beside fields.
pub(crate) fn explained(error: PointError) -> miette::Report {
    match error {
        PointError::Scenario(fault) => refused(&fault),
        PointError::Traffic(error) => traffic_explained(error),
        PointError::Profile(error) => unfit_profile(&error),
    }
}

/// What is wrong with the traffic, with flags beside fields.
pub(crate) fn traffic_explained(error: TrafficError) -> miette::Report {
    match error {
        TrafficError::Field(fault) | TrafficError::Arrivals(ImpossibleArrivals::Parameter(fault)) => {
            refused(&fault)
        }
        error => misuse(format!("the traffic (--trace or `traffic` in a scenario) cannot be made: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use clap::CommandFactory;
    use warmcore_scenario::Effects;

    /// The flags of `simulate packet` and `run`.
    fn flags() -> Vec<String> {
        let mut command = Arguments::command();
        command.build();
        let simulate =
            command.find_subcommand("simulate").and_then(|simulate| simulate.find_subcommand("packet"));
        let commands = [simulate, command.find_subcommand("run")];
        let arguments = commands.into_iter().flat_map(|command| command.expect("a command").get_arguments());
        arguments.filter_map(|flag| flag.get_long().map(str::to_owned)).collect()
    }

    #[test]
    fn every_effect_has_its_flag() {
        let (flags, effects) = (flags(), toml::Table::try_from(Effects::NONE).expect("effects are a table"));
        for field in effects.keys() {
            assert!(flags.contains(&flag(&format!("effects.{field}"))), "{field}");
        }
    }

    /// Every field that a check may refuse has a flag, and that flag is there.
    #[test]
    fn every_field_has_its_flag() {
        let flags = flags();
        for (field, expected) in [
            ("rate_per_s", "rate"),
            ("processors", "processors"),
            ("stacks", "stacks"),
            ("profile", "profile"),
            ("scheduling.queue", "queue"),
            ("scheduling.thread_order", "thread-order"),
            ("run.precision", "precision"),
            ("run.max_packets", "max-packets"),
            ("effects.checksum_ns_per_byte", "checksum-ns-per-byte"),
            ("traffic.streams", "streams"),
            ("traffic.batch.mean", "batch"),
            ("traffic.popularity.zipf", "zipf"),
            ("traffic.process.trains.cars", "process"),
            ("traffic.process.trace.time_scale", "time-scale"),
            ("traffic.process.trace.file", "trace"),
            ("traffic.sizes.0.weight", "sizes"),
            ("traffic.send_fraction", "send-fraction"),
            ("live.driver", "driver"),
            ("live.interface", "interface"),
            ("live.address", "address"),
            ("live.port", "port"),
            ("live.cpus", "cpus"),
            ("live.seconds", "seconds"),
            ("live.mode", "mode"),
            ("live.work_kib", "work-kib"),
            ("live.payload_bytes", "payload"),
            ("live.verify_udp_checksum", "verify-udp-checksum"),
            ("live.handler_ns", "handler-ns"),
            ("live.handler_bytes", "handler-bytes"),
            ("live.capacity", "capacity"),
            ("live.overload", "overload"),
            ("live.shutdown", "shutdown"),
        ] {
            assert_eq!(flag(field), expected, "{field}");
            assert!(flags.iter().any(|flag| flag == expected), "--{expected}");
        }
    }
}
