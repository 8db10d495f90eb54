//! Whether a study repeats: several quick studies of this machine in a row, and how many of them lie within the
//! intervals that the others give.
//!
//! `WARMCORE_STUDIES=10 cargo test --release --package warmcore-cli --test repeat -- --ignored --nocapture` takes a
//! minute for each, and a machine that does nothing else. Where a hypervisor moves the processors nearer or farther
//! meanwhile (a hand-over between them took 247 ns, and an hour later 43), it makes another machine of it: studies at a
//! distance unlike that of most are listed, and not judged. With `WARMCORE_STUDIES_IN` set to a folder, finished studies
//! are kept there and found again.
//!
//! A study that calls a figure "not determined" claims nothing of it: it is counted apart, and agrees with nobody.

use serde_json::Value;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part of the studies that must lie within the others' intervals, and of the others' intervals in which a study
/// must lie. One study of ten that is off so costs only itself.
const REPEATING: f64 = 0.9;

/// A figure with the interval that a study gives it; `None` where it says that it is not determined.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Figure {
    value: f64,
    interval: Option<[f64; 2]>,
}

impl Figure {
    fn from_estimate(estimate: &Value) -> Option<Self> {
        let (mean, half) = (estimate["mean"].as_f64()?, estimate["half_width"].as_f64()?);
        Some(Self { value: mean, interval: Some([mean - half, mean + half]) })
    }

    fn from_rate(rate: &Value, between: &Value) -> Option<Self> {
        let ends = between.as_array().and_then(|ends| Some([ends[0].as_f64()?, ends[1].as_f64()?]));
        Some(Self { value: rate.as_f64()?, interval: ends })
    }

    /// Whether `other`'s value lies where this study says that it may; one that says nothing allows nothing.
    fn allows(&self, other: &Self) -> bool {
        self.interval.is_some_and(|[low, high]| (low..=high).contains(&other.value))
    }
}

/// A choice, and what the study calls as good.
#[derive(Clone, PartialEq, Debug)]
struct Choice {
    best: Value,
    as_good: Vec<Value>,
}

impl Choice {
    fn new(best: &Value, as_good: &Value) -> Self {
        Self { best: best.clone(), as_good: as_good.as_array().cloned().unwrap_or_default() }
    }

    fn allows(&self, other: &Self) -> bool {
        self.best == other.best || self.as_good.contains(&other.best)
    }
}

/// So many of `count` are enough.
fn enough(count: usize) -> usize {
    (REPEATING * count as f64) as usize
}

/// How many of `figures`, all of which claim something, are allowed by enough of the others.
fn repeating<F>(figures: &[F], allows: impl Fn(&F, &F) -> bool) -> usize {
    let is_allowed = |index: &usize| {
        let others = (0..figures.len()).filter(|other| other != index);
        let allowing = others.filter(|&other| allows(&figures[other], &figures[*index])).count();
        allowing >= enough(figures.len() - 1)
    };
    (0..figures.len()).filter(is_allowed).count()
}

/// Summaries of `count` studies, kept in `folder`.
fn studies(count: usize, folder: &Path) -> Vec<Value> {
    let study = |index: usize| {
        let file = folder.join(format!("{index}.json"));
        let summary = fs::read(&file).unwrap_or_else(|_| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
            command.args(["study", "--quick", "--json", "--seed", &(1 + index).to_string(), "--out"]);
            let output = command.arg(folder.join(index.to_string())).output().expect("a study can be run");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            fs::write(&file, &output.stdout).expect("a summary can be kept");
            output.stdout
        });
        serde_json::from_slice(&summary).expect("a summary is JSON")
    };
    (0..count).map(study).collect()
}

/// Those studies whose processors were as far apart as in most.
fn at_one_distance(summaries: Vec<Value>) -> Vec<Value> {
    /// Of one distance, hand-overs differ by less than this factor.
    const TOLERANCE: f64 = 1.5;
    let handover = |summary: &Value| summary["costs"]["handover_ns"].as_f64();
    let mut all: Vec<f64> = summaries.iter().filter_map(handover).collect();
    all.sort_by(f64::total_cmp);
    println!("hand-overs between the processors, ns: {all:.0?}\n");
    let Some(&median) = all.get(all.len() / 2) else { return summaries };
    let is_usual = |time: f64| (median / TOLERANCE..=median * TOLERANCE).contains(&time);
    summaries.into_iter().filter(|summary| handover(summary).is_none_or(is_usual)).collect()
}

/// The advice for the machine itself.
fn own(summary: &Value) -> &Value {
    &summary["advice"][0]
}

fn first_region(summary: &Value) -> &Value {
    &own(summary)["regions"][0]
}

fn last_region(summary: &Value) -> Option<&Value> {
    own(summary)["regions"].as_array()?.last()
}

/// Where the last region begins, if there are several.
fn border(summary: &Value) -> Option<Figure> {
    let region = last_region(summary).filter(|region| *region != first_region(summary))?;
    Figure::from_rate(&region["from_per_s"], &region["from_between_per_s"])
}

/// Something that a study leads with: its name, and where it is in a summary.
type Named<T> = (&'static str, fn(&Value) -> Option<T>);

const FIGURES: [Named<Figure>; 4] = [
    ("gain over the default at an ordinary load", |of| {
        Figure::from_estimate(&own(of)["ordinary"]["delay_saved_over_default"])
    }),
    ("traffic, times the default's", |of| Figure::from_estimate(&own(of)["capacity_over_default"])),
    ("capacity, packets/s", |of| {
        Figure::from_rate(&own(of)["capacity_per_s"]["mean"], &own(of)["capacity_between_per_s"])
    }),
    ("border of the highest loads, packets/s", border),
];

#[test]
#[ignore = "takes a minute for each study, alone on a quiet machine: `make test-long`"]
fn studies_repeat() {
    let count = env::var("WARMCORE_STUDIES").map_or(10, |count| count.parse().expect("a number of studies"));
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let folder =
        env::var_os("WARMCORE_STUDIES_IN").map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    fs::create_dir_all(&folder).expect("a folder for studies");
    let summaries = at_one_distance(studies(count, &folder));
    assert!(
        2 * summaries.len() > count,
        "the processors were moved too often: {} of {count}",
        summaries.len()
    );
    let mut failed = Vec::new();
    let mut judge = |name: &'static str, repeating: usize, claiming: usize, count: usize| {
        println!(
            "  {repeating} of {claiming} within the others' intervals; {} claim nothing\n",
            count - claiming
        );
        if repeating < enough(claiming) {
            failed.push(name);
        }
    };
    for (name, figure) in FIGURES {
        let figures: Vec<Figure> = summaries.iter().filter_map(figure).collect();
        println!("{name}");
        for Figure { value, interval } in &figures {
            match interval {
                Some([low, high]) => println!("  {value:12.4}  {low:12.4} to {high:12.4}"),
                None => println!("  {value:12.4}  not determined"),
            }
        }
        let claims: Vec<Figure> =
            figures.iter().copied().filter(|figure| figure.interval.is_some()).collect();
        judge(name, repeating(&claims, Figure::allows), claims.len(), figures.len());
    }
    let choices: [Named<Choice>; 3] = [
        ("choice at low loads", |of| {
            Some(Choice::new(&first_region(of)["best"], &first_region(of)["as_good"]))
        }),
        ("choice at high loads", |of| last_region(of).map(|of| Choice::new(&of["best"], &of["as_good"]))),
        ("choice for capacity", |of| {
            Some(Choice::new(&own(of)["best_capacity"], &own(of)["capacity_as_good"]))
        }),
    ];
    for (name, choice) in choices {
        let choices: Vec<Choice> = summaries.iter().filter_map(choice).collect();
        println!("{name}");
        choices.iter().for_each(|Choice { best, as_good }| println!("  {best}, {} as good", as_good.len()));
        judge(name, repeating(&choices, Choice::allows), choices.len(), choices.len());
    }
    assert!(failed.is_empty(), "do not repeat: {failed:?}");
}

#[test]
fn studies_of_moved_processors_are_not_judged_together() {
    let summary = |handover: f64| serde_json::json!({ "costs": { "handover_ns": handover } });
    let kept = |handovers: &[f64]| at_one_distance(handovers.iter().copied().map(summary).collect()).len();
    assert_eq!(kept(&[43.0, 37.0, 52.0, 247.0, 245.0]), 3);
    assert_eq!(kept(&[43.0, 37.0, 52.0]), 3);
}

/// The rule by which studies repeat, on six capacities. The least and the greatest are of six studies in a row, those
/// between are made up; so this holds the rule and says nothing of what studies differ by.
#[test]
fn intervals_without_what_studies_differ_by_do_not_repeat() {
    let with = |relative: f64| {
        [31.9, 33.0, 36.5, 40.0, 43.1, 45.9].map(|value: f64| Figure {
            value,
            interval: Some([value * (1.0 - relative), value * (1.0 + relative)]),
        })
    };
    assert!(repeating(&with(0.07), Figure::allows) < enough(6));
    assert_eq!(repeating(&with(0.45), Figure::allows), 6);
}

/// One of ten that is off costs itself; two cost all.
#[test]
fn nine_of_ten_must_lie_within_nine_of_ten() {
    let off = |count: usize| {
        let figure = |index: usize| {
            let value = if index < count { 3.0 } else { 1.0 };
            Figure { value, interval: Some([value - 0.5, value + 0.5]) }
        };
        repeating(&(0..10).map(figure).collect::<Vec<_>>(), Figure::allows)
    };
    assert_eq!([off(0), off(1), off(2)], [10, 9, 0]);
}

#[test]
fn what_is_not_determined_agrees_with_nobody() {
    let undetermined = Figure { value: 1.0, interval: None };
    assert!(!undetermined.allows(&undetermined));
}
