//! Reading a user's TOML document. An error states the file, the line, the field, what was found and what
//! was expected.

use crate::wording::plain;
use crate::{LONGEST_DOCUMENT, read_text};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use warmcore_units::Fault;

pub use warmcore_units::Checked;

/// A document could not be used.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The file could not be read.
    #[error("cannot read the {what} {}: {source}", path.display())]
    Unreadable {
        /// The kind of document.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The text is not TOML, or lacks the fields and types of such a document.
    #[error("{}:{line}: not a usable {what}: {problem}", path.display())]
    Malformed {
        /// The kind of document.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong there and what was expected.
        problem: String,
    },
    /// A value is not valid in such a document.
    #[error("{}:{line}: not a usable {what}: {fault}", path.display())]
    Invalid {
        /// The kind of document.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The field, what it holds, and what was expected.
        fault: Fault,
    },
}

/// Reads and checks the document at `path`.
///
/// # Errors
/// If it cannot be read or is not valid.
pub fn read<D: Checked>(path: &Path) -> Result<D, DocumentError> {
    parse(&text::<D>(path)?, path)
}

/// The text of the document at `path`, for [`parse`].
///
/// # Errors
/// If it cannot be read.
pub fn text<D: Checked>(path: &Path) -> Result<String, DocumentError> {
    let unreadable = |source| DocumentError::Unreadable { what: D::WHAT, path: path.to_owned(), source };
    let text = read_text(path, LONGEST_DOCUMENT).map_err(unreadable)?;
    if text.is_empty() {
        let problem = "it is empty, or a file of the kernel that tells no length: expected a file with text";
        return Err(unreadable(io::Error::new(io::ErrorKind::InvalidData, problem)));
    }
    Ok(text)
}

/// Parses and checks `text`, naming `path` in errors.
///
/// # Errors
/// If it is not valid.
pub fn parse<D: Checked>(text: &str, path: &Path) -> Result<D, DocumentError> {
    // A later version may have unknown fields: report the version, not the fields.
    let version = schema_of(text).filter(|&(_, schema)| schema > i64::from(D::SCHEMA));
    if let Some((offset, schema)) = version {
        let expected = format!("{}: a later version of this program wrote the document", D::SCHEMA);
        return Err(DocumentError::Invalid {
            what: D::WHAT,
            path: path.to_owned(),
            line: line_of(text, offset),
            fault: Fault::new("schema", schema, expected),
        });
    }
    let document: D = toml::from_str(text).map_err(|error| {
        let culprit = culprit::<D>(text, error.message());
        let offset = match &culprit {
            Some(field) => locate(text, field).start,
            None => error.span().map_or(0, |span| span.start),
        };
        let problem = plain(error.message());
        DocumentError::Malformed {
            what: D::WHAT,
            path: path.to_owned(),
            line: line_of(text, offset),
            problem: culprit.map_or(problem.clone(), |field| format!("`{field}`: {problem}")),
        }
    })?;
    if let Some(field) = array_for_table(text, &document) {
        return Err(invalid::<D>(text, path, Fault::new(field, "an array", "a table of named fields")));
    }
    match document.check() {
        Ok(()) => Ok(document),
        Err(fault) => Err(invalid::<D>(text, path, fault)),
    }
}

/// The error for an invalid value in the document `text`, for checks that compare it with something else
/// after it was read.
pub fn invalid<D: Checked>(text: &str, path: &Path, fault: Fault) -> DocumentError {
    let line = line_of(text, locate(text, &fault.field).start);
    DocumentError::Invalid { what: D::WHAT, path: path.to_owned(), line, fault }
}

/// The first field of `text` with an array where `document` has a table: the reader takes fields by their places then.
fn array_for_table<D: Checked>(text: &str, document: &D) -> Option<String> {
    let given: toml::Table = toml::from_str(text).ok()?;
    let read = toml::Table::try_from(document).ok()?;
    let is_taken = |(name, value): &(&String, &toml::Value)| {
        value.is_array() && read.get(*name).is_some_and(toml::Value::is_table)
    };
    given.iter().find(is_taken).map(|(name, _)| name.clone())
}

/// The field of a table whose value has the type that `message` complains about, if that goes away with it. The reader
/// itself forgets where a value stands if another field of its table decides what the table is.
fn culprit<D: Checked>(text: &str, message: &str) -> Option<String> {
    if !message.starts_with("invalid ") {
        return None;
    }
    let whole: toml::Table = toml::from_str(text).ok()?;
    let tables = whole.iter().filter_map(|(name, value)| Some((name, value.as_table()?)));
    tables.flat_map(|(name, table)| table.keys().map(move |key| (name, key))).find_map(|(name, key)| {
        let mut without = whole.clone();
        without.get_mut(name)?.as_table_mut()?.remove(key);
        let is_culprit = match D::deserialize(without) {
            Ok(_) => true,
            Err(other) => other.message() != message && !other.message().starts_with("missing field"),
        };
        is_culprit.then(|| format!("{name}.{key}"))
    })
}

fn schema_of(text: &str) -> Option<(usize, i64)> {
    let table = DeTable::parse(text).ok()?;
    let schema = table.get_ref().get("schema")?;
    let DeValue::Integer(value) = schema.get_ref() else { return None };
    Some((schema.span().start, i64::from_str_radix(value.as_str(), value.radix()).ok()?))
}

/// The position of `field` in `text`, or of its nearest ancestor that exists.
fn locate(text: &str, field: &str) -> Range<usize> {
    let Ok(table) = DeTable::parse(text) else { return 0..0 };
    let mut keys = field.split('.');
    let Some(mut node) = keys.next().and_then(|key| table.get_ref().get(key)) else { return 0..0 };
    for key in keys {
        let child = match node.get_ref() {
            DeValue::Table(table) => table.get(key),
            DeValue::Array(array) => key.parse::<usize>().ok().and_then(|index| array.get(index)),
            _ => None,
        };
        let Some(child) = child else { break };
        node = child;
    }
    node.span()
}

/// The line, from 1, of the byte at `offset`.
fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}
