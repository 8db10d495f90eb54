//! `warmcore host show`.

use super::picture::picture;
use super::{page, watch};
use crate::args::host::ShowArguments;
use crate::calibrate::existing;
use crate::folder;
use crate::json;
use crate::misuse::OrMisuse;
use crate::probe::{look, probe};
use miette::{IntoDiagnostic, WrapErr};
use serde::Serialize;
use warmcore_linux::{Inventory, Probe, ProbeError, Rates};
use warmcore_record::atomic_file;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

pub(crate) fn run(arguments: &ShowArguments) -> miette::Result<()> {
    let root = arguments.root.as_deref();
    if let Some(pause) = arguments.watch {
        return watch::run(&probe(root)?, pause, arguments.json);
    }
    let existing = existing(arguments.force);
    if let Some(file) = &arguments.html {
        atomic_file::check(file, existing).or_misuse()?;
    }
    let inventory = looked(look(root, Probe::inventory)?)?;
    if let Some(file) = &arguments.html {
        let page = warmcore_report::render(&page::document(&inventory));
        folder::write(file, page.as_bytes(), existing)?;
        return crate::print(format!("{}\n", file.display()).as_bytes());
    }
    let text =
        if arguments.json { json::pretty(&Shown::new(&inventory, None))? } else { picture(&inventory, None) };
    crate::print(text.as_bytes())
}

/// What a look came to, with the words for the user where it failed.
pub(super) fn looked(look: Result<Inventory, ProbeError>) -> miette::Result<Inventory> {
    look.into_diagnostic().wrap_err("cannot look at the host")
}

/// What `--json` prints: the fields of the picture, what could not be found out about the machine, and
/// the rates since the look before.
#[derive(Serialize)]
pub(super) struct Shown<'a> {
    schema: u32,
    #[serde(flatten)]
    inventory: &'a Inventory,
    notes: Vec<String>,
    rates: Option<&'a Rates>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(inventory: &'a Inventory, rates: Option<&'a Rates>) -> Self {
        let notes = inventory.warnings.iter().map(ToString::to_string).collect();
        Self { schema: SCHEMA, inventory, notes, rates }
    }
}
