//! The page of every source's report, for a reader who has never seen the source.
//!
//! The answer, what the report is about, all claims, one section per figure, the choices made, a glossary.

use crate::chapters::verdicts_by_chapter;
use crate::claim::{Basis, Concluded};
use crate::source::{Conclusion, Evidence, PublishedFigure, Reproduction, Source};
use crate::verdict::{ClaimVerdict, rule};
use warmcore_record::document::{Confidence, ConfidenceLevel, Statement, Term};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Document, Manifest, ReportVerdict, Section, Table};

/// The report on `reproduction`, with its provenance.
#[must_use]
pub fn document<E: Evidence>(reproduction: &Reproduction<E>, manifest: Manifest) -> Document {
    let Reproduction { source, evidence, .. } = reproduction;
    let machine = evidence.machine();
    let Source { short, subject, citation, .. } = source;
    let title = match evidence.is_comparable() {
        true => format!("{short}, reproduced: {subject}"),
        false => format!("The figures of {short}, redrawn for {machine}"),
    };
    let mut sections = vec![section("question", "What this report is about", source.story, Vec::new())];
    sections.extend(all_claims(reproduction));
    sections
        .extend(reproduction.figures.iter().filter_map(|name| figure(reproduction, source.figure(name)?)));
    sections.push(choices(reproduction));
    sections.extend(glossary(source));
    Document {
        title,
        subtitle: format!("{citation}. Machine: {machine}."),
        verdict: answer(reproduction),
        sections,
        manifest,
    }
}

fn section(anchor: &str, heading: &str, intro: &[impl ToString], blocks: Vec<Block>) -> Section {
    let intro = intro.iter().map(ToString::to_string).collect();
    Section { heading: heading.to_owned(), anchor: anchor.to_owned(), intro, blocks, folded: false }
}

/// The answer at the top: how many claims have each verdict, and which main conclusions hold.
fn answer<E: Evidence>(reproduction: &Reproduction<E>) -> ReportVerdict {
    let Reproduction { source, evidence, claims, .. } = reproduction;
    let judged = evidence.is_comparable();
    ReportVerdict {
        headline: match judged {
            true => headline(source, claims),
            false => format!(
                "The statements of {} are about its own machine. Its figures are redrawn for {} and not judged.",
                source.short,
                evidence.machine()
            ),
        },
        chart: evidence.lead(),
        figures: evidence.key_figures(),
        statements: match judged {
            true => source.conclusions.iter().filter_map(|one| statement(one, claims)).collect(),
            false => Vec::new(),
        },
        scope: format!("It applies to {} and to no other machine.", evidence.machine()),
        ..ReportVerdict::default()
    }
}

/// `Of 39 claims of Torrellas 1995, 31 are predictions: 12 hold, 9 differ. The model was fitted to 7: 6 hold, 1 differs. …`.
fn headline<E>(source: &Source<E>, claims: &[Concluded<E>]) -> String {
    let short = source.short;
    let [predictions, fitted, construction] =
        [Basis::Prediction, Basis::Fitted, Basis::Construction].map(|basis| Counted::new(claims, basis));
    if claims.is_empty() {
        return format!("No claim of {short} rests on these figures alone.");
    }
    let all = claims.len();
    let first = match predictions.count {
        0 => format!("Of {all} claims of {short}, none is a prediction."),
        count if count == all => format!("Of {all} claims of {short}, {}.", predictions.verdicts),
        1 => format!("Of {all} claims of {short}, 1 is a prediction: {}.", predictions.verdicts),
        count => format!("Of {all} claims of {short}, {count} are predictions: {}.", predictions.verdicts),
    };
    let fitted = match fitted.count {
        0 => String::new(),
        count => format!(" The model was fitted to {count}: {}.", fitted.verdicts),
    };
    let construction = match construction.count {
        0 => String::new(),
        1 => format!(" One follows from what the model was given: {}.", construction.verdicts),
        count => format!(" {count} follow from what the model was given: {}.", construction.verdicts),
    };
    format!("{first}{fitted}{construction}")
}

/// How many claims of one basis there are, and in words how many of these have each verdict.
struct Counted {
    count: usize,
    verdicts: String,
}

impl Counted {
    fn new<E>(claims: &[Concluded<E>], basis: Basis) -> Self {
        let claims: Vec<&Concluded<E>> = claims.iter().filter(|one| one.claim.basis == basis).collect();
        let words = |verdict: ClaimVerdict| {
            let count = claims.iter().filter(|one| one.verdict == verdict).count();
            let [one, several] = match verdict {
                ClaimVerdict::Holds => ["holds", "hold"],
                ClaimVerdict::HoldsPartly => ["holds partly", "hold partly"],
                ClaimVerdict::Undecided => ["is undecided", "are undecided"],
                ClaimVerdict::Differs => ["differs", "differ"],
                ClaimVerdict::SourceInconsistent => {
                    ["contradicts another place of its text", "contradict another place of its text"]
                }
                ClaimVerdict::AnotherMachine => ["is about another machine", "are about another machine"],
                ClaimVerdict::NotDerived => ["could not be checked"; 2],
            };
            (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { several }))
        };
        let verdicts: Vec<String> = ClaimVerdict::ALL.into_iter().filter_map(words).collect();
        Self { count: claims.len(), verdicts: verdicts.join(", ") }
    }
}

/// A conclusion with its claims; `None` if none of them was checked. One that all of them contradict is said to be contradicted, and
/// that is as sure as what they all confirm.
fn statement<E>(conclusion: &Conclusion, claims: &[Concluded<E>]) -> Option<Statement> {
    let rests_on: Vec<&Concluded<E>> = claims
        .iter()
        .filter(|one| conclusion.claims.contains(&one.claim.id) && one.verdict != ClaimVerdict::NotDerived)
        .collect();
    let unchecked = conclusion.claims.len() - rests_on.len();
    let is_at_worst = |verdict: ClaimVerdict| rests_on.iter().all(|one| one.verdict <= verdict);
    let is_contradicted = rests_on.iter().all(|one| one.verdict == ClaimVerdict::Differs);
    let level = match () {
        () if rests_on.is_empty() => return None,
        () if (is_contradicted || is_at_worst(ClaimVerdict::Holds)) && unchecked == 0 => {
            ConfidenceLevel::High
        }
        () if (is_contradicted || is_at_worst(ClaimVerdict::HoldsPartly)) && unchecked <= rests_on.len() => {
            ConfidenceLevel::Moderate
        }
        () => ConfidenceLevel::Low,
    };
    let evidence = |one: &&Concluded<E>| {
        let says = one.claim.says;
        let (ours, verdict) = (one.our_values(), one.verdict_in_words());
        format!("{says} Published: {}; ours: {ours}: {verdict}.", one.claim.published)
    };
    let holding = rests_on.iter().filter(|one| one.verdict == ClaimVerdict::Holds).count();
    let others = rests_on.iter().filter(|one| one.verdict != ClaimVerdict::Holds);
    let others = others.map(|one| format!("\"{}\" {}", one.claim.says, one.verdict_in_words()));
    let unchecked = (unchecked > 0).then(|| format!("{unchecked} not checked here"));
    let rest: Vec<String> = others.chain(unchecked).collect();
    let reason = format!("{holding} of the {} claims it rests on hold", conclusion.claims.len());
    let reason = match rest.is_empty() {
        true => format!("{reason}."),
        false => format!("{reason}; {}.", rest.join(", ")),
    };
    Some(Statement {
        text: match is_contradicted {
            true => format!("Contradicted here: “{}”", conclusion.text),
            false => conclusion.text.to_owned(),
        },
        evidence: rests_on.iter().map(evidence).collect(),
        confidence: Confidence { level, reason },
    })
}

/// The section with all claims and the rule; `None` if no claim was checked.
fn all_claims<E: Evidence>(reproduction: &Reproduction<E>) -> Option<Section> {
    let Reproduction { source, evidence, claims, .. } = reproduction;
    if claims.is_empty() {
        return None;
    }
    let short = source.short;
    let rule = match evidence.is_comparable() {
        true => rule(),
        false => format!(
            "The published values are those of the machine of {short}. This report is about another one: our values are \
             derived in the same way from its costs, and are not judged."
        ),
    };
    let row = |one: &Concluded<E>| {
        row(
            &format!("{} ({})", one.claim.says, one.place),
            [
                one.claim.published.to_owned(),
                one.accepted(),
                one.our_values(),
                one.verdict_in_words(),
                one.reason(),
            ],
        )
    };
    let table = Table {
        id: "all-claims".to_owned(),
        caption: format!("Every claim of {short} about its results"),
        header: Table::simple_header([
            format!("{short} says").as_str(),
            "published",
            "accepted",
            "ours, with 95 % intervals",
            "verdict",
            "remarks",
        ]),
        rows: claims.iter().map(row).collect(),
        notes: Vec::new(),
    };
    let counts = evidence.is_comparable().then(|| Block::Table(verdicts_by_chapter(claims)));
    Some(section(
        "claims",
        &format!("What {short} says, and what we find"),
        &[rule],
        counts.into_iter().chain([Block::Table(table)]).collect(),
    ))
}

/// A figure: its description, its charts, and the claims that are shown with it.
fn figure<E: Evidence>(reproduction: &Reproduction<E>, figure: &PublishedFigure) -> Option<Section> {
    let Reproduction { source, evidence, claims, .. } = reproduction;
    let claims: Vec<&Concluded<E>> =
        claims.iter().filter(|one| one.claim.needs.first() == Some(&figure.name)).collect();
    let mut blocks = evidence.blocks(figure.name);
    if evidence.is_comparable() {
        blocks.extend(found(&claims).into_iter().map(Block::Paragraph));
    }
    blocks.extend(claims_of(figure, &claims).map(Block::Table));
    let mut intro = vec![figure.about.to_owned()];
    if !figure.states.is_empty() {
        intro.push(format!("In {}: {}", source.short, figure.states));
    }
    let heading = capitalised(&format!("{}: {}", figure.label, figure.title));
    Some(section(&format!("figure-{}", figure.name), &heading, &intro, blocks))
}

/// How many of the claims about a figure hold, then those that do not.
fn found<E>(claims: &[&Concluded<E>]) -> Vec<String> {
    let otherwise: Vec<String> = claims
        .iter()
        .filter(|one| one.verdict != ClaimVerdict::Holds)
        .map(|one| {
            let says = one.claim.says.trim_end_matches('.');
            let (ours, verdict, reason) = (one.our_values(), one.verdict_in_words(), one.reason());
            unbroken(&format!(
                "\"{says}\" {verdict}: published {}, ours {ours}. {reason}",
                one.claim.published
            ))
        })
        .collect();
    let first = match (claims.len(), otherwise.len()) {
        (0, _) => return Vec::new(),
        (1, 0) => "What we find: the one claim about it holds.".to_owned(),
        (all, 0) => format!("What we find: all {all} claims about it hold."),
        (all, others) => format!("What we find: {} of {all} claims about it hold. Otherwise:", all - others),
    };
    std::iter::once(first).chain(otherwise).collect()
}

/// The claims that are shown with a figure, and how our values are derived; `None` if there are none.
fn claims_of<E>(figure: &PublishedFigure, claims: &[&Concluded<E>]) -> Option<Table> {
    let row = |one: &&Concluded<E>| {
        let claim = &one.claim;
        row(
            claim.says,
            [
                claim.published.to_owned(),
                one.accepted(),
                one.our_values(),
                one.verdict_in_words(),
                format!("{}.", capitalised(claim.recipe)),
            ],
        )
    };
    (!claims.is_empty()).then(|| Table {
        id: format!("claims-{}", figure.name),
        caption: "What the text says about it".to_owned(),
        header: Table::simple_header([
            "Claim",
            "published",
            "accepted",
            "ours",
            "verdict",
            "how ours is derived",
        ]),
        rows: claims.iter().map(row).collect(),
        notes: Vec::new(),
    })
}

fn row<const CELLS: usize>(header: &str, cells: [String; CELLS]) -> Row {
    Row::new(unbroken(header), cells.map(|cell| Cell::text(unbroken(&cell))).to_vec())
}

/// The choices that the text leaves open, and the limits of the evidence.
fn choices<E: Evidence>(reproduction: &Reproduction<E>) -> Section {
    let Reproduction { source, evidence, .. } = reproduction;
    let first = format!("What {} leaves open, and what is assumed here:", source.short);
    let intro: Vec<String> =
        std::iter::once(first).chain(source.choices.iter().map(|choice| (*choice).to_owned())).collect();
    let notes = evidence.notes().into_iter().map(Block::Note).collect();
    section("readings", "Where the text leaves a choice", &intro, notes)
}

/// The terms of the field, if the source explains any.
fn glossary<E>(source: &Source<E>) -> Option<Section> {
    let term = |(word, meaning): &(&str, &str)| Term::new(*word, *meaning);
    let terms: Vec<Term> = source.glossary.iter().map(term).collect();
    (!terms.is_empty()).then(|| section("glossary", "Words", &[] as &[String], vec![Block::Glossary(terms)]))
}

/// `text` with a capital first letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `text` with non-breaking spaces between a value and its unit or half-width.
fn unbroken(text: &str) -> String {
    let pairs = [(" %", "\u{a0}%"), (" µs", "\u{a0}µs"), (" ×", "\u{a0}×"), (" ± ", "\u{a0}±\u{a0}")];
    pairs.into_iter().fold(text.to_owned(), |text, (loose, tight)| text.replace(loose, tight))
}
