//! Checks whether a plan may be applied here: it fits the machine, its cpus exist and may be used, and no
//! other program would undo it.

use super::namespaces::ForeignInterfaces;
use super::plan::Plan;
use super::rivals::Interference;
use super::system::System;
use super::{cpuset, rivals};
use crate::Probe;
use crate::inventory::Rival;
use crate::probe::ProbeError;
use crate::tree::Tree;
use std::collections::BTreeSet;
use std::io;
use warmcore_topology::CpuSet;
use warmcore_units::Fault;

/// Which checks to skip.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AdmissionOptions {
    /// Names of rivals to accept although they may undo the plan.
    pub despite: Vec<String>,
}

/// Why a plan may not be applied here.
#[derive(Debug, thiserror::Error)]
pub enum AdmissionError {
    /// Some fields do not fit this machine.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Mismatch(Vec<Fault>),
    /// `/sys` belongs to another network namespace than this process.
    #[error("the plan has lines of interfaces, and {0}")]
    ForeignInterfaces(ForeignInterfaces),
    /// A running program would undo the plan.
    #[error(
        "`{}` runs, and {}: stop it, or give --despite {}{}", .0.name, .0.changes, .0.name,
        .0.ban(.1).map(|ban| format!(". {ban}")).unwrap_or_default()
    )]
    Rival(Box<Rival>, BTreeSet<u32>),
    /// The machine cannot be probed.
    #[error(transparent)]
    Machine(#[from] ProbeError),
    /// A file cannot be read.
    #[error("cannot compare the plan with this machine: {0}")]
    Unreadable(#[from] io::Error),
}

/// Checks whether `plan`, which must pass [`Plan::check`], may be applied. Returns what interferes with it all the same:
/// programs that were accepted or change other settings, and files.
///
/// # Errors
/// All fields that do not fit this machine, or else the first other reason.
pub fn admit(
    plan: &Plan,
    system: &dyn System,
    admission: &AdmissionOptions,
) -> Result<Vec<Interference>, AdmissionError> {
    let is_of_interfaces = plan.lines.iter().any(|line| line.set.interface().is_some());
    if let Some(foreign) = ForeignInterfaces::find(is_of_interfaces, system) {
        return Err(AdmissionError::ForeignInterfaces(foreign));
    }
    let mut faults = plan.differences(system)?;
    let cpus = Cpus::read(system)?;
    for (index, line) in plan.lines.iter().enumerate() {
        let fault = line.set.cpus().and_then(|wanted| cpus.fault(wanted));
        let beyond_parent = || cpuset::beyond_parent(system, &line.set);
        faults.extend(fault.or_else(beyond_parent).map(|fault| line.set.in_line(index, fault)));
    }
    if !faults.is_empty() {
        return Err(AdmissionError::Mismatch(faults));
    }
    let interferences = rivals::on_system(plan, system)?;
    let refused = interferences.iter().find_map(|interference| match interference {
        Interference::Undoes(rival, interrupts)
            if !admission.despite.iter().any(|name| name == rival.name) =>
        {
            Some(AdmissionError::Rival(Box::new(rival.clone()), interrupts.clone()))
        }
        _ => None,
    });
    refused.map_or(Ok(interferences), Err)
}

/// The cpus of the machine, and those that a plan may use.
struct Cpus {
    present: CpuSet,
    online: CpuSet,
    allowed: CpuSet,
}

impl Cpus {
    fn read(system: &dyn System) -> Result<Self, ProbeError> {
        let machine = Probe::new().root(system.root()).machine()?.machine;
        let files = Tree::directory(system.root());
        let present = files.cpus("sys/devices/system/cpu/present")?;
        let (online, allowed) = (machine.online(), machine.limits.allowed);
        Ok(Self { present: present.unwrap_or_else(|| online.clone()), online, allowed })
    }

    /// Returns what is wrong with the cpus `wanted`. A process may only place things on the cpus that it
    /// may use itself.
    fn fault(&self, wanted: &CpuSet) -> Option<Fault> {
        let outside = |set: &CpuSet| Some(wanted.difference(set)).filter(|cpus| !cpus.is_empty());
        let problem = if let Some(cpus) = outside(&self.present) {
            format!("{cpus} not present")
        } else if let Some(cpus) = outside(&self.online) {
            format!("{cpus} offline")
        } else {
            format!("{} outside the cpuset and mask of this process", outside(&self.allowed)?)
        };
        Some(Fault::new("cpus", wanted, format!("cpus among {} ({problem})", self.allowed)))
    }
}
