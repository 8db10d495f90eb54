//! The manifest of a data set, `_manifest.json`.

use super::faults::DataSetError;
use super::layout::Part;
use super::row::Head;
use crate::Manifest;
use crate::manifest::FactGroup;
use crate::remedy::Remedy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path};
use warmcore_files::{LONGEST_DOCUMENT, read as read_file};

/// The version of the manifest that this build reads and writes.
pub const SCHEMA: u32 = 1;
/// The manifest's name.
pub const MANIFEST: &str = "_manifest.json";
/// The name of the document that asked for the data set.
pub const GRID: &str = "_grid.toml";

/// What a data set is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The version of this manifest, [`SCHEMA`].
    pub schema: u32,
    /// The program that writes it.
    pub program: String,
    /// Its version.
    pub version: String,
    /// The model that was simulated.
    pub model: String,
    /// The checksum of the document that asks for it.
    pub grid: String,
    /// How many rows it has.
    pub rows: u64,
    /// The column whose values are the folders, if there are any.
    pub partition_by: Option<String>,
    /// How many of the columns are known beforehand.
    pub leading: usize,
    /// Its columns.
    pub columns: Vec<Head>,
    /// Whether all parts are there.
    pub complete: bool,
    /// Its files.
    pub parts: Vec<WrittenPart>,
}

/// A file of a data set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenPart {
    /// Its path in the folder.
    pub file: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its length, once the data set is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Its checksum (CRC-32), once the data set is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crc32: Option<String>,
}

impl WrittenPart {
    pub(super) fn planned(part: &Part) -> Self {
        Self { file: part.file.clone(), rows: part.rows.len() as u64, bytes: None, crc32: None }
    }

    /// Notes the length and the checksum of the file in `folder`.
    pub(super) fn measure(&mut self, folder: &Path) -> Result<(), DataSetError> {
        let path = folder.join(&self.file);
        let content =
            read_file(&path, u64::MAX).map_err(|source| DataSetError::File { step: "read", path, source })?;
        self.bytes = Some(content.len() as u64);
        self.crc32 = Some(format!("{:08x}", crc32fast::hash(&content)));
        Ok(())
    }
}

impl Description {
    /// Refuses what cannot be the manifest of the data set in `folder`.
    pub(super) fn check(&self, folder: &Path) -> Result<(), DataSetError> {
        self.problem().map_err(|problem| DataSetError::Damaged { path: folder.join(MANIFEST), problem })
    }

    fn problem(&self) -> Result<(), String> {
        let mut files = BTreeSet::new();
        for WrittenPart { file, rows, bytes, crc32 } in &self.parts {
            if !files.insert(file) {
                return Err(format!("it lists the part `{file}` twice"));
            }
            if *rows == 0 || (self.complete && (bytes.is_none() || crc32.is_none())) {
                return Err(format!("the part `{file}` has no rows, length or checksum"));
            }
        }
        let rows = self.parts.iter().fold(0_u64, |sum, part| sum.saturating_add(part.rows));
        if rows != self.rows {
            return Err(format!("its parts have {rows} rows, expected {}, those of the data set", self.rows));
        }
        let names: BTreeSet<&str> = self.columns.iter().map(|head| head.name.as_str()).collect();
        if names.len() != self.columns.len() || self.leading > self.columns.len() {
            return Err("its columns have a name twice, or are fewer than the varied fields".to_owned());
        }
        match &self.partition_by {
            Some(field) if !names.contains(field.as_str()) => {
                Err(format!("it is divided by `{field}`, which is none of its columns"))
            }
            _ => Ok(()),
        }
    }

    /// The columns of its files: those of a partition's folders are not among them.
    pub(super) fn columns_of_files(&self) -> impl Iterator<Item = &Head> {
        self.columns.iter().filter(|head| Some(&head.name) != self.partition_by.as_ref())
    }

    pub(super) fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The provenance in each file: nothing that differs between two runs.
    pub(super) fn provenance(&self) -> Manifest {
        let Self { program, version, grid, .. } = self;
        let facts = vec![FactGroup::new("Grid", [("checksum", grid.clone())])];
        Manifest { written: String::new(), facts, ..Manifest::now(program, version) }
    }

    /// What rows depend on besides their numbers.
    pub(super) fn subject(&self) -> String {
        let Self { program, version, grid, .. } = self;
        format!("{program} {version}\ngrid {grid}\npartition by {}", self.partition())
    }

    fn partition(&self) -> &str {
        self.partition_by.as_deref().unwrap_or("nothing")
    }

    /// Refuses to continue this data set at `path` as `ours`.
    pub(super) fn refuse_other(&self, ours: &Self, path: &Path) -> Result<(), DataSetError> {
        let other = |what, there: &str, here: &str| {
            let (there, here) = (there.to_owned(), here.to_owned());
            let remedies = &[Remedy::BeginAnew, Remedy::OtherFolder];
            Err(DataSetError::Other { path: path.to_owned(), what, there, here, remedies })
        };
        if self.grid != ours.grid {
            return other("grid", &self.grid, &ours.grid);
        }
        if self.program != ours.program {
            return other("program", &self.program, &ours.program);
        }
        if self.version != ours.version {
            return other("version of the program", &self.version, &ours.version);
        }
        if self.model != ours.model {
            return other("model", &self.model, &ours.model);
        }
        if self.partition_by != ours.partition_by {
            return other("partition", self.partition(), ours.partition());
        }
        let files = |description: &Self| -> Vec<(String, u64)> {
            description.parts.iter().map(|part| (part.file.clone(), part.rows)).collect()
        };
        if files(self) != files(ours) {
            let problem = "it lists other parts than this grid has".to_owned();
            return Err(DataSetError::Damaged { path: path.join(MANIFEST), problem });
        }
        if self.columns != ours.columns {
            return other(
                "form",
                &format!("{} columns", self.columns.len()),
                &format!("{} columns of other names or units", ours.columns.len()),
            );
        }
        if self.leading != ours.leading {
            let varied = |description: &Self| format!("{} varied fields", description.leading);
            return other("form", &varied(self), &varied(ours));
        }
        Ok(())
    }

    /// Refuses a document in `folder` that is not `ours`, the one that the data set was begun with. A writer that was killed may
    /// have left none.
    pub(super) fn refuse_other_document(folder: &Path, ours: &str) -> Result<(), DataSetError> {
        let path = folder.join(GRID);
        if path.symlink_metadata().is_err() || document(folder)? == ours.as_bytes() {
            return Ok(());
        }
        let problem = "it is another document than that of the grid, which the manifest names".to_owned();
        Err(DataSetError::Damaged { path, problem })
    }
}

/// The document in `folder` that asked for its data set.
///
/// # Errors
/// If it cannot be read.
pub fn document(folder: &Path) -> Result<Vec<u8>, DataSetError> {
    let path = folder.join(GRID);
    read_file(&path, LONGEST_DOCUMENT).map_err(|source| DataSetError::File { step: "read", path, source })
}

/// The manifest in `folder`; `None` if there is none.
pub(super) fn read(folder: &Path) -> Result<Option<Description>, DataSetError> {
    let path = folder.join(MANIFEST);
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let bytes = read_file(&path, LONGEST_DOCUMENT).map_err(|source| DataSetError::File {
        step: "read",
        path: path.clone(),
        source,
    })?;
    let damaged = |problem: String| DataSetError::Damaged { path: path.clone(), problem };
    // A later version may have other fields: report the version, not the fields.
    let value: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    let schema = value.get("schema").and_then(serde_json::Value::as_u64);
    match schema {
        Some(schema) if schema == u64::from(SCHEMA) => {
            let description: Description =
                serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
            match description.parts.iter().find(|part| !lies_within(&part.file)) {
                Some(part) => Err(damaged(format!("the part `{}` is not in the folder", part.file))),
                None => Ok(Some(description)),
            }
        }
        Some(schema) => Err(DataSetError::Other {
            path: folder.to_owned(),
            what: "version of its form",
            there: schema.to_string(),
            here: SCHEMA.to_string(),
            remedies: &[Remedy::OtherProgram, Remedy::OtherFolder],
        }),
        None => Err(damaged("it names no schema".to_owned())),
    }
}

/// Whether the relative path `file` leads nowhere else.
fn lies_within(file: &str) -> bool {
    Path::new(file).components().all(|component| matches!(component, Component::Normal(_)))
}

/// Refuses a folder with files that data tools would read as a part of the data set.
pub(super) fn refuse_other_files(folder: &Path) -> Result<(), DataSetError> {
    let failed = |source| DataSetError::File { step: "read", path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if !name.starts_with(['.', '_']) {
            return Err(DataSetError::OtherFiles { path: folder.to_owned(), file: name });
        }
    }
    Ok(())
}
