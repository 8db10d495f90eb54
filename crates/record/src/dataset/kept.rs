//! A row in a journal. A value that somebody changes there would become a result; its checksum tells.

use super::faults::DataSetError;
use super::row::{Head, Row};
use serde::{Deserialize, Serialize};

/// A row and its checksum.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptRow {
    row: Row,
    /// CRC-32 of the row's number and of the row as TOML writes it, which has every bit of its numbers.
    crc32: String,
}

impl KeptRow {
    /// The `row` of this `number`.
    pub(super) fn new(row: Row, number: u64) -> Result<Self, DataSetError> {
        let problem = |error: toml::ser::Error| DataSetError::Row { number, problem: error.to_string() };
        let crc32 = checksum(&row, number).map_err(problem)?;
        Ok(Self { row, crc32 })
    }

    /// The row, which is that of this `number` under `heads`; says what is wrong.
    pub(super) fn checked(&self, number: u64, heads: &[Head]) -> Result<Row, String> {
        match checksum(&self.row, number) {
            Ok(found) if found == self.crc32 => {}
            _ => return Err(format!("row {number} has another checksum than when it was written")),
        }
        self.row.check(heads).map_err(|problem| format!("row {number}: {problem}"))?;
        Ok(self.row.clone())
    }
}

fn checksum(row: &Row, number: u64) -> Result<String, toml::ser::Error> {
    let text = format!("{number} {}", toml::Value::try_from(row)?);
    Ok(format!("{:08x}", crc32fast::hash(text.as_bytes())))
}
