//! An invalid value in a user's input, and what would be valid.

use alloc::string::{String, ToString};
use core::fmt;

/// One invalid field of a user's input.
///
/// The reader of the document adds file and line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Dotted path of the field from the top of its document, such as `times.locking.cached.A1.hot_ns`.
    pub field: String,
    /// What was found there.
    pub found: String,
    /// What would have been valid.
    pub expected: String,
}

impl Fault {
    /// A fault of `field`, which contains `found` although `expected` was needed.
    pub fn new(field: impl Into<String>, found: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Self { field: field.into(), found: found.to_string(), expected: expected.to_string() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is {}, expected {}", self.field, self.found, self.expected)
    }
}

impl core::error::Error for Fault {}
