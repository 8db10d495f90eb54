//! How much of a result the gaps of the text allow: each open parameter takes every other value it may have, with the calibration
//! made anew and all others as chosen, and every claim is derived again. What a claim states is then *inside the range* of some
//! gaps, or outside of everything that was varied.

use super::calibrate::FitPrecision;
use super::claims;
use super::open::{Open, OpenParameter};
use super::parts::{Part, PredictionError, Steps};
use super::predictions::{Predictions, all_points};
use super::replicas::Replicas;
use crate::claim::named;
use crate::reading::Band;
use crate::verdict::Standing;
use crate::{Claim, Finding, Value};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use warmcore_sim::runqueue::Outcome;

/// Our values for a claim, in the order of its places.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Places(pub Vec<f64>);

/// Our values under another setting.
#[derive(Clone, Debug)]
pub struct Gap {
    /// The parameter that has another value.
    pub parameter: OpenParameter,
    /// The value.
    pub value: f64,
    /// Our values, by claim.
    pub values: BTreeMap<String, Places>,
}

/// Our values under all other settings.
#[derive(Clone, Debug)]
pub struct Gaps {
    /// Each setting.
    pub tried: Vec<Gap>,
    /// The chosen setting by as many runs, by claim: the same processes do the same in both.
    chosen: BTreeMap<String, Places>,
}

impl Gaps {
    /// Nothing was tried.
    pub(super) const fn none() -> Self {
        Self { tried: Vec::new(), chosen: BTreeMap::new() }
    }

    /// By how much our value for a claim at a place changes under `gap`.
    pub(super) fn shift(&self, gap: &Gap, claim: &str, place: usize) -> Option<f64> {
        let at = |values: &BTreeMap<String, Places>| values.get(claim)?.0.get(place).copied();
        Some(at(&gap.values)? - at(&self.chosen)?)
    }
}

/// How many settings are tried besides the chosen one.
pub(super) fn settings(open: &Open) -> usize {
    OpenParameter::ALL.into_iter().map(|parameter| parameter.others(open).count()).sum()
}

/// Tries every other value of every open parameter, with `runs` calibrations and runs of each point.
pub(super) fn vary(
    chosen: &Predictions,
    runs: u32,
    precision: FitPrecision,
    steps: &Steps<'_>,
) -> Result<Gaps, PredictionError> {
    let open = chosen.replicas.open;
    let all: Vec<(OpenParameter, f64)> = OpenParameter::ALL
        .into_iter()
        .flat_map(|parameter| parameter.others(&open).map(move |value| (parameter, value)))
        .collect();
    let vary = |(parameter, value): (OpenParameter, f64)| {
        let open = parameter.set(&open, value);
        let from = Some(&chosen.replicas);
        let seed = chosen.replicas.seed;
        let replicas = Replicas::new((open, seed), runs, from, precision, steps)?;
        let key = format!("values seed {seed} count {runs} {precision:?}\n{open:?}");
        let get = |part| if let Part::Values(values) = part { Some(values) } else { None };
        let values = steps.part(&key, get, Part::Values, || {
            let simulated = |point| Ok((point, Outcome { runs: replicas.simulate(point, steps)? }));
            let outcomes: Result<_, PredictionError> = all_points().into_par_iter().map(simulated).collect();
            Ok(values(&Predictions::new(replicas, outcomes?)))
        })?;
        Ok(Gap { parameter, value, values })
    };
    let tried: Result<Vec<Gap>, PredictionError> = all.into_par_iter().map(vary).collect();
    let first =
        |outcome: &Outcome| Outcome { runs: outcome.runs.iter().take(runs as usize).cloned().collect() };
    let outcomes = chosen.outcomes.iter().map(|(point, outcome)| (*point, first(outcome))).collect();
    let chosen = values(&Predictions::new(chosen.replicas.clone(), outcomes));
    Ok(Gaps { tried: tried?, chosen })
}

fn values(predictions: &Predictions) -> BTreeMap<String, Places> {
    let of = |claim: Claim<Predictions>| {
        let found = (claim.derive)(predictions)?.found;
        Some((claim.id.to_owned(), Places(found.iter().map(|at| at.value.mean).collect())))
    };
    claims::all().into_iter().filter_map(of).collect()
}

/// What is known of the places at which `finding` is not as stated: which gaps reach the stated value there, and how many runs
/// would decide what is undecided.
pub(super) fn explain(predictions: &Predictions, claim: &Claim<Predictions>, finding: &Finding) -> String {
    let band = claim.reading.band();
    let gaps = &predictions.gaps;
    let (mut reached, mut unreached, mut runs) = (Vec::new(), Vec::new(), Vec::new());
    for (place, found) in finding.found.iter().enumerate() {
        match Standing::new(found.value, band) {
            Standing::AsStated => continue,
            Standing::Undecided => {
                runs.push(named(found, &needed(predictions.runs(), found.value, band)));
                continue;
            }
            Standing::Otherwise => {}
        }
        let shifted = |gap| Some(found.value.mean + gaps.shift(gap, claim.id, place)?);
        let tried: Vec<(&str, f64)> =
            gaps.tried.iter().filter_map(|gap| Some((gap.parameter.name, shifted(gap)?))).collect();
        let reaches = |(_, value): &&(&str, f64)| (band.from..=band.to).contains(value);
        let mut names: Vec<&str> = tried.iter().filter(reaches).map(|(name, _)| *name).collect();
        names.dedup();
        if names.is_empty() {
            let values = || tried.iter().map(|(_, value)| *value).chain([found.value.mean]);
            let [least, most] =
                [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)];
            unreached.push(named(found, &format!("{least:.1} to {most:.1}")));
        } else {
            reached.push(named(found, &format!("\"{}\"", names.join("\", \""))));
        }
    }
    let mut parts = Vec::new();
    if !gaps.tried.is_empty() {
        parts
            .push(said("As published with another value of something that the text leaves open: ", &reached));
        parts.push(said("Not so with any other value of one such thing; ours is then ", &unreached));
    }
    parts.push(said("Runs that would decide: ", &runs));
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// A sentence that begins with `words` and lists `parts`; nothing without any.
fn said(words: &str, parts: &[String]) -> String {
    if parts.is_empty() { String::new() } else { format!("{words}{}.", parts.join("; ")) }
}

/// The most runs that are worth naming.
const MANY_RUNS: f64 = 10_000.0;

/// How many runs would decide on which side of the nearest end of `band` a value lies: half-widths shrink with their square root.
fn needed(runs: usize, value: Value, band: Band) -> String {
    let half = (value.high - value.low) / 2.0;
    let distance = (value.mean - band.from).abs().min((value.mean - band.to).abs());
    match runs as f64 * (half / distance).powi(2) {
        needed if needed < MANY_RUNS => format!("about {needed:.0}"),
        _ => format!("more than {MANY_RUNS}"),
    }
}
