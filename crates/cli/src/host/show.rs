//! `warmcore host show`.

use super::inventory::{Printed, captured, looked};
use super::picture::picture;
use super::{page, watch};
use crate::args::host::ShowArguments;
use crate::calibrate::existing;
use crate::folder;
use crate::json;
use crate::misuse::OrMisuse;
use crate::probe::{look, probe};
use crate::visible::visible_lines;
use std::path::Path;
use warmcore_linux::inventory::Observation;
use warmcore_record::atomic_file;
use warmcore_study::placement::mismatch;

/// One look at this host, which takes no time, or what a capture saw.
fn seen(root: Option<&Path>) -> miette::Result<Observation> {
    match root {
        Some(root) => captured(root),
        None => looked(look(None, Observation::once)?),
    }
}

pub(crate) fn run(arguments: &ShowArguments) -> miette::Result<()> {
    let root = arguments.root.as_deref();
    if let Some(pause) = arguments.watch {
        return watch::run(&probe(root)?, pause, arguments.json);
    }
    let existing = existing(arguments.force);
    if let Some(file) = &arguments.html {
        atomic_file::check(file, existing).or_misuse()?;
    }
    let observed = seen(root)?;
    let mismatch = mismatch(&observed);
    if let Some(file) = &arguments.html {
        // The page's own text has no control characters, so what is escaped are names of the host.
        let page = visible_lines(&warmcore_report::render(&page::document(&observed, &mismatch)));
        folder::write(file, page.as_bytes(), existing)?;
        return crate::output::print(format!("{}\n", file.display()).as_bytes());
    }
    let text = if arguments.json {
        json::pretty(&Printed::new(&observed, &mismatch))?
    } else {
        picture(&observed, &mismatch)
    };
    crate::output::print(text.as_bytes())
}
