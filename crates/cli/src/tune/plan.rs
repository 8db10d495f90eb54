//! Reading a plan, and reporting errors with the line of the plan.

use crate::args::applied::AdmissionArguments;
use crate::messages;
use crate::misuse::{OrMisuse, misuse};
use miette::miette;
use std::fmt;
use std::path::Path;
use warmcore_linux::tuning::admission::AdmissionError;
use warmcore_linux::tuning::rivals::Interference;
use warmcore_linux::tuning::step::StepError;
use warmcore_linux::tuning::{AdmissionOptions, Disk, PlanDocument, Proposal, admit, steps};
use warmcore_units::Fault;

/// Reads and checks the plan at `path`.
pub(super) fn read(path: &Path) -> miette::Result<PlanDocument> {
    messages::detail(format_args!("reading the plan {}", path.display()));
    PlanDocument::read(path).or_misuse()
}

/// What the plan would change there, if it may be applied, and who else changes what it sets.
pub(super) fn proposals(
    document: &PlanDocument,
    disk: &Disk,
    arguments: &AdmissionArguments,
) -> miette::Result<(Vec<Proposal>, Vec<Interference>)> {
    let admission = AdmissionOptions { despite: arguments.despite.clone() };
    let interferences =
        admit(&document.plan, disk, &admission).map_err(|error| unadmitted(document, error))?;
    Ok((located(document, disk)?, interferences))
}

/// Checks that the plan could be applied there, whoever else changes what it sets.
pub(super) fn check_applicable(document: &PlanDocument, disk: &Disk) -> miette::Result<()> {
    match admit(&document.plan, disk, &AdmissionOptions::default()) {
        Ok(_) | Err(AdmissionError::Rival(..)) => {}
        Err(error) => return Err(unadmitted(document, error)),
    }
    located(document, disk).map(drop)
}

/// What the plan would change there.
fn located(document: &PlanDocument, disk: &Disk) -> miette::Result<Vec<Proposal>> {
    steps(&document.plan, disk).map_err(|error| match error {
        StepError::Absent(fault) => refusal(document, vec![fault]),
        other @ (StepError::Unreadable { .. } | StepError::Unrestorable { .. }) => report(document, &other),
    })
}

/// Why the plan may not be applied.
fn unadmitted(document: &PlanDocument, error: AdmissionError) -> miette::Report {
    match error {
        AdmissionError::Mismatch(faults) => refusal(document, faults),
        other => report(document, &other),
    }
}

/// What went wrong with this plan.
pub(super) fn report(document: &PlanDocument, error: &dyn fmt::Display) -> miette::Report {
    miette!("{}: {error}", document.path().display())
}

/// The refusal of fields that are sound and cannot be used here.
fn refusal(document: &PlanDocument, faults: Vec<Fault>) -> miette::Report {
    let refusals = faults.into_iter().map(|fault| document.refusal(fault).to_string());
    misuse(refusals.collect::<Vec<_>>().join("\n"))
}
