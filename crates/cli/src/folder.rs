//! Files that a command writes, and the folder it writes them into.

use crate::messages;
use crate::misuse::OrMisuse;
use miette::{IntoDiagnostic, WrapErr};
use std::fs;
use std::path::{Path, PathBuf};
use warmcore_record::atomic_file::{self, Existing};
use warmcore_record::{Columns, Manifest};

/// The two files of one table: the same columns for data tools, and for spreadsheets and shells.
pub(crate) struct TableFiles {
    pub(crate) parquet: &'static str,
    pub(crate) csv: &'static str,
}

/// Where every command writes its results.
pub(crate) const RESULTS: TableFiles = TableFiles { parquet: "results.parquet", csv: "results.csv" };

/// A folder for output files, and what to do about existing ones.
pub(crate) struct Folder {
    path: PathBuf,
    existing: Existing,
    /// Files that did not exist before, and the folders created for them, the innermost first.
    new: (Vec<PathBuf>, Vec<PathBuf>),
}

impl Folder {
    /// The folder at `path`, which is created if needed. Checks that `files` can be written before anything is
    /// measured or simulated.
    pub(crate) fn open(path: &Path, existing: Existing, files: &[&str]) -> miette::Result<Self> {
        let folders = path.ancestors().filter(|folder| folder.symlink_metadata().is_err());
        let files: Vec<PathBuf> = files.iter().map(|file| path.join(file)).collect();
        let new_files = files.iter().filter(|file| file.symlink_metadata().is_err());
        let new = (new_files.cloned().collect(), folders.map(Path::to_owned).collect());
        fs::create_dir_all(path)
            .or_misuse()
            .wrap_err_with(|| format!("cannot create the folder {}", path.display()))?;
        let folder = Self { path: path.to_owned(), existing, new };
        let checked = files.iter().try_for_each(|file| atomic_file::check(file, existing));
        checked.or_misuse().map_err(|error| folder.taken_back(error))?;
        Ok(folder)
    }

    /// Removes what did not exist when the folder was opened, as after `error` nothing is worth keeping; returns it.
    pub(crate) fn taken_back<E>(&self, error: E) -> E {
        let (files, folders) = &self.new;
        // A folder in which others have put something stays.
        files.iter().for_each(|file| drop(fs::remove_file(file)));
        folders.iter().for_each(|folder| drop(fs::remove_dir(folder)));
        error
    }

    /// The path of `file`.
    pub(crate) fn file(&self, file: &str) -> PathBuf {
        self.path.join(file)
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
        write(&self.file(file), content, self.existing)
    }
}

/// Writes the file at `path`, whole or not at all.
pub(crate) fn write(path: &Path, content: &[u8], existing: Existing) -> miette::Result<()> {
    atomic_file::write(path, content, existing).into_diagnostic()?;
    messages::detail(format_args!("wrote {}", path.display()));
    Ok(())
}
