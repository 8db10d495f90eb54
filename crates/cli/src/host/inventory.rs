//! The inventory of a host, and how `--json` prints it.

use miette::{IntoDiagnostic, WrapErr};
use serde::Serialize;
use warmcore_linux::{Inventory, ProbeError, Rates};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// The result of a look at the host, with the words for the user where it failed.
pub(super) fn looked(look: Result<Inventory, ProbeError>) -> miette::Result<Inventory> {
    look.into_diagnostic().wrap_err("cannot look at the host")
}

/// What `--json` prints: the inventory, what could not be found out about the machine, and the rates since the
/// look before.
#[derive(Serialize)]
pub(super) struct Printed<'a> {
    schema: u32,
    #[serde(flatten)]
    inventory: &'a Inventory,
    notes: Vec<String>,
    rates: Option<&'a Rates>,
}

impl<'a> Printed<'a> {
    pub(super) fn new(inventory: &'a Inventory, rates: Option<&'a Rates>) -> Self {
        let notes = inventory.warnings.iter().map(ToString::to_string).collect();
        Self { schema: SCHEMA, inventory, notes, rates }
    }
}
