//! Reading a plan, and reporting errors with the line of the plan.

use crate::args::applied::AdmissionArguments;
use crate::messages;
use crate::misuse::{OrMisuse, misuse};
use miette::miette;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use warmcore_linux::tuning::admission::AdmissionError;
use warmcore_linux::tuning::rivals::Interference;
use warmcore_linux::tuning::step::StepError;
use warmcore_linux::tuning::{AdmissionOptions, Disk, Plan, Proposal, admit, steps};
use warmcore_scenario::document::{self, Checked};
use warmcore_units::Fault;

/// A plan as a document.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct PlanDocument(Plan);

impl Checked for PlanDocument {
    const WHAT: &'static str = "plan";
    const SCHEMA: u32 = Plan::SCHEMA;

    fn check(&self) -> Result<(), Fault> {
        self.0.check()
    }
}

/// A plan and the text it was read from.
pub(super) struct Document {
    pub(super) plan: Plan,
    text: String,
    path: PathBuf,
}

/// Reads and checks the plan at `path`.
pub(super) fn read(path: &Path) -> miette::Result<Document> {
    messages::detail(format_args!("reading the plan {}", path.display()));
    let text = document::text::<PlanDocument>(path).or_misuse()?;
    let PlanDocument(plan) = document::parse(&text, path).or_misuse()?;
    Ok(Document { plan, text, path: path.to_owned() })
}

impl Document {
    /// What it would change there, if it may be applied, and who else changes what it sets.
    pub(super) fn proposals(
        &self,
        disk: &Disk,
        arguments: &AdmissionArguments,
    ) -> miette::Result<(Vec<Proposal>, Vec<Interference>)> {
        let admission = AdmissionOptions { despite: arguments.despite.clone() };
        let interferences = admit(&self.plan, disk, &admission).map_err(|error| match error {
            AdmissionError::Mismatch(faults) => self.refusal(faults),
            other => self.report(&other),
        })?;
        let proposals = steps(&self.plan, disk).map_err(|error| match error {
            StepError::Absent(fault) => self.refusal(vec![fault]),
            other @ StepError::Unreadable { .. } => self.report(&other),
        })?;
        Ok((proposals, interferences))
    }

    /// What went wrong with this plan.
    pub(super) fn report(&self, error: &dyn fmt::Display) -> miette::Report {
        miette!("{}: {error}", self.path.display())
    }

    /// The refusal of fields that are sound and cannot be used here.
    pub(super) fn refusal(&self, faults: Vec<Fault>) -> miette::Report {
        let refusals = faults
            .into_iter()
            .map(|fault| document::invalid::<PlanDocument>(&self.text, &self.path, fault).to_string());
        misuse(refusals.collect::<Vec<_>>().join("\n"))
    }
}
