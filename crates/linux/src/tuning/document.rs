//! A plan as a document that a user names: read, checked, and refused with file, line and field.

use super::plan::Plan;
use std::path::{Path, PathBuf};
use warmcore_files::document::{self, DocumentError};
use warmcore_units::{Checked, Fault};

impl Checked for Plan {
    const WHAT: &'static str = "plan";
    const SCHEMA: u32 = Self::SCHEMA;

    fn check(&self) -> Result<(), Fault> {
        Self::check(self)
    }
}

/// A plan and the text it was read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanDocument {
    /// The plan; passes [`Plan::check`].
    pub plan: Plan,
    text: String,
    path: PathBuf,
}

impl PlanDocument {
    /// Reads and checks the plan at `path`.
    ///
    /// # Errors
    /// If it cannot be read or is not valid.
    pub fn read(path: &Path) -> Result<Self, DocumentError> {
        Self::parse(document::text::<Plan>(path)?, path)
    }

    /// Parses and checks a plan, naming `path` in errors.
    ///
    /// # Errors
    /// If it is not valid.
    pub fn parse(text: String, path: &Path) -> Result<Self, DocumentError> {
        Ok(Self { plan: document::parse(&text, path)?, text, path: path.to_owned() })
    }

    /// The path of the document.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The refusal of a field that is sound and cannot be used on this machine.
    #[must_use]
    pub fn refusal(&self, fault: Fault) -> DocumentError {
        document::invalid::<Plan>(&self.text, &self.path, fault)
    }
}
