//! The content of a report, without its layout, in reading order.

use crate::{CacheMap, Chart, Manifest, Table};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use warmcore_units::Fault;

/// A report: the verdict first, then the evidence, then the provenance.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Document {
    /// What the report is about, in a few words.
    pub title: String,
    /// One line under the title: which machine, which study.
    pub subtitle: String,
    /// The answer.
    pub verdict: ReportVerdict,
    /// The evidence, in reading order.
    pub sections: Vec<Section>,
    /// Provenance of the figures.
    pub manifest: Manifest,
}

/// The answer to the question of the study, shown on the first screen.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ReportVerdict {
    /// One sentence that a hurried reader can act on.
    pub headline: String,
    /// How sure the headline is; `None` if it claims nothing uncertain.
    #[serde(default)]
    pub confidence: Option<Confidence>,
    /// What the answer applies to (which machine, which path) and what not: one sentence, or empty.
    pub scope: String,
    /// The chart that shows the answer.
    pub chart: Option<Chart>,
    /// The few figures that matter most; may be empty.
    pub figures: Vec<KeyFigure>,
    /// The claims, each with its evidence.
    pub statements: Vec<Statement>,
    /// What the reader can do; may be empty.
    pub actions: Vec<Action>,
}

/// One figure of the verdict, shown large.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeyFigure {
    /// The figure with its sign and unit, such as `−31 %`.
    pub value: String,
    /// Its half-width in the same unit (`± 2 %`); empty for a figure that cannot have one.
    pub half_width: String,
    /// What the figure says.
    pub meaning: String,
}

/// Something to do, with the commands that do it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Action {
    /// What to do and why, in a sentence or two.
    pub text: String,
    /// Commands for a shell, one per line; may be empty.
    pub commands: Vec<String>,
}

/// A claim with its evidence.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Statement {
    /// The claim in words.
    pub text: String,
    /// The numbers behind it, one per line.
    pub evidence: Vec<String>,
    /// How sure it is.
    pub confidence: Confidence,
}

/// How sure a claim is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Confidence {
    /// The degree of confidence.
    pub level: ConfidenceLevel,
    /// Why, in words and numbers, such as `the intervals lie 14 half-widths apart, 20 replications`.
    pub reason: String,
}

/// A degree of confidence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfidenceLevel {
    /// The figures do not decide it.
    Low,
    /// The figures favour the claim; another run might not.
    Moderate,
    /// The figures leave no reasonable doubt.
    High,
}

impl ConfidenceLevel {
    /// In words: `High confidence`.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::High => "High confidence",
            Self::Moderate => "Moderate confidence",
            Self::Low => "Low confidence",
        }
    }
}

/// A part of the report that answers one question.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Section {
    /// What the section answers.
    pub heading: String,
    /// Name of the section within the report, for links: letters, digits and hyphens.
    pub anchor: String,
    /// Paragraphs for a reader who does not know the papers.
    pub intro: Vec<String>,
    /// The evidence.
    pub blocks: Vec<Block>,
    /// Whether the section is folded at first, with only its heading shown.
    pub folded: bool,
}

/// A piece of a section.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    /// Running text.
    Paragraph(String),
    /// A chart.
    Chart(Chart),
    /// A table.
    Table(Table),
    /// A map of a cache.
    CacheMap(CacheMap),
    /// Something a reader must know before trusting the blocks around it.
    Note(String),
    /// Claims in addition to those of the verdict.
    Statements(Vec<Statement>),
    /// Explanations of words that the report uses.
    Glossary(Vec<Term>),
}

/// A word of the field, explained.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Term {
    /// The word.
    pub word: String,
    /// What it means, for a reader who does not know it.
    pub meaning: String,
}

impl Term {
    /// `word` explained as `meaning`.
    pub fn new(word: impl Into<String>, meaning: impl Into<String>) -> Self {
        Self { word: word.into(), meaning: meaning.into() }
    }
}

impl Document {
    /// Every chart, in reading order.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        let in_sections = blocks.filter_map(|block| match block {
            Block::Chart(chart) => Some(chart),
            _ => None,
        });
        self.verdict.chart.iter().chain(in_sections)
    }

    /// Checks what the types cannot: names used in links are unique and well formed, every combination of
    /// a chart's choices has its view, every row of a table fills its columns, and every layout of a map its cells.
    ///
    /// # Errors
    /// The first fault found, with the path of the field.
    pub fn validate(&self) -> Result<(), Fault> {
        // Names of the parts that every report has besides its sections.
        let mut names = BTreeSet::from(["verdict", "actions", "provenance"]);
        if let Some(chart) = &self.verdict.chart {
            unique_name(&mut names, "verdict.chart.id".to_owned(), &chart.id)?;
            chart.validate("verdict.chart")?;
        }
        for (i, section) in self.sections.iter().enumerate() {
            let path = format!("sections[{i}]");
            unique_name(&mut names, format!("{path}.anchor"), &section.anchor)?;
            for (j, block) in section.blocks.iter().enumerate() {
                let path = format!("{path}.blocks[{j}]");
                match block {
                    Block::Chart(chart) => {
                        unique_name(&mut names, format!("{path}.id"), &chart.id)?;
                        chart.validate(&path)?;
                    }
                    Block::Table(table) => {
                        unique_name(&mut names, format!("{path}.id"), &table.id)?;
                        table.validate(&path)?;
                    }
                    Block::CacheMap(map) => {
                        unique_name(&mut names, format!("{path}.id"), &map.id)?;
                        map.validate(&path)?;
                    }
                    Block::Paragraph(_) | Block::Note(_) | Block::Statements(_) | Block::Glossary(_) => {}
                }
            }
        }
        Ok(())
    }
}

/// Checks that `name` can be used in a link and is unique in the report.
fn unique_name<'a>(names: &mut BTreeSet<&'a str>, field: String, name: &'a str) -> Result<(), Fault> {
    let well_formed = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !well_formed {
        let expected = "a lower-case letter, then lower-case letters, digits and hyphens";
        return Err(Fault::new(field, format!("`{name}`"), expected));
    }
    if !names.insert(name) {
        return Err(Fault::new(field, format!("`{name}`"), "a name that nothing else in the report has"));
    }
    Ok(())
}
