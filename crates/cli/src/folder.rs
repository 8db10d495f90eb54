//! The folder a command writes its files into.

use miette::{IntoDiagnostic, WrapErr};
use std::path::{Path, PathBuf};
use warmcore_record::whole::{self, Existing};

/// Where files go, and what to do about those that are there.
pub(crate) struct Folder {
    path: PathBuf,
    existing: Existing,
}

impl Folder {
    /// The folder at `path`, which is created if need be. Finds out before anything is measured or
    /// simulated whether `files` can be written.
    pub(crate) fn open(path: &Path, existing: Existing, files: &[&str]) -> miette::Result<Self> {
        std::fs::create_dir_all(path)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot create the folder {}", path.display()))?;
        let folder = Self { path: path.to_owned(), existing };
        for file in files {
            whole::check(&folder.file(file), existing).into_diagnostic()?;
        }
        Ok(folder)
    }

    /// The path of `file`.
    pub(crate) fn file(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Writes `file`, whole or not at all.
    pub(crate) fn write(&self, file: &str, content: &[u8]) -> miette::Result<()> {
        whole::write(&self.file(file), content, self.existing).into_diagnostic()
    }
}
