//! Removing a data set, so that another one is begun in its folder.

use super::description::{Description, GRID, MANIFEST};
use super::faults::DataSetError;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Removes the `earlier` data set in `folder`: its parts, and last the manifest that names them.
pub(super) fn clear(folder: &Path, earlier: &Description) -> Result<(), DataSetError> {
    let journals = (0..earlier.parts.len()).map(super::journal_name);
    let files = earlier.parts.iter().map(|part| part.file.clone()).chain(journals);
    remove(folder, files.map(|file| folder.join(file)))
}

/// Removes the data set in `folder` whose manifest cannot be read: every file that is named as one of a data set.
///
/// # Errors
/// If there are others, of which nobody knows whose they are: then nothing is removed.
pub(super) fn clear_by_names(folder: &Path) -> Result<(), DataSetError> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let failed = |source| DataSetError::File { step: "read", path: next.clone(), source };
        for entry in fs::read_dir(&next).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, is_folder) = (entry.path(), entry.file_type().map_err(failed)?.is_dir());
            let name = entry.file_name().to_string_lossy().into_owned();
            match () {
                () if !is_folder && is_of_data_set(&name) => files.push(path),
                () if name.starts_with(['.', '_']) => {}
                () if is_folder && next == folder && name.contains('=') => folders.push(path),
                () => {
                    let file = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                    return Err(DataSetError::OtherFiles { path: folder.to_owned(), file });
                }
            }
        }
    }
    remove(folder, files.into_iter())
}

/// Whether a part or a journal has such a name.
fn is_of_data_set(name: &str) -> bool {
    let is_numbered = |name: &str, before: &str, after: &str| {
        let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        number.is_some_and(|number| number.len() >= 5 && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    is_numbered(name, "part-", ".parquet") || is_numbered(name, "_part-", ".journal")
}

fn remove(folder: &Path, files: impl Iterator<Item = PathBuf>) -> Result<(), DataSetError> {
    for path in files.chain([GRID, MANIFEST].map(|name| folder.join(name))) {
        match fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(DataSetError::File { step: "remove", path, source });
            }
            _ => {}
        }
        // The folder of a partition, once it is empty.
        if let Some(of) = path.parent().filter(|of| *of != folder) {
            drop(fs::remove_dir(of));
        }
    }
    Ok(())
}
