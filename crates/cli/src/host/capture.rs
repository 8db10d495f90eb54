//! `warmcore host capture`.

use crate::args::host::CaptureArguments;
use crate::misuse::{OrMisuse, misuse};
use crate::probe::probe;
use miette::{IntoDiagnostic, WrapErr};
use std::fs;
use std::path::Path;
use warmcore_linux::fake::Tree;

pub(crate) fn run(arguments: &CaptureArguments) -> miette::Result<()> {
    let folder = &arguments.folder;
    refuse_what_is_there(folder)?;
    let (tree, more) = match arguments.example {
        Some(made_up) => (made_up(), String::new()),
        None => seen(arguments.root.as_deref())?,
    };
    fs::create_dir_all(folder)
        .or_misuse()
        .wrap_err_with(|| format!("cannot create the folder {}", folder.display()))?;
    tree.write_to(folder)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write the capture into {}", folder.display()))?;
    let shown = folder.display();
    let text = format!(
        "{shown} holds {} files. To look at them: `warmcore host show --root {shown}`.\n{more}",
        tree.files.len()
    );
    crate::output::print(text.as_bytes())
}

/// The files that a look at this machine, or at what is below `root`, reads, and what to know of them.
fn seen(root: Option<&Path>) -> miette::Result<(Tree, String)> {
    let (probe, recording) = probe(root)?.recorded();
    // Captures are wanted above all of hosts that cannot be read.
    let ended = probe.inventory().err().map(|error| {
        format!(
            "Reading ended early, and so does the copy: {error}. A look with --root will end there as well.\n"
        )
    });
    let warning = "Names of programs, interfaces and control groups are in it: look through it before you hand it on.\n";
    Ok((recording.tree(), warning.to_owned() + &ended.unwrap_or_default()))
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
