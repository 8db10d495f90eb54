//! Finds the systemd services of the processes whose threads a plan places, by their control groups.
//!
//! systemd gives every unit a control group below those of its slices, so the first component that is no slice
//! is the unit (`cg_path_get_unit` in systemd's src/basic/cgroup-util.c). What lies below it was made by the
//! service itself, or by another manager: that of a user's session or of a container.

use crate::probe::limits::hierarchies;
use crate::tuning::locate_error::LocateError;
use crate::tuning::plan::{Plan, Setting};
use crate::tuning::system::System;
use crate::tuning::thread;
use std::collections::BTreeMap;
use std::fmt;
use warmcore_topology::CpuSet;

/// Where systemd keeps the units that programs ask it for.
const TRANSIENT: &str = "run/systemd/transient";

/// A service with processes of the plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Service {
    /// Its unit, such as `nginx.service`.
    pub(super) name: String,
    /// The names of its processes in the plan.
    pub(super) processes: Vec<String>,
    /// The cpus of all of them; none where the plan places its control group only.
    pub(super) cpus: CpuSet,
    /// Whether each of its lines has all these cpus.
    pub(super) is_uniform: bool,
    /// The cpus of its control group.
    pub(super) cpuset: Option<CpuSet>,
}

/// What gets no drop-in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unserved {
    /// A process or control group, in words.
    pub placed: String,
    /// The cpus of all its lines.
    pub cpus: CpuSet,
    /// Why.
    pub reason: ServiceError,
}

/// Why no drop-in can hold the cpus of a process or control group.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ServiceError {
    /// The process cannot be found.
    #[error("its service cannot be found: {0}: make the plan again")]
    Ended(String),
    /// Its control group cannot be read.
    #[error("its service cannot be found: `{file}` cannot be read")]
    Hidden {
        /// The file.
        file: String,
    },
    /// It belongs to no unit.
    #[error(
        "it belongs to no systemd unit (its control group is `{0}`): let a service start it, or give whatever starts it \
         these cpus"
    )]
    NoUnit(String),
    /// It belongs to a user's session.
    #[error("it belongs to a user's session (`{0}`): let a system service start it")]
    Session(String),
    /// It belongs to a scope, such as that of a container, which has no settings for its processes.
    #[error(
        "it is in `{0}`, and no drop-in of a scope places processes: give whatever starts it these cpus, such as \
         `docker run --cpuset-cpus`"
    )]
    Scope(String),
    /// It belongs to a service that exists only until it ends.
    #[error(
        "`{0}` is transient, so its name does not return: start it with `systemd-run --property=CPUAffinity=`"
    )]
    Transient(String),
    /// Another manager below a unit started it.
    #[error("another manager below `{0}` started it, such as that of a container: give that one these cpus")]
    Nested(String),
}

impl fmt::Display for Unserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { placed, cpus, reason } = self;
        write!(f, "{placed} loses its cpus {cpus} when it ends: {reason}")
    }
}

/// A process of the plan: its number, start and name, and the cpus of its lines.
struct Placed {
    pid: u32,
    started: u64,
    name: String,
    masks: Vec<CpuSet>,
    thread: u32,
}

/// Finds the services of the processes and control groups of `plan`, and those without one.
pub(super) fn services(plan: &Plan, system: &dyn System) -> (Vec<Service>, Vec<Unserved>) {
    let (mut services, mut unserved) = (BTreeMap::<String, Vec<Placed>>::new(), Vec::new());
    for process in placed(plan) {
        match service_of(&process, system) {
            Ok(name) => services.entry(name).or_default().push(process),
            Err(reason) => {
                let placed = format!("process {} ({})", process.pid, process.name.escape_debug());
                unserved.push(Unserved { placed, cpus: union(&process.masks), reason });
            }
        }
    }
    let mut services: Vec<Service> =
        services.into_iter().map(|(name, processes)| Service::new(name, processes)).collect();
    for (group, cpus) in groups(plan) {
        match service_of_group(group, system) {
            Ok(name) => match services.iter_mut().find(|service| service.name == name) {
                Some(service) => service.cpuset = Some(cpus.clone()),
                None => {
                    services.push(Service { cpuset: Some(cpus.clone()), ..Service::new(name, Vec::new()) });
                }
            },
            Err(reason) => {
                let placed = format!("control group {}", group.escape_debug());
                unserved.push(Unserved { placed, cpus: cpus.clone(), reason });
            }
        }
    }
    (services, unserved)
}

/// The control groups that have lines in `plan`, with their cpus.
fn groups(plan: &Plan) -> impl Iterator<Item = (&str, &CpuSet)> {
    plan.lines.iter().filter_map(|line| match &line.set {
        Setting::Cpuset { group, cpus } => Some((group.as_str(), cpus)),
        _ => None,
    })
}

impl Service {
    fn new(name: String, processes: Vec<Placed>) -> Self {
        let masks: Vec<CpuSet> = processes.iter().flat_map(|process| process.masks.clone()).collect();
        let cpus = union(&masks);
        let mut names: Vec<String> = processes.into_iter().map(|process| process.name).collect();
        names.sort();
        names.dedup();
        Self {
            name,
            processes: names,
            is_uniform: masks.iter().all(|mask| *mask == cpus),
            cpus,
            cpuset: None,
        }
    }
}

/// The processes that have lines in `plan`, in the order of their first lines.
fn placed(plan: &Plan) -> Vec<Placed> {
    let mut found: Vec<Placed> = Vec::new();
    for line in &plan.lines {
        let Setting::Thread { pid, started, name, thread, cpus } = &line.set else { continue };
        match found.iter_mut().find(|process| (process.pid, process.started) == (*pid, *started)) {
            Some(process) => process.masks.push(cpus.clone()),
            None => found.push(Placed {
                pid: *pid,
                started: *started,
                name: name.clone(),
                masks: vec![cpus.clone()],
                thread: thread.unwrap_or(*pid),
            }),
        }
    }
    found
}

fn union(masks: &[CpuSet]) -> CpuSet {
    masks.iter().flat_map(CpuSet::iter).collect()
}

fn service_of(process: &Placed, system: &dyn System) -> Result<String, ServiceError> {
    let Placed { pid, started, name, thread, .. } = process;
    thread::require(system, *pid, *started, name).map_err(|error| match error {
        LocateError::Absent(fault) => ServiceError::Ended(fault.to_string()),
        LocateError::Unreadable { file, .. } => ServiceError::Hidden { file },
    })?;
    let file = format!("proc/{pid}/cgroup");
    // A capture has only those of threads.
    let text = system.read(&file).or_else(|_| system.read(&format!("proc/{pid}/task/{thread}/cgroup")));
    let text = text.map_err(|_| ServiceError::Hidden { file })?;
    lasting(unit_of(&group_of(&text))?, system)
}

/// The service whose own control group is `group`.
fn service_of_group(group: &str, system: &dyn System) -> Result<String, ServiceError> {
    let unit = unit_of(group)?;
    let last = group.rsplit('/').find(|name| !name.is_empty()).unwrap_or_default();
    if last.strip_prefix('_').unwrap_or(last) != unit {
        return Err(ServiceError::Nested(unit));
    }
    lasting(unit, system)
}

/// `unit`, unless its name does not return after a reboot.
fn lasting(unit: String, system: &dyn System) -> Result<String, ServiceError> {
    let transient = system.entries(TRANSIENT).unwrap_or_default();
    if transient.contains(&unit) { Err(ServiceError::Transient(unit)) } else { Ok(unit) }
}

/// The group in systemd's own hierarchy: version 2, or the one named `systemd` beside version 1.
fn group_of(text: &str) -> String {
    let groups = hierarchies(text);
    let of = |wanted: &str| groups.iter().find(|(controllers, _)| *controllers == wanted);
    of("name=systemd").or_else(|| of("")).map_or_else(String::new, |(_, path)| (*path).to_owned())
}

/// Returns the service whose control group is `group`, or lies above it.
fn unit_of(group: &str) -> Result<String, ServiceError> {
    let shown = || group.escape_debug().to_string();
    let is_slice = |name: &&str| name.ends_with(".slice");
    let mut names = group.split('/').filter(|name| !name.is_empty()).peekable();
    if names.peek() == Some(&"user.slice") {
        return Err(ServiceError::Session(shown()));
    }
    let unit = names.by_ref().find(|name| !is_slice(name)).ok_or_else(|| ServiceError::NoUnit(shown()))?;
    // systemd puts `_` before names that the kernel might use itself.
    let unit = unit.strip_prefix('_').unwrap_or(unit);
    if unit.ends_with(".scope") {
        return Err(ServiceError::Scope(unit.escape_debug().to_string()));
    }
    if !is_service(unit) {
        return Err(ServiceError::NoUnit(shown()));
    }
    let is_unit = |name: &str| [".slice", ".scope", ".service"].iter().any(|kind| name.ends_with(kind));
    if names.any(is_unit) { Err(ServiceError::Nested(unit.to_owned())) } else { Ok(unit.to_owned()) }
}

/// Whether `name` can be the name of a service (systemd.unit(5)). It becomes part of a path.
fn is_service(name: &str) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || ":-_.\\@".contains(letter);
    let stem = name.strip_suffix(".service").unwrap_or_default();
    !stem.is_empty() && name.len() < 256 && name.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_the_first_component_that_is_no_slice() {
        for (group, unit) in [
            ("/system.slice/nginx.service", "nginx.service"),
            (
                "/system.slice/system-postgresql.slice/postgresql@15-main.service",
                "postgresql@15-main.service",
            ),
            ("/nginx.service", "nginx.service"),
            ("/system.slice/haproxy.service/workers", "haproxy.service"),
            ("/system.slice/_cgroup.service", "cgroup.service"),
            (r"/system.slice/a\x2db.service", r"a\x2db.service"),
        ] {
            assert_eq!(unit_of(group).as_deref(), Ok(unit), "{group}");
        }
    }

    #[test]
    fn a_group_without_a_service_of_the_system_is_refused() {
        let refused = |group: &str| unit_of(group).unwrap_err();
        for group in ["", "/", "/docker/1f", "/lxc.payload.a/system.slice/a.service", "/../../a.service/b"] {
            assert_eq!(refused(group), ServiceError::NoUnit(group.to_owned()), "{group}");
        }
        let session = "/user.slice/user-1000.slice/user@1000.service/app.slice/a.service";
        assert_eq!(refused(session), ServiceError::Session(session.to_owned()));
        let container = "/kubepods.slice/kubepods-pod1.slice/cri-containerd-2.scope";
        assert_eq!(refused(container), ServiceError::Scope("cri-containerd-2.scope".to_owned()));
        let nested = "/machine.slice/systemd-nspawn@a.service/payload/system.slice/b.service";
        assert_eq!(refused(nested), ServiceError::Nested("systemd-nspawn@a.service".to_owned()));
        for hostile in ["/a\nExecStart=b.service", "/.service", "/a b.service", "/a\".service"] {
            assert!(matches!(refused(hostile), ServiceError::NoUnit(_)), "{hostile}");
        }
    }

    #[test]
    fn the_group_is_that_of_the_hierarchy_of_systemd() {
        let first = "5:cpuset:/\n1:name=systemd:/system.slice/a.service\n0::/";
        assert_eq!(group_of(first), "/system.slice/a.service");
        assert_eq!(group_of("4:cpuset:/x\n0::/system.slice/b.service"), "/system.slice/b.service");
    }
}
