//! Whether a study repeats: several quick studies of this machine in a row, and how many of them lie within the
//! intervals that the others give.
//!
//! `WARMCORE_STUDIES=10 cargo test --release --package warmcore-cli --test repeat -- --nocapture` takes a minute
//! for each, and a machine that does nothing else. With `WARMCORE_STUDIES_IN` set to a folder, finished studies
//! are kept there and found again.

use serde_json::Value;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part of the studies that must lie within the others' intervals.
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

    /// Whether `other`'s value lies where this study says that it may.
    fn allows(&self, other: &Self) -> bool {
        self.interval.is_none_or(|[low, high]| (low..=high).contains(&other.value))
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

/// How many of `figures` are allowed by more than half of the others.
fn repeating<F>(figures: &[F], allows: impl Fn(&F, &F) -> bool) -> usize {
    let is_allowed = |index: &usize| {
        let others = (0..figures.len()).filter(|other| other != index);
        let allowing = others.filter(|&other| allows(&figures[other], &figures[*index])).count();
        2 * allowing > figures.len() - 1
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

/// The largest gain over the common default in any region.
fn gain(summary: &Value) -> Option<Figure> {
    let regions = own(summary)["regions"].as_array()?;
    let gains =
        regions.iter().filter_map(|region| Figure::from_estimate(&region["delay_saved_over_default"][1]));
    gains.max_by(|a, b| a.value.total_cmp(&b.value))
}

/// Where the last region begins; not determined, if there is but one.
fn border(summary: &Value) -> Option<Figure> {
    let region = last_region(summary)?;
    Figure::from_rate(&region["from_per_s"], &region["from_between_per_s"])
}

/// What a study leads with: a name, and where it is in a summary.
type Named = (&'static str, fn(&Value) -> Option<Figure>);

const FIGURES: [Named; 4] = [
    ("largest gain over the default", gain),
    ("traffic, times the default's", |of| Figure::from_estimate(&own(of)["capacity_over_default"])),
    ("capacity, packets/s", |of| {
        Figure::from_rate(&own(of)["capacity_per_s"]["mean"], &own(of)["capacity_between_per_s"])
    }),
    ("border of the highest loads, packets/s", border),
];

#[test]
fn studies_repeat() {
    let Some(count) = env::var("WARMCORE_STUDIES").ok().and_then(|count| count.parse().ok()) else { return };
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let folder =
        env::var_os("WARMCORE_STUDIES_IN").map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    fs::create_dir_all(&folder).expect("a folder for studies");
    let summaries = studies(count, &folder);
    let least = (REPEATING * count as f64).floor() as usize;
    let mut failed = Vec::new();
    let mut judge = |name: &'static str, repeating: usize| {
        println!("  {repeating} of {count} within the others' intervals\n");
        if repeating < least {
            failed.push(name);
        }
    };
    for (name, figure) in FIGURES {
        let figures: Vec<Figure> = summaries.iter().filter_map(figure).collect();
        assert_eq!(figures.len(), count, "every study has the figure: {name}");
        println!("{name}");
        for Figure { value, interval } in &figures {
            match interval {
                Some([low, high]) => println!("  {value:12.4}  {low:12.4} to {high:12.4}"),
                None => println!("  {value:12.4}  not determined"),
            }
        }
        judge(name, repeating(&figures, Figure::allows));
    }
    let choices: [(&str, fn(&Value) -> Option<Choice>); 3] = [
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
        judge(name, repeating(&choices, Choice::allows));
    }
    assert!(failed.is_empty(), "do not repeat: {failed:?}");
}

/// Capacities of six studies in a row, in millions, with the intervals of a study that knew only its own
/// errors; and the same with what studies differ by.
#[test]
fn intervals_without_what_studies_differ_by_do_not_repeat() {
    let with = |relative: f64| {
        [31.9, 33.0, 36.5, 40.0, 43.1, 45.9].map(|value: f64| Figure {
            value,
            interval: Some([value * (1.0 - relative), value * (1.0 + relative)]),
        })
    };
    assert!(repeating(&with(0.07), Figure::allows) < 5);
    assert_eq!(repeating(&with(0.4), Figure::allows), 6);
    let undetermined = Figure { value: 1.0, interval: None };
    assert!(undetermined.allows(&Figure { value: 1e9, interval: None }));
}
