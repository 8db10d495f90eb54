//! `warmcore host capture`.

use crate::args::host::CaptureArguments;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::path::Path;

pub(crate) fn run(arguments: &CaptureArguments) -> miette::Result<()> {
    let folder = &arguments.folder;
    refuse_what_is_there(folder)?;
    let (probe, recording) = super::probe(arguments.root.as_ref()).recorded();
    let looked = probe.inventory();
    let tree = recording.tree();
    tree.write_to(folder)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write the capture into {}", folder.display()))?;
    let shown = folder.display();
    // A host that cannot be looked at is what a capture is wanted for.
    let ended = looked.err().map(|error| {
        format!("\nThe look ended early, and so does the copy: {error}. With --root it ends there as well.")
    });
    let text = format!(
        "{shown}: {} files, looked at with `warmcore host show --root {shown}`.\n\
         Names of programs, interfaces and control groups are in it: look through it before you hand it on.{}\n",
        tree.files.len(),
        ended.unwrap_or_default()
    );
    crate::print(text.as_bytes())
}

/// A folder with files in it would be a mixture of two machines afterwards.
fn refuse_what_is_there(folder: &Path) -> miette::Result<()> {
    let is_empty =
        |folder: &Path| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if folder.exists() && !is_empty(folder) {
        return Err(miette!(
            "`{}` exists already: name a folder that does not, or is empty",
            folder.display()
        ));
    }
    Ok(())
}
