//! Keeps a plan over reboots and reloaded drivers: writes files for systemd and udev. Nothing is installed
//! here.
//!
//! | file | module | purpose |
//! |---|---|---|
//! | [`PLAN`] | | the lines that outlive a reboot |
//! | [`UNIT`] | `unit` | applies that plan at every boot |
//! | [`RULES`] | `rule` | apply it again when a driver has been loaded again |
//! | one drop-in for each service | `drop_in` | the cpus of its threads |
//!
//! A line that places threads names a process, which a reboot ends. Its service has another process then, so
//! the cpus go to the service (`service`).

mod drop_in;
mod rule;
mod service;
mod unit;

pub use service::{ServiceError, Unserved};

use super::plan::Plan;
use super::system::System;
use std::path::{Path, PathBuf};

/// The name of the systemd unit.
pub const UNIT: &str = "warmcore-host.service";

/// The file of the udev rules.
pub const RULES: &str = "/etc/udev/rules.d/90-warmcore-host.rules";

/// The plan that the unit applies. Only root may write there, unlike in the folder of the plan that a user
/// made.
pub const PLAN: &str = "/etc/warmcore/host-plan.toml";

/// The folder of the unit's journal. Plans that are applied by hand have another one.
pub const JOURNAL: &str = "/var/lib/warmcore/unit";

/// Where systemd looks for units and drop-ins of the administrator.
const UNITS: &str = "/etc/systemd/system";

/// A file to install.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstalledFile {
    /// Its absolute path on the host.
    pub path: String,
    /// Its text, which begins with the path in a comment.
    pub text: String,
}

impl InstalledFile {
    fn new(path: String, text: &str) -> Self {
        let text = format!("# {path}\n{text}");
        Self { path, text }
    }
}

/// The files that keep a plan over reboots.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Persistence {
    /// The files.
    pub files: Vec<InstalledFile>,
    /// Whether the unit is among them.
    pub has_unit: bool,
    /// The services with a drop-in, which holds from their next start.
    pub services: Vec<String>,
    /// The processes and control groups whose lines are left out.
    pub unserved: Vec<Unserved>,
}

/// A plan cannot be kept over reboots.
#[derive(Debug, thiserror::Error)]
pub enum PersistError {
    /// A unit cannot start this program.
    #[error(
        "{}: expected a path of this program in UTF-8 without quotes, backslashes and control characters, which \
         systemd refuses: install it elsewhere", .0.to_string_lossy().escape_debug()
    )]
    Program(PathBuf),
    /// No line outlives a reboot.
    #[error(
        "no line of the plan outlives a reboot: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    Nothing(Vec<Unserved>),
    /// The rest of the plan cannot be written as a document.
    #[error("cannot write the plan: {0}")]
    Document(#[from] toml::ser::Error),
}

/// Returns the files that keep `plan`, which must pass [`Plan::check`], over reboots: `program` applies it at
/// every boot although the programs `despite` run. Processes and devices are looked up on `system`.
///
/// # Errors
/// If systemd cannot start `program`, or nothing of the plan outlives a reboot.
pub fn persist(
    plan: &Plan,
    program: &Path,
    despite: &[String],
    system: &dyn System,
) -> Result<Persistence, PersistError> {
    let (services, unserved) = service::services(plan, system);
    let mut persistent = plan.clone();
    persistent.lines.retain(|line| !line.set.places_threads());
    let mut files = Vec::new();
    let has_unit = !persistent.lines.is_empty();
    if has_unit {
        let unit = unit::unit(program, despite, &persistent)?;
        files.push(InstalledFile::new(PLAN.to_owned(), &toml::to_string(&persistent)?));
        files.push(InstalledFile::new(format!("{UNITS}/{UNIT}"), &unit));
        let rules = rule::rules(&persistent, system);
        files.extend(rules.map(|rules| InstalledFile::new(RULES.to_owned(), &rules)));
    }
    for service in &services {
        let path = format!("{UNITS}/{}.d/90-warmcore.conf", service.name);
        files.push(InstalledFile::new(path, &drop_in::drop_in(service)));
    }
    if files.is_empty() {
        return Err(PersistError::Nothing(unserved));
    }
    let services = services.into_iter().map(|service| service.name).collect();
    Ok(Persistence { files, has_unit, services, unserved })
}
