//! A made-up source in a few lines goes through the whole flow, which shows that the form is general.

use warmcore_published::{
    Basis, Claim, ClaimVerdict, Concluded, Conclusion, Evidence, Finding, PublishedFigure, Reading, Source,
    Summary, Value, ValueAt, document,
};
use warmcore_record::columns::ColumnsError;
use warmcore_record::document::ConfidenceLevel;
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Column, Columns, Manifest, Table};

/// How fast each of several kettles boils water: minutes, with an interval.
#[derive(Clone)]
struct Boiled(Vec<(&'static str, Value)>);

impl Evidence for Boiled {
    fn machine(&self) -> String {
        "a kitchen".to_owned()
    }

    fn blocks(&self, figure: &str) -> Vec<Block> {
        let row =
            |(kettle, value): &(&'static str, Value)| Row::new(*kettle, vec![Cell::text(value.to_string())]);
        vec![Block::Table(Table {
            id: format!("kettles-{figure}"),
            caption: "Minutes".to_owned(),
            header: Table::simple_header(["Kettle", "minutes"]),
            rows: self.0.iter().map(row).collect(),
            notes: Vec::new(),
        })]
    }

    fn notes(&self) -> Vec<String> {
        vec!["Water was at 15 °C.".to_owned()]
    }

    fn results(&self) -> Result<Columns, ColumnsError> {
        Columns::new(vec![
            Column::texts("kettle", self.0.iter().map(|(kettle, _)| Some((*kettle).to_owned()))),
            Column::floats("time", "min", self.0.iter().map(|(_, value)| Some(value.mean))),
        ])
    }
}

fn source() -> Source<Boiled> {
    let figure = |name, label| PublishedFigure {
        name,
        label,
        title: "kettles",
        about: "How fast each boils.",
        states: "",
    };
    let claim = |id, published, reading, derive| Claim {
        id,
        section: "2",
        needs: &["1a"],
        says: "Kettles boil so fast.",
        published,
        reading,
        unit: "min",
        recipe: "every kettle once",
        basis: Basis::Prediction,
        derive,
        contradicts: None,
    };
    let each: fn(&Boiled) -> Option<Finding> =
        |e| Finding::new(e.0.iter().map(|(kettle, value)| ValueAt::new(*kettle, *value)).collect(), "");
    Source {
        name: "watt-1776",
        short: "Watt 1776",
        subject: "kettles",
        citation: "James Watt, \"Kettles\"",
        story: &["Kettles boil water."],
        figures: vec![figure("1a", "figure 1(a)"), figure("1b", "figure 1(b)")],
        claims: vec![
            claim("about-five", "about 5", Reading::About(5.0), each),
            claim("about-nine", "about 9", Reading::About(9.0), each),
            claim("fastest", "2", Reading::Printed(2.0), |e| {
                let fastest = e.0.first()?;
                Some(Finding::single(fastest.1, "The first."))
            }),
            Claim { needs: &["1b"], ..claim("unheard", "any", Reading::MoreThan(0.0), |_| None) },
        ],
        conclusions: &[Conclusion { text: "Kettles are useful.", claims: &["about-five", "fastest"] }],
        choices: &["Which kettles: those that we have."],
        glossary: &[("Kettle", "What boils water.")],
    }
}

fn boiled() -> Boiled {
    let value = |mean: f64| Value { mean, low: mean - 0.2, high: mean + 0.2 };
    Boiled(vec![("red", value(2.0)), ("blue", value(5.0)), ("green", value(5.5))])
}

#[test]
fn a_source_of_a_few_lines_goes_through_the_whole_flow() {
    assert_eq!(source().check(), Ok(()));
    let names = source().figures_named(&["1".to_owned()]).unwrap();
    assert_eq!(names, ["1a", "1b"]);
    let reproduction = source().conclude(boiled(), names);
    let verdicts: Vec<ClaimVerdict> = reproduction.claims.iter().map(|one| one.verdict).collect();
    assert_eq!(
        verdicts,
        [ClaimVerdict::HoldsPartly, ClaimVerdict::Differs, ClaimVerdict::Undecided, ClaimVerdict::NotDerived]
    );
    let first = &reproduction.claims[0];
    assert_eq!(first.place, "§2, figure 1(a)");
    assert_eq!(first.our_values(), "2.0 ± 0.2 min at red to 5.5 ± 0.2 min at green, as stated at 2 of 3");
    assert_eq!(first.accepted(), "4 to 6 min (within a fifth of 5)");
    assert_eq!(first.reason(), "Ours is outside: 2.0 min below at red.");
    assert_eq!(
        reproduction.claims[2].reason(),
        "Undecided, as the interval reaches outside: 0.2 min above. The first."
    );

    let report = document(&reproduction, Manifest::now("test", "0"));
    assert_eq!(report.validate(), Ok(()));
    assert_eq!(
        report.verdict.statements[0].confidence.level,
        ConfidenceLevel::Low,
        "a claim it rests on is undecided"
    );
    let page = warmcore_report::render(&report);
    for words in ["Watt 1776", "Kettles are useful.", "undecided", "Water was at 15 °C.", "What boils water."]
    {
        assert!(page.contains(words), "{words}");
    }
    let summary = Summary::new(&reproduction);
    assert_eq!(summary.columns().unwrap().rows(), 4);
    assert_eq!(summary.verdicts[&Basis::Prediction]["holds partly"], 1);
    assert_eq!((summary.claims[0].places, summary.claims[0].as_stated), (3, Some(2)));
    assert_eq!(reproduction.evidence.results().unwrap().rows(), 3);
}

/// What the model was fitted to, and what follows from what it was given, is no prediction that holds.
#[test]
fn fits_and_constructions_are_counted_apart() {
    let mut source = source();
    let everywhere =
        |basis, id| Claim { basis, id, reading: Reading::MoreThan(1.0), ..source.claims[0].clone() };
    source.claims = vec![
        source.claims[0].clone(),
        everywhere(Basis::Prediction, "predicted"),
        everywhere(Basis::Fitted, "fitted"),
        everywhere(Basis::Construction, "constructed"),
    ];
    let figures = source.figures_named(&["1a".to_owned()]).unwrap();
    let reproduction = source.conclude(boiled(), figures);
    let words: Vec<String> = reproduction.claims.iter().map(Concluded::verdict_in_words).collect();
    assert_eq!(words, ["holds partly", "holds", "holds (fitted)", "holds (by construction)"]);
    assert_eq!(
        document(&reproduction, Manifest::now("test", "0")).verdict.headline,
        "Of 4 claims of Watt 1776, 2 are predictions: 1 holds, 1 holds partly. The model was fitted to 1: 1 holds. One follows \
         from what the model was given: 1 holds."
    );
    let report = document(&reproduction, Manifest::now("test", "0"));
    let mut tables =
        report.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        });
    let counts = tables.find(|table| table.id == "verdicts-by-chapter").expect("it is printed");
    let row = |name: &str, counts: [&str; 3]| Row::new(name, counts.map(Cell::text).to_vec());
    assert_eq!(
        counts.rows,
        [
            row("chapter 2, predictions", ["2", "1", "1"]),
            row("chapter 2, fitted", ["1", "1", "0"]),
            row("chapter 2, by construction", ["1", "1", "0"]),
            row("all", ["4", "3", "1"]),
        ]
    );
    let summary = Summary::new(&reproduction);
    assert_eq!(summary.verdicts[&Basis::Prediction].values().sum::<usize>(), 2);
    assert_eq!(summary.verdicts[&Basis::Construction]["holds"], 1);
}

#[test]
fn what_lies_outside_is_named_by_its_distance() {
    let reason = |value: Value| {
        let evidence = Boiled(vec![("red", value), ("blue", value)]);
        source().conclude(evidence, vec!["1a"]).claims[0].reason()
    };
    // About five: from 4 to 6.
    assert_eq!(reason(Value::exact(3.0)), "Ours is outside: 1.0 min below at red; 1.0 min below at blue.");
    assert_eq!(reason(Value::exact(6.04)), "Ours is outside: 0.04 min above at red; 0.04 min above at blue.");
    let unknown = Value { mean: 5.0, low: f64::NEG_INFINITY, high: f64::INFINITY };
    assert_eq!(
        reason(unknown),
        "Undecided, as the interval reaches outside: no interval at red; no interval at blue."
    );
    assert_eq!(reason(Value::exact(5.0)), "");
    let barely = "Barely: ours is from the end of what is accepted by 0.03 min at red; 0.03 min at blue.";
    assert_eq!(reason(Value::exact(4.03)), barely);
}

/// A conclusion does not stand on the half of its claims that happens to be looked at.
#[test]
fn a_conclusion_says_what_was_not_checked() {
    let mut source = source();
    source.conclusions = &[Conclusion { text: "Kettles are useful.", claims: &["fastest", "unheard"] }];
    source.claims[2].reading = Reading::About(2.0);
    let reproduction = source.conclude(boiled(), vec!["1a"]);
    let statements = document(&reproduction, Manifest::now("test", "0")).verdict.statements;
    assert_eq!(statements[0].confidence.level, ConfidenceLevel::Moderate);
    assert_eq!(statements[0].confidence.reason, "1 of the 2 claims it rests on hold; 1 not checked here.");
}

#[test]
fn only_claims_of_the_figures_asked_for_are_judged() {
    let reproduction = source().conclude(boiled(), source().figures_named(&["1b".to_owned()]).unwrap());
    assert_eq!(reproduction.claims.len(), 1);
    let unknown = source().figures_named(&["9".to_owned()]).unwrap_err();
    assert!(unknown.to_string().starts_with("there is no figure `9`, expected 1a, 1b"), "{unknown}");
}

#[test]
fn every_source_is_sound() {
    assert_eq!(warmcore_published::salehi_1994::source().check(), Ok(()));
    assert_eq!(warmcore_published::foong_2004::source().check(), Ok(()));
    assert_eq!(warmcore_published::torrellas_1995::source().check(), Ok(()));
    assert_eq!(warmcore_published::mosberger_1996::source().check(), Ok(()));
    assert_eq!(warmcore_published::falsafi_1998::source().check(), Ok(()));
}

#[test]
fn inconsistent_sources_are_refused() {
    let mut doubled = source();
    doubled.claims.push(doubled.claims[0].clone());
    assert!(doubled.check().unwrap_err().to_string().contains("two claims have this id"));
    let mut lost = source();
    lost.claims[0].needs = &["7"];
    assert!(lost.check().unwrap_err().to_string().contains("one that does not exist"));
    let mut unfounded = source();
    unfounded.conclusions = &[Conclusion { text: "Tea.", claims: &["tea"] }];
    assert!(unfounded.check().unwrap_err().to_string().contains("rests on a claim that does not exist"));
}
