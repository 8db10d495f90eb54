//! An invalid value in a user's input, and what would be valid.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// One invalid field of a user's input.
///
/// The reader of the document adds file and line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Dotted path of the field from the top of its document, such as `times.locking.cached.A1.hot.mean`.
    pub field: String,
    /// What was found there.
    pub found: String,
    /// What would have been valid.
    pub expected: String,
}

impl Fault {
    /// A fault of `field`, which contains `found` although `expected` was needed.
    pub fn new(field: impl Into<String>, found: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Self { field: field.into(), found: brief(found.to_string()), expected: expected.to_string() }
    }

    /// Checks the `schema` of a document, the version of its layout, against the one that this build `reads`.
    ///
    /// # Errors
    /// If they differ.
    pub fn check_schema(schema: u32, reads: u32) -> Result<(), Self> {
        if schema == reads {
            return Ok(());
        }
        Err(Self::new("schema", schema, format!("{reads}, the version this build reads")))
    }
}

/// The most digits of a number that are written out.
const MAX_DIGITS: usize = 24;

/// `found`; a number of hundreds of digits, such as a float close to 0, with an exponent instead.
fn brief(found: String) -> String {
    match found.parse::<f64>() {
        Ok(number) if found.len() > MAX_DIGITS => format!("{number:e}"),
        _ => found,
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is {}, expected {}", self.field, self.found, self.expected)
    }
}

impl core::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_of_another_version_is_refused() {
        assert_eq!(Fault::check_schema(1, 1), Ok(()));
        let fault = Fault::check_schema(2, 1).expect_err("another version");
        assert_eq!(fault.to_string(), "`schema` is 2, expected 1, the version this build reads");
    }

    #[test]
    fn a_number_of_hundreds_of_digits_is_written_with_an_exponent() {
        let found = |number: f64| Fault::new("rate", number, "less").found;
        assert_eq!(
            [1e-300, -2.5e300, 0.0001, 60_000.0].map(found),
            ["1e-300", "-2.5e300", "0.0001", "60000"]
        );
        let words = "a sentence of more than twenty-four letters";
        assert_eq!(Fault::new("rate", words, "less").found, words);
    }
}
