//! `warmcore host show`.

use super::inventory::{Printed, looked};
use super::picture::picture;
use super::{page, watch};
use crate::args::host::ShowArguments;
use crate::calibrate::existing;
use crate::folder;
use crate::json;
use crate::misuse::OrMisuse;
use crate::probe::{look, probe};
use warmcore_linux::Probe;
use warmcore_record::atomic_file;

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
        return crate::output::print(format!("{}\n", file.display()).as_bytes());
    }
    let text = if arguments.json {
        json::pretty(&Printed::new(&inventory, None))?
    } else {
        picture(&inventory, None)
    };
    crate::output::print(text.as_bytes())
}
