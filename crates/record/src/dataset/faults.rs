//! Why a data set cannot be begun, continued or read.

use super::description::{GRID, MANIFEST};
use crate::atomic_file::WriteError;
use crate::columns::{ColumnsError, ParquetWriteError};
use crate::journal::JournalError;
use crate::owned_folder::FolderError;
use crate::remedy::{Remedied, Remedy};
use std::io;
use std::path::PathBuf;

/// A data set cannot be begun, continued or read. What is in the folder is as it was.
#[derive(Debug, thiserror::Error)]
pub enum DataSetError {
    /// The folder cannot be had.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// There is one already.
    #[error("`{}` has a data set already", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has other files.
    #[error(
        "`{}` has other files ({file}), which would be taken for a part of the data set: give an empty folder",
        path.display()
    )]
    OtherFiles {
        /// The folder.
        path: PathBuf,
        /// One of them.
        file: String,
    },
    /// The data set is of another grid, or of another version of the program.
    #[error("`{}` has the data set of another {what}: there {there}, here {here}", path.display())]
    Other {
        /// The folder.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// What it is in the folder.
        there: String,
        /// What it is in this run.
        here: String,
        /// What can be done.
        remedies: &'static [Remedy],
    },
    /// There is none.
    #[error("`{}` is no data set: it has no _manifest.json", path.display())]
    None {
        /// The folder.
        path: PathBuf,
    },
    /// Parts are missing.
    #[error("`{}` is a data set of which {written} of {parts} parts are written", path.display())]
    Unfinished {
        /// The folder.
        path: PathBuf,
        /// How many parts are written.
        written: usize,
        /// How many there are to be.
        parts: usize,
    },
    /// A file is not what the manifest says.
    #[error("`{}` is damaged: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A file lies where those of the data set do.
    #[error(
        "`{}` is no part of the data set, as its manifest does not list it, but data tools would read it: move it elsewhere",
        path.display()
    )]
    Unlisted {
        /// The file.
        path: PathBuf,
    },
    /// Something is no row of this data set.
    #[error("row {number} does not fit the data set: {problem}")]
    Row {
        /// The row.
        number: u64,
        /// What is wrong.
        problem: String,
    },
    /// A journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A part cannot be written.
    #[error(transparent)]
    Parquet(#[from] ParquetWriteError),
    /// Rows do not form a table.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// The manifest cannot be written.
    #[error("cannot encode the manifest as JSON: {0}")]
    Manifest(#[from] serde_json::Error),
    /// A file or folder cannot be used.
    #[error("cannot {step} `{}`: {source}", path.display())]
    File {
        /// What was being done.
        step: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Remedied for DataSetError {
    fn remedies(&self) -> &'static [Remedy] {
        match self {
            Self::Folder(error) => error.remedies(),
            Self::Journal(error) => error.remedies(),
            Self::Exists { .. } => &[Remedy::Resume, Remedy::BeginAnew, Remedy::OtherFolder],
            Self::Other { remedies, .. } => remedies,
            Self::Unfinished { .. } => &[Remedy::Resume],
            Self::Damaged { path, .. } => match path.file_name().and_then(|name| name.to_str()) {
                Some(MANIFEST) => &[Remedy::Fetch, Remedy::BeginAnew],
                Some(GRID) => &[Remedy::Fetch, Remedy::RewriteFile, Remedy::BeginAnew],
                _ => &[Remedy::Fetch, Remedy::RemoveFile, Remedy::BeginAnew],
            },
            Self::OtherFiles { .. }
            | Self::None { .. }
            | Self::Unlisted { .. }
            | Self::Row { .. }
            | Self::Write(_)
            | Self::Parquet(_)
            | Self::Columns(_)
            | Self::Manifest(_)
            | Self::File { .. } => &[],
        }
    }
}
