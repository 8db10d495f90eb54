//! The output of `--json`: one object, whose `schema` is the version of its layout.
//!
//! Each command counts its own versions. The number grows when a field is removed, or changes its meaning, its
//! unit or its type; a new field does not change it. The book's page on JSON output describes the fields.

use miette::IntoDiagnostic;
use serde::Serialize;

/// `content` with the version of its layout as its first field.
#[derive(Serialize)]
pub(crate) struct Versioned<T> {
    schema: u32,
    #[serde(flatten)]
    content: T,
}

impl<T: Serialize> Versioned<T> {
    /// `content`, laid out by version `schema`.
    pub(crate) const fn new(schema: u32, content: T) -> Self {
        Self { schema, content }
    }
}

/// `object` on several lines, ended by a line feed.
pub(crate) fn pretty(object: &impl Serialize) -> miette::Result<String> {
    Ok(serde_json::to_string_pretty(object).into_diagnostic()? + "\n")
}

/// `object` on one line, ended by a line feed.
pub(crate) fn line(object: &impl Serialize) -> miette::Result<String> {
    Ok(serde_json::to_string(object).into_diagnostic()? + "\n")
}
