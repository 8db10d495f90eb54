//! `warmcore host capture`.

use crate::args::host::CaptureArguments;
use crate::messages;
use crate::misuse::{OrMisuse, misuse};
use crate::probe::probe;
use miette::{IntoDiagnostic, WrapErr};
use std::fs;
use std::path::Path;
use std::time::Duration;
use warmcore_linux::fake::Tree;
use warmcore_linux::inventory::Observation;
use warmcore_linux::{ProbeError, capture};

pub(crate) fn run(arguments: &CaptureArguments) -> miette::Result<()> {
    let folder = &arguments.folder;
    refuse_what_is_there(folder)?;
    // Before the host is watched. The folder is made afterwards, so that none is left where that fails.
    capture::require_creatable(folder)
        .or_misuse()
        .wrap_err_with(|| format!("cannot create the folder {}", folder.display()))?;
    let Copy { earlier, later, warning } = match arguments.example {
        Some(made_up) => made_up_copy(&made_up()),
        None => match arguments.root.as_deref() {
            Some(root) => copy_of(root)?,
            None => watched(arguments.sample)?,
        },
    };
    let written = capture::write(folder, &later, earlier.as_ref());
    written
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write the capture into {}", folder.display()))?;
    let shown = folder.display();
    let count = later.files.len() + earlier.as_ref().map_or(0, |tree| tree.files.len());
    let text = format!(
        "{shown} holds {count} files. To look at them: `warmcore host show --root {shown}`.\n{warning}"
    );
    crate::output::print(text.as_bytes())
}

/// The files that a look at a host reads: at the end of an interval, and at its beginning.
struct Copy {
    earlier: Option<Tree>,
    later: Tree,
    /// What to know of them.
    warning: String,
}

/// How long ago the first half of a made-up host was.
const MADE_UP_INTERVAL: f64 = 10.0;

fn made_up_copy(host: &Tree) -> Copy {
    Copy { earlier: Some(host.earlier(MADE_UP_INTERVAL)), later: host.clone(), warning: String::new() }
}

/// Looks at this machine twice, `interval` apart.
fn watched(interval: Duration) -> miette::Result<Copy> {
    let ((first, earlier), (second, later)) = (probe(None)?.recorded(), probe(None)?.recorded());
    messages::status(format!("Watching the host for {:.0} s.", interval.as_secs_f64()));
    let looked = first.observe_until(interval, &second);
    if looked.is_err() {
        // What can be read now still tells why.
        let _ = second.inventory();
    }
    Ok(copied(Some(earlier.tree()), later.tree(), looked.err()))
}

/// Looks at the capture in `root`, at both halves if it has them.
fn copy_of(root: &Path) -> miette::Result<Copy> {
    let (second, later) = probe(Some(root))?.recorded();
    let Some(first) = second.first_look().into_diagnostic().wrap_err("cannot copy the capture")? else {
        let ended = tolerated(second.inventory().err())?;
        return Ok(copied(None, later.tree(), ended));
    };
    let (first, earlier) = first.recorded();
    let ended = tolerated(Observation::of_probes(&first, &second).err())?;
    if ended.is_some() {
        let _ = second.inventory();
    }
    Ok(copied(Some(earlier.tree()), later.tree(), ended))
}

/// An error that a copy may have too: what cannot be read. A copy of half a capture, or of two hosts, would pass for one.
fn tolerated(error: Option<ProbeError>) -> miette::Result<Option<ProbeError>> {
    match error {
        Some(error @ (ProbeError::Unfinished { .. } | ProbeError::AnotherHost { .. })) => {
            Err(error).into_diagnostic().wrap_err("cannot copy the capture")
        }
        error => Ok(error),
    }
}

fn copied(earlier: Option<Tree>, later: Tree, ended: Option<ProbeError>) -> Copy {
    // Captures are wanted above all of hosts that cannot be read.
    let ended = ended.map(|error| {
        format!(
            "Reading ended early, and so does the copy: {error}. A look with --root will end there as well.\n"
        )
    });
    let warning = "Names of programs, interfaces and control groups are in it: look through it before you hand it on.\n";
    Copy { earlier, later, warning: warning.to_owned() + &ended.unwrap_or_default() }
}

/// A folder with files in it would be a mixture of two machines afterwards.
fn refuse_what_is_there(folder: &Path) -> miette::Result<()> {
    let is_empty = |folder: &Path| fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if folder.exists() && !is_empty(folder) {
        return Err(misuse(format!(
            "`{}` exists already: name a folder that does not, or is empty",
            folder.display()
        )));
    }
    Ok(())
}
