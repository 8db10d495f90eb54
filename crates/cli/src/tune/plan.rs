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
    let interferences = admit(&document.plan, disk, &admission).map_err(|error| match error {
        AdmissionError::Mismatch(faults) => refusal(document, faults),
        other => report(document, &other),
    })?;
    let proposals = steps(&document.plan, disk).map_err(|error| match error {
        StepError::Absent(fault) => refusal(document, vec![fault]),
        other @ (StepError::Unreadable { .. } | StepError::Unrestorable { .. }) => report(document, &other),
    })?;
    Ok((proposals, interferences))
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
