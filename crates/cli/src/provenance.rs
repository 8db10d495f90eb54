//! Where a result comes from: the manifest of a report.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use toml::ser::Error;
use warmcore_costs::Profile;
use warmcore_linux::Probe;
use warmcore_record::Manifest;
use warmcore_record::manifest::{FactGroup, Seed};
use warmcore_scenario::Study;
use warmcore_topology::Machine;

/// The program, by name.
pub(crate) const PROGRAM: &str = "warmcore";

/// The words of this command line. A word that is not UTF-8 is written as `$'…'`, which a shell reads back.
pub(crate) fn command() -> Vec<String> {
    env::args_os().map(in_utf8).collect()
}

fn in_utf8(word: OsString) -> String {
    word.into_string().unwrap_or_else(|word| format!("$'{}'", word.as_bytes().escape_ascii()))
}

/// The manifest of what was simulated with the costs of `profile`; `scenario` is the document that
/// repeats it, where there is one.
pub(crate) fn from_simulation(profile: &Profile, seed: u64, scenario: Option<String>) -> Manifest {
    let mut manifest = Manifest::now(PROGRAM, env!("CARGO_PKG_VERSION"));
    manifest.command = command();
    manifest.facts.push(costs(profile));
    manifest.seeds.push(Seed { purpose: "arrivals".to_owned(), value: seed });
    manifest.scenario = scenario;
    manifest
}

/// The manifest of what was simulated from `seed` without a profile; `scenario` is the document that repeats it, where there is
/// one.
pub(crate) fn from_seed(purpose: &str, seed: u64, scenario: Option<String>) -> Manifest {
    let mut manifest = Manifest::now(PROGRAM, env!("CARGO_PKG_VERSION"));
    manifest.command = command();
    manifest.seeds.push(Seed { purpose: purpose.to_owned(), value: seed });
    manifest.scenario = scenario;
    manifest
}

/// `manifest` without the date and the command line, so that the same simulation gives the same bytes again.
pub(crate) fn repeatable(manifest: &Manifest) -> Manifest {
    Manifest { written: String::new(), command: Vec::new(), ..manifest.clone() }
}

/// The manifest of `study` with the costs of `profile`, measured on `machine` if it was.
///
/// # Errors
/// If the scenario cannot be written as TOML.
pub(crate) fn manifest(
    study: &Study,
    profile: &Profile,
    machine: Option<&Machine>,
) -> Result<Manifest, Error> {
    let mut manifest = Manifest::now(PROGRAM, env!("CARGO_PKG_VERSION"));
    manifest.command = command();
    manifest.facts.push(costs(profile));
    if let Some(machine) = machine {
        manifest.facts.push(hardware(machine));
        manifest.facts.push(conditions());
    }
    let purpose = "arrivals, and the order of measurements".to_owned();
    manifest.seeds.push(Seed { purpose, value: study.seed });
    manifest.scenario = Some(toml::to_string(study)?);
    Ok(manifest)
}

/// The manifest of what was measured on `machine`.
pub(crate) fn from_measurement(machine: &Machine) -> Manifest {
    let mut manifest = Manifest::now(PROGRAM, env!("CARGO_PKG_VERSION"));
    manifest.command = command();
    manifest.facts.extend([hardware(machine), conditions()]);
    manifest
}

fn costs(profile: &Profile) -> FactGroup {
    let provenance = &profile.provenance;
    FactGroup::new("Costs", [("source", provenance.source.clone()), ("date", provenance.date.clone())])
}

fn hardware(machine: &Machine) -> FactGroup {
    let limits = &machine.limits;
    let cpus = format!("{} online, {} usable ({})", machine.cpus.len(), limits.allowed.len(), limits.allowed);
    let mut facts = vec![("processor".to_owned(), machine.name.clone()), ("cpus".to_owned(), cpus)];
    if let Some(quota) = limits.cpu_quota {
        facts.push(("cpu quota".to_owned(), format!("{quota} cpus")));
    }
    facts.extend(machine.caches.iter().map(|cache| {
        let geometry = &cache.geometry;
        (
            format!("L{} {}", cache.level, cache.kind),
            format!(
                "{}, {}-byte lines, {} ways, cpus {}",
                geometry.size, geometry.line.0, geometry.ways, cache.shared_by
            ),
        )
    }));
    FactGroup::new("Machine", facts)
}

fn conditions() -> FactGroup {
    let host = Probe::new().host();
    let facts = [
        ("kernel", host.kernel),
        ("memory", host.memory.map(|memory| memory.to_string())),
        ("hypervisor", Some(format!("{:?}", host.hypervisor).to_lowercase())),
        ("load at the end", host.load.map(|[minute, ..]| format!("{minute:.2} over the last minute"))),
        ("frequency governor", host.governor),
        ("clock source", host.clock_source),
        ("transparent huge pages", host.huge_pages.map(|mode| format!("{mode:?}").to_lowercase())),
    ];
    let known = |fact: Option<String>| fact.unwrap_or_else(|| "not reported by the kernel".to_owned());
    FactGroup::new("Conditions", facts.map(|(label, value)| (label, known(value))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn a_word_that_is_no_text_stands_as_a_shell_reads_it_back() {
        assert_eq!(in_utf8("résumé's".into()), "résumé's");
        assert_eq!(in_utf8(OsString::from_vec(b"o'\xff\n".to_vec())), r"$'o\'\xff\n'");
    }
}
