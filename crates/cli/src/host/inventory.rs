//! The inventory of a host, and how `--json` prints it.

use super::findings;
use crate::messages;
use crate::probe::{look, probe};
use miette::{IntoDiagnostic, WrapErr};
use serde::Serialize;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;
use warmcore_linux::inventory::Observation;
use warmcore_linux::{Inventory, ProbeError, Rates};
use warmcore_study::placement::{Finding, Mismatch, QueuePlace, ReaderEvidence, ReaderPlace};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// The result of a look at the host, with the words for the user where it failed.
pub(super) fn looked(look: Result<Observation, ProbeError>) -> miette::Result<Observation> {
    look.into_diagnostic().wrap_err("cannot look at the host")
}

/// Watches this host for `interval` if `check` accepts what is where at its beginning, or looks at the capture in `root`.
pub(super) fn observed(
    root: Option<&Path>,
    interval: Duration,
    check: impl FnOnce(&Inventory) -> miette::Result<()>,
) -> miette::Result<Observation> {
    if let Some(root) = root {
        return captured(root);
    }
    let probe = probe(None)?;
    let beginning = looked(Observation::beginning(&probe))?;
    check(&beginning.inventory)?;
    messages::status(format!("Watching the host for {:.0} s.", interval.as_secs_f64()));
    sleep(interval);
    looked(beginning.next(&probe))
}

/// Looks at the capture in `root`: at both halves, if it has them.
pub(super) fn captured(root: &Path) -> miette::Result<Observation> {
    looked(look(Some(root), |later| match later.first_look()? {
        Some(earlier) => Observation::of_probes(&earlier, later),
        None => Observation::once(later),
    })?)
}

/// What `--json` prints: the inventory, what is amiss, what could not be found out about the machine, and the rates
/// since the look before.
#[derive(Serialize)]
pub(super) struct Printed<'a> {
    schema: u32,
    mismatch: PrintedMismatch<'a>,
    #[serde(flatten)]
    inventory: &'a Inventory,
    notes: Vec<String>,
    rates: Option<&'a Rates>,
}

/// Where packets come in and who reads them.
#[derive(Serialize)]
struct PrintedMismatch<'a> {
    evidence: ReaderEvidence,
    readers: &'a [ReaderPlace],
    queues: &'a [QueuePlace],
    findings: Vec<PrintedFinding<'a>>,
}

/// A finding, and its sentence.
#[derive(Serialize)]
struct PrintedFinding<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    sentence: String,
}

impl<'a> Printed<'a> {
    pub(super) fn new(observed: &'a Observation, mismatch: &'a Mismatch) -> Self {
        let inventory = &observed.inventory;
        let finding = |finding| PrintedFinding { finding, sentence: findings::sentence(finding, inventory) };
        let mismatch = PrintedMismatch {
            evidence: mismatch.evidence,
            readers: &mismatch.readers,
            queues: &mismatch.queues,
            findings: mismatch.findings.iter().map(finding).collect(),
        };
        let notes = inventory.warnings.iter().map(ToString::to_string).collect();
        Self { schema: SCHEMA, mismatch, inventory, notes, rates: observed.rates.as_ref() }
    }
}
