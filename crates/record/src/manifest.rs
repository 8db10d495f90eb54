//! Provenance: what a reader needs to trust a result and to reproduce it.

use chrono::{SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

/// Where a result comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The program, by name.
    pub program: String,
    /// Its version.
    pub version: String,
    /// When the result was written: UTC in the format of RFC 3339.
    pub written: String,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// Facts about the machine and the run, in the order shown.
    pub facts: Vec<FactGroup>,
    /// The random seeds.
    pub seeds: Vec<Seed>,
    /// The scenario document that repeats the run; `None` if there was none.
    pub scenario: Option<String>,
}

/// Facts that belong together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FactGroup {
    /// What they are about, such as `Machine`.
    pub title: String,
    /// The facts, in the order shown.
    pub facts: Vec<Fact>,
}

/// One fact.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fact {
    /// What is stated, such as `Last-level cache`.
    pub label: String,
    /// The statement, such as `32 MiB, 16 ways, 64 B lines, shared by cpus 0-1`.
    pub value: String,
}

/// One random seed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Seed {
    /// What it seeds.
    pub purpose: String,
    /// The seed.
    pub value: u64,
}

impl Manifest {
    /// The manifest of `program` at `version`, written now; the rest is empty.
    pub fn now(program: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            version: version.into(),
            written: Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true),
            command: Vec::new(),
            facts: Vec::new(),
            seeds: Vec::new(),
            scenario: None,
        }
    }
}

impl FactGroup {
    /// A group of `(label, value)` facts.
    pub fn new<L: Into<String>, V: Into<String>>(
        title: impl Into<String>,
        facts: impl IntoIterator<Item = (L, V)>,
    ) -> Self {
        let facts = facts.into_iter().map(|(label, value)| Fact { label: label.into(), value: value.into() });
        Self { title: title.into(), facts: facts.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_utc_and_sorts_as_text() {
        let written = Manifest::now("warmcore", "0.1.0").written;
        assert_eq!(written.len(), "2026-11-21T08:00:00Z".len(), "{written}");
        assert!(written.ends_with('Z') && written.as_bytes()[10] == b'T', "{written}");
        assert!(written.as_str() > "2026-01-01T00:00:00Z", "{written}");
    }
}
