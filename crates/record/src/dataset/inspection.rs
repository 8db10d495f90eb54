//! Whether the files of a data set are those that its manifest says. Whoever reads it gets its rows once each, or an error.

use super::description::{self, Description, WrittenPart};
use super::faults::DataSetError;
use super::row::{Head, Kind};
use crate::Manifest;
use crate::columns::{MANIFEST_KEY, UNITS_KEY};
use parquet::basic::Type;
use parquet::file::metadata::KeyValue;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The description of the data set in `folder`, whose files are all there and as they were written.
///
/// # Errors
/// If there is none, it is not finished, is of another version's form, a file is damaged, or one is there that it does not list.
pub fn inspect(folder: &Path) -> Result<Description, DataSetError> {
    let description =
        description::read(folder)?.ok_or_else(|| DataSetError::None { path: folder.to_owned() })?;
    if !description.complete {
        let written = description.parts.iter().filter(|part| folder.join(&part.file).is_file()).count();
        let parts = description.parts.len();
        return Err(DataSetError::Unfinished { path: folder.to_owned(), written, parts });
    }
    description.check(folder)?;
    description.refuse_unlisted(folder)?;
    description.parts.iter().try_for_each(|part| part.check(folder, &description))?;
    Ok(description)
}

impl Description {
    /// Refuses to continue a data set of which a written part in `folder` is damaged, or that has a file beside its parts.
    pub(super) fn check_written(&self, folder: &Path) -> Result<(), DataSetError> {
        self.refuse_unlisted(folder)?;
        let is_there = |part: &&WrittenPart| folder.join(&part.file).symlink_metadata().is_ok();
        self.parts.iter().filter(is_there).try_for_each(|part| part.check(folder, self))
    }

    /// Refuses files that data tools would read as parts, and that are none.
    fn refuse_unlisted(&self, folder: &Path) -> Result<(), DataSetError> {
        let known: BTreeSet<PathBuf> = self.parts.iter().map(|part| folder.join(&part.file)).collect();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            let failed = |source| DataSetError::File { step: "read", path: next.clone(), source };
            for entry in fs::read_dir(&next).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
                let is_left_alone = entry.file_name().to_string_lossy().starts_with(['.', '_']);
                match () {
                    () if is_left_alone || known.contains(&path) => {}
                    () if kind.is_dir() => folders.push(path),
                    () => return Err(DataSetError::Unlisted { path }),
                }
            }
        }
        Ok(())
    }
}

impl WrittenPart {
    /// Whether the file in `folder` is the part of the data set of this `description`. Only a finished data set has checksums:
    /// of another one, the file has to be a Parquet file with the right rows and columns.
    fn check(&self, folder: &Path, description: &Description) -> Result<(), DataSetError> {
        if self.crc32.is_some() {
            self.check_bytes(folder)?;
        }
        let path = folder.join(&self.file);
        // Opening a pipe would wait for its other end.
        let opened = warmcore_files::check(&path, u64::MAX).and_then(|()| File::open(&path));
        let file =
            opened.map_err(|source| DataSetError::File { step: "read", path: path.clone(), source })?;
        let problem = match SerializedFileReader::new(file) {
            Ok(file) => self.check_form(&file, description),
            Err(error) => Err(format!("it is no whole Parquet file: {error}")),
        };
        problem.map_err(|problem| DataSetError::Damaged { path, problem })
    }

    fn check_bytes(&self, folder: &Path) -> Result<(), DataSetError> {
        let mut found = self.clone();
        found.measure(folder)?;
        if found == *self {
            return Ok(());
        }
        let shown = |part: &Self| {
            format!("{} bytes, checksum {}", part.bytes.unwrap_or(0), part.crc32.as_deref().unwrap_or("none"))
        };
        let problem = format!("it has {}, expected {}", shown(&found), shown(self));
        Err(DataSetError::Damaged { path: folder.join(&self.file), problem })
    }

    /// Whether `file` has as many rows as the part, and the columns of the data set; says what is wrong.
    fn check_form(&self, file: &SerializedFileReader<File>, of: &Description) -> Result<(), String> {
        let metadata = file.metadata().file_metadata();
        if u64::try_from(metadata.num_rows()).ok() != Some(self.rows) {
            return Err(format!("it has {} rows, the manifest says {}", metadata.num_rows(), self.rows));
        }
        let found = metadata.schema_descr();
        let mut columns = found.columns().iter();
        for head in of.columns_of_files() {
            match columns.next() {
                Some(column) if column.name() == head.name && column.physical_type() == stored(head) => {}
                other => {
                    let there = other.map_or_else(
                        || "no column".to_owned(),
                        |column| format!("the column `{}` of {}", column.name(), column.physical_type()),
                    );
                    return Err(format!(
                        "it has {there} where the manifest says `{}` of {}",
                        head.name,
                        stored(head)
                    ));
                }
            }
        }
        if let Some(more) = columns.next() {
            return Err(format!("it has the column `{}`, which the manifest does not say", more.name()));
        }
        let entries = metadata.key_value_metadata().map_or(&[][..], Vec::as_slice);
        check_origin(entries, of).and_then(|()| check_units(entries, of))
    }
}

/// The entry `key` of a part's metadata.
fn entry<D: DeserializeOwned>(entries: &[KeyValue], key: &str) -> Result<D, String> {
    let text = entries.iter().find(|entry| entry.key == key).and_then(|entry| entry.value.as_deref());
    let text = text.ok_or_else(|| format!("it has no `{key}` among its metadata"))?;
    serde_json::from_str(text).map_err(|error| format!("its metadata `{key}` cannot be read: {error}"))
}

/// Whether a part is of the program and the grid that the manifest names.
fn check_origin(entries: &[KeyValue], of: &Description) -> Result<(), String> {
    let found: Manifest = entry(entries, MANIFEST_KEY)?;
    let expected = of.provenance();
    let writer = |manifest: &Manifest| format!("{} {}", manifest.program, manifest.version);
    match () {
        () if writer(&found) != writer(&expected) => {
            Err(format!("{} wrote it, the manifest says {}", writer(&found), writer(&expected)))
        }
        () if found.facts != expected.facts => {
            Err("it is a part of another grid than the manifest says".to_owned())
        }
        () => Ok(()),
    }
}

/// Whether values are in the units that the manifest says.
fn check_units(entries: &[KeyValue], of: &Description) -> Result<(), String> {
    let units: BTreeMap<String, String> = entry(entries, UNITS_KEY)?;
    let shown = |unit: &str| if unit.is_empty() { "no unit".to_owned() } else { format!("`{unit}`") };
    for head in of.columns_of_files() {
        let found = units.get(&head.name).map_or("", String::as_str);
        if found != head.unit {
            let (found, said) = (shown(found), shown(&head.unit));
            return Err(format!("its column `{}` has {found} where the manifest says {said}", head.name));
        }
    }
    Ok(())
}

/// As what the values under `head` lie in a file.
const fn stored(head: &Head) -> Type {
    match head.kind {
        Kind::Float => Type::DOUBLE,
        Kind::Integer => Type::INT64,
        Kind::Text => Type::BYTE_ARRAY,
        Kind::Flag => Type::BOOLEAN,
    }
}
