//! Whether a plan may be applied here: it fits the machine, it names cpus that are there and may be
//! used, it is whole, and nobody would undo it.

use super::plan::{Missing, Plan};
use super::rivals;
use super::system::System;
use crate::inventory::Rival;
use crate::probe::ProbeError;
use crate::{Probe, tree};
use std::io;
use std::path::PathBuf;
use warmcore_topology::CpuSet;
use warmcore_units::Fault;

/// What is allowed though it is known to hurt.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AdmissionOptions {
    /// A plan that places packets and no threads, or the reverse.
    pub partial: bool,
    /// Rivals, by name, that may go on.
    pub despite: Vec<String>,
}

/// Why a plan may not be applied here.
#[derive(Debug, thiserror::Error)]
pub enum AdmissionError {
    /// Fields that do not fit this machine.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Mismatch(Vec<Fault>),
    /// Half a plan.
    #[error("{}; add the other half, or give --partial", half(*.0))]
    Partial(Missing),
    /// Somebody would undo it.
    #[error(
        "`{}` runs, and {}: stop it, or give --despite {}", .0.name, .0.changes, .0.name
    )]
    Rival(Rival),
    /// The machine cannot be looked at.
    #[error(transparent)]
    Machine(#[from] ProbeError),
    /// A file cannot be read.
    #[error("cannot compare the plan with this machine: {0}")]
    Unreadable(#[from] io::Error),
}

const fn half(missing: Missing) -> &'static str {
    match missing {
        Missing::Threads => {
            "the plan places interrupts or packets and no thread, so that packets may be handled far from who takes them"
        }
        Missing::Interrupts => {
            "the plan places threads and no interrupt or packet, so that packets may be handled far from who takes them"
        }
    }
}

/// Finds out whether `plan`, which passes [`Plan::check`], may be applied.
///
/// # Errors
/// Why it may not: every field that does not fit, or else the first other reason.
pub fn admit(plan: &Plan, system: &dyn System, admission: &AdmissionOptions) -> Result<(), AdmissionError> {
    let mut faults = plan.machine.differences(system)?;
    let cpus = Cpus::read(system)?;
    for (index, line) in plan.lines.iter().enumerate() {
        let fault = line.set.cpus().and_then(|wanted| cpus.fault(wanted));
        faults.extend(fault.map(|fault| line.set.in_line(index, fault)));
    }
    if !faults.is_empty() {
        return Err(AdmissionError::Mismatch(faults));
    }
    if let Some(missing) = plan.missing().filter(|_| !admission.partial) {
        return Err(AdmissionError::Partial(missing));
    }
    let mut rivals = rivals::undoing(plan, system)?.into_iter();
    match rivals.find(|rival| !admission.despite.iter().any(|name| name == rival.name)) {
        Some(rival) => Err(AdmissionError::Rival(rival)),
        None => Ok(()),
    }
}

/// Which cpus there are, and which of them may be named.
struct Cpus {
    present: CpuSet,
    online: CpuSet,
    allowed: CpuSet,
}

impl Cpus {
    fn read(system: &dyn System) -> Result<Self, ProbeError> {
        let machine = Probe::new().root(system.root()).machine()?.machine;
        let files = tree::Tree::Directory(PathBuf::from(system.root()));
        let present = files.cpus("sys/devices/system/cpu/present")?;
        let (online, allowed) = (machine.online(), machine.limits.allowed);
        Ok(Self { present: present.unwrap_or_else(|| online.clone()), online, allowed })
    }

    /// What is wrong with naming `wanted`. What a restricted process sees is not the machine, so
    /// what lies outside is not its to set.
    fn fault(&self, wanted: &CpuSet) -> Option<Fault> {
        let outside = |set: &CpuSet| Some(wanted.difference(set)).filter(|cpus| !cpus.is_empty());
        let problem = if let Some(cpus) = outside(&self.present) {
            format!("{cpus} not being there")
        } else if let Some(cpus) = outside(&self.online) {
            format!("{cpus} being offline")
        } else {
            format!("{} being outside the cpuset and mask of this process", outside(&self.allowed)?)
        };
        Some(Fault::new("cpus", wanted, format!("cpus among {}, {problem}", self.allowed)))
    }
}
