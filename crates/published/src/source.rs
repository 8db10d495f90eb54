//! A source, which is a publication as data, and its reproduction.

use crate::claim::{Claim, Concluded};
use crate::finding::Finding;
use std::collections::BTreeSet;
use warmcore_record::columns::ColumnsError;
use warmcore_record::document::KeyFigure;
use warmcore_record::{Block, Chart, Columns};

/// A publication whose results are reproduced as evidence `E`.
#[derive(Clone, Debug)]
pub struct Source<E> {
    /// Its name on the command line: `salehi-1994`.
    pub name: &'static str,
    /// Its name for a reader: `Salehi 1994`.
    pub short: &'static str,
    /// Its subject, as a title: `scheduling for cache affinity`.
    pub subject: &'static str,
    /// How a report cites it.
    pub citation: &'static str,
    /// What the publication did and how it is reproduced, for a reader who has never seen it; one string per
    /// paragraph.
    pub story: &'static [&'static str],
    /// Its figures and tables, in order.
    pub figures: Vec<PublishedFigure>,
    /// Its claims, in order.
    pub claims: Vec<Claim<E>>,
    /// Its main conclusions, with the claims that they rest on.
    pub conclusions: &'static [Conclusion],
    /// What is assumed where the text leaves a choice.
    pub choices: &'static [&'static str],
    /// Terms of the field, with their meaning.
    pub glossary: &'static [(&'static str, &'static str)],
}

/// A figure or table, in words for a reader who has never seen it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PublishedFigure {
    /// Its name on a command line and in links: `7a`.
    pub name: &'static str,
    /// Its name in the publication: `figure 7(a)`.
    pub label: &'static str,
    /// What it shows, as a title.
    pub title: &'static str,
    /// The question it answers, and how to read it.
    pub about: &'static str,
    /// What the publication says it shows; may be empty.
    pub states: &'static str,
}

impl PublishedFigure {
    /// A figure, from its name, label, title, what it is about and what the publication says it shows.
    #[must_use]
    pub const fn new(
        name: &'static str,
        label: &'static str,
        title: &'static str,
        about: &'static str,
        states: &'static str,
    ) -> Self {
        Self { name, label, title, about, states }
    }
}

/// A conclusion of the publication, and the ids of the claims it rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conclusion {
    /// The conclusion.
    pub text: &'static str,
    /// The claims.
    pub claims: &'static [&'static str],
}

/// What was simulated or measured for a source, as its report shows it.
pub trait Evidence {
    /// The machine, in words.
    fn machine(&self) -> String;

    /// Whether the claims are about this kind of machine and can be judged.
    fn is_comparable(&self) -> bool {
        true
    }

    /// Whether `claim` is about this kind of machine. Evidence of several machines may answer differently from claim to claim.
    fn judges(&self, _claim: &Claim<Self>) -> bool
    where
        Self: Sized,
    {
        self.is_comparable()
    }

    /// The few most important figures; may be empty.
    fn key_figures(&self) -> Vec<KeyFigure> {
        Vec::new()
    }

    /// The chart that shows the answer, if one does.
    fn lead(&self) -> Option<Chart> {
        None
    }

    /// Our values for `claim`: what its recipe derives. Evidence whose runs are repeated evaluates it for each repetition, and gives
    /// intervals.
    fn find(&self, claim: &Claim<Self>) -> Option<Finding>
    where
        Self: Sized,
    {
        (claim.derive)(self)
    }

    /// The charts, tables and notes of the figure with this name.
    fn blocks(&self, figure: &str) -> Vec<Block>;

    /// Why our values for `claim`, which are not all as stated, are what they are; may be empty. It is shown as part of the
    /// verdict's reason.
    fn explain(&self, _claim: &Claim<Self>, _finding: &Finding) -> String
    where
        Self: Sized,
    {
        String::new()
    }

    /// What a reader must know before trusting the evidence: its precision, and what was left out.
    fn notes(&self) -> Vec<String>;

    /// All results, one row per point, for other programs.
    ///
    /// # Errors
    /// Never, as long as every column has its own name.
    fn results(&self) -> Result<Columns, ColumnsError>;
}

/// Why a finished part of a reproduction could not be kept.
pub type KeepError = Box<dyn std::error::Error + Send + Sync>;

/// No figure has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no figure `{name}`, expected {known}, or a number for all its parts")]
pub struct UnknownFigure {
    name: String,
    known: String,
}

/// A source whose data contradict each other.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct Unsound {
    place: String,
    problem: String,
}

/// A source with the evidence for its claims.
#[derive(Clone, Debug)]
pub struct Reproduction<E> {
    /// The source.
    pub source: Source<E>,
    /// The names of the figures that were asked for, in the source's order.
    pub figures: Vec<&'static str>,
    /// What was simulated or measured.
    pub evidence: E,
    /// The claims that rest on these figures, in the source's order.
    pub claims: Vec<Concluded<E>>,
}

impl<E> Source<E> {
    /// The figures that `names` select, in the source's order: `7a` selects one, `7` selects 7(a) and 7(b).
    /// Without names all figures are selected.
    ///
    /// # Errors
    /// If a name selects no figure.
    pub fn figures_named(&self, names: &[String]) -> Result<Vec<&'static str>, UnknownFigure> {
        let is_named = |figure: &PublishedFigure, name: &str| {
            let number = figure.name.strip_suffix(|letter: char| letter.is_ascii_lowercase());
            figure.name == name
                || (number == Some(name) && name.ends_with(|last: char| last.is_ascii_digit()))
        };
        if let Some(unknown) =
            names.iter().find(|name| !self.figures.iter().any(|figure| is_named(figure, name)))
        {
            let known: Vec<&str> = self.figures.iter().map(|figure| figure.name).collect();
            return Err(UnknownFigure { name: unknown.clone(), known: known.join(", ") });
        }
        let wanted =
            |figure: &&PublishedFigure| names.is_empty() || names.iter().any(|name| is_named(figure, name));
        Ok(self.figures.iter().filter(wanted).map(|figure| figure.name).collect())
    }

    /// Checks that names and ids are unique, that every claim and conclusion rests on existing figures and
    /// claims, and that no text is empty.
    ///
    /// # Errors
    /// The first fault, and its place.
    pub fn check(&self) -> Result<(), Unsound> {
        let fault = |place: &str, problem: &str| {
            Err(Unsound { place: format!("{}, {place}", self.name), problem: problem.to_owned() })
        };
        let (mut names, mut ids) = (BTreeSet::new(), BTreeSet::new());
        for figure in &self.figures {
            if !names.insert(figure.name) {
                return fault(figure.name, "two figures have this name");
            }
            if [figure.label, figure.title, figure.about].contains(&"") {
                return fault(figure.name, "a text is empty");
            }
        }
        for claim in &self.claims {
            if !ids.insert(claim.id) {
                return fault(claim.id, "two claims have this id");
            }
            if [claim.says, claim.published, claim.recipe].contains(&"") {
                return fault(claim.id, "a text is empty");
            }
            if claim.needs.is_empty() || !claim.needs.iter().all(|name| names.contains(name)) {
                return fault(claim.id, "it needs no figure, or one that does not exist");
            }
        }
        for conclusion in self.conclusions {
            if !conclusion.claims.iter().all(|id| ids.contains(id)) {
                return fault(conclusion.text, "it rests on a claim that does not exist");
            }
        }
        Ok(())
    }

    /// The figure with this name.
    pub(crate) fn figure(&self, name: &str) -> Option<&PublishedFigure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// Where a claim is made, for a reader.
    fn place(&self, claim: &Claim<E>) -> String {
        let section = (!claim.section.is_empty()).then(|| format!("§{}", claim.section));
        let labels = claim.needs.iter().filter_map(|name| Some(self.figure(name)?.label.to_owned()));
        section.into_iter().chain(labels).collect::<Vec<_>>().join(", ")
    }
}

impl<E: Evidence + Clone> Source<E> {
    /// Judges the claims that rest on `figures`, by `evidence` for them.
    #[must_use]
    pub fn conclude(self, evidence: E, figures: Vec<&'static str>) -> Reproduction<E> {
        let is_comparable = evidence.is_comparable();
        let rests = |claim: &&Claim<E>| claim.needs.iter().all(|name| figures.contains(name));
        let claims = self
            .claims
            .iter()
            .filter(rests)
            .map(|claim| {
                claim.clone().conclude(self.place(claim), evidence.find(claim), evidence.judges(claim))
            })
            // For another machine, a claim that rests on the publication's own constants says nothing.
            .filter(|concluded| is_comparable || concluded.finding.is_some())
            .map(|concluded| concluded.explained(&evidence))
            .collect();
        Reproduction { source: self, figures, evidence, claims }
    }
}
