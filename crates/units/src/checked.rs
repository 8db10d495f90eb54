//! Documents that are checked beyond the types of their values.

use crate::Fault;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A document with checks beyond the types of its values.
pub trait Checked: Serialize + DeserializeOwned {
    /// The kind of document in error messages, such as `profile`.
    const WHAT: &'static str;
    /// The version of the document that this build reads and writes.
    const SCHEMA: u32;

    /// # Errors
    /// The first field that cannot be used.
    fn check(&self) -> Result<(), Fault>;
}
