//! Files that a command writes, and the folder it writes them into.

use crate::messages;
use crate::misuse::OrMisuse;
use crate::remedies::OrRemedies;
use miette::IntoDiagnostic;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use warmcore_record::atomic_file::{self, Existing};
use warmcore_record::{Columns, Manifest, OwnedFolder};

/// The two files of one table: the same columns for data tools, and for spreadsheets and shells.
pub(crate) struct TableFiles {
    pub(crate) parquet: &'static str,
    pub(crate) csv: &'static str,
}

/// Where every command writes its results.
pub(crate) const RESULTS: TableFiles = TableFiles { parquet: "results.parquet", csv: "results.csv" };

/// A folder for output files, which no other command writes into at the same time, and what to do about existing files.
pub(crate) struct Folder {
    owned: OwnedFolder,
    existing: Existing,
    /// Files that did not exist before and that this process has written.
    new: RefCell<Vec<PathBuf>>,
}

impl Folder {
    /// The folder at `path`, which is created if needed. Checks that `files` can be written before anything is
    /// measured or simulated.
    pub(crate) fn open(path: &Path, existing: Existing, files: &[&str]) -> miette::Result<Self> {
        Self::take(path, existing)?.checked(files)
    }

    /// Takes the folder at `path`, which is created if needed.
    pub(crate) fn take(path: &Path, existing: Existing) -> miette::Result<Self> {
        let owned = OwnedFolder::take(path).or_remedies()?;
        Ok(Self { owned, existing, new: RefCell::default() })
    }

    /// Checks that `files` can be written.
    pub(crate) fn checked(self, files: &[&str]) -> miette::Result<Self> {
        let checked = files.iter().try_for_each(|file| atomic_file::check(&self.file(file), self.existing));
        checked.or_misuse().map_err(|error| self.taken_back(error))?;
        Ok(self)
    }

    /// Removes what this process has made, as after `error` nothing is worth keeping; returns it.
    pub(crate) fn taken_back<E>(&self, error: E) -> E {
        self.new.borrow_mut().drain(..).for_each(|file| drop(fs::remove_file(file)));
        // A folder in which others have put something stays.
        self.owned.remove_made();
        error
    }

    /// The path of `file`.
    pub(crate) fn file(&self, file: &str) -> PathBuf {
        self.owned.path().join(file)
    }

    /// Writes a table to both of its `files`; the Parquet file contains the `manifest`.
    pub(crate) fn write_table(
        &self,
        files: &TableFiles,
        columns: &Columns,
        manifest: &Manifest,
    ) -> miette::Result<()> {
        self.write(files.parquet, &columns.to_parquet(manifest).into_diagnostic()?)?;
        self.write(files.csv, columns.to_csv().as_bytes())
    }

    /// Writes `file`, whole or not at all.
    pub(crate) fn write(&self, file: &str, content: &[u8]) -> miette::Result<()> {
        self.writing(file, |path| write(path, content, self.existing))
    }

    /// Lets `write` write `file`, and remembers it if it is new.
    pub(crate) fn writing<T, E>(
        &self,
        file: &str,
        write: impl FnOnce(&Path) -> Result<T, E>,
    ) -> Result<T, E> {
        let path = self.file(file);
        let is_new = path.symlink_metadata().is_err();
        let written = write(&path)?;
        if is_new {
            self.new.borrow_mut().push(path);
        }
        Ok(written)
    }
}

/// Writes the file at `path`, whole or not at all.
pub(crate) fn write(path: &Path, content: &[u8], existing: Existing) -> miette::Result<()> {
    atomic_file::write(path, content, existing).into_diagnostic()?;
    messages::detail(format_args!("wrote {}", path.display()));
    Ok(())
}
