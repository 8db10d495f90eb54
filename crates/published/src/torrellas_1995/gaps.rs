//! How much of a result the gaps of the text allow: each open parameter takes every other value it may have, with the calibration
//! made anew and all others as chosen, and every claim is derived again. What a claim states is then *inside the range* of some
//! gaps, or outside of everything that was varied.

use super::calibrate::{Calibration, FitPrecision};
use super::claims;
use super::open::{Open, OpenParameter};
use super::parts::{Part, PredictionError, Steps};
use super::predictions::{Predictions, all_points, simulated};
use crate::{Claim, Finding};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// How many settings are tried besides the chosen one.
pub(super) fn settings(open: &Open) -> usize {
    OpenParameter::ALL.into_iter().map(|parameter| parameter.others(open).count()).sum()
}

/// Tries every other value of every open parameter, with `runs` runs of each point.
pub(super) fn vary(
    chosen: &Predictions,
    runs: u32,
    precision: FitPrecision,
    steps: &Steps<'_>,
) -> Result<Vec<Gap>, PredictionError> {
    let open = chosen.calibration.open;
    let all: Vec<(OpenParameter, f64)> = OpenParameter::ALL
        .into_iter()
        .flat_map(|parameter| parameter.others(&open).map(move |value| (parameter, value)))
        .collect();
    let vary = |(parameter, value): (OpenParameter, f64)| {
        let open = parameter.set(&open, value);
        let key = format!("values seed {} runs {runs}\n{open:?}", chosen.calibration.seed);
        let get = |part| if let Part::Values(values) = part { Some(values) } else { None };
        let values = steps.part(&key, get, Part::Values, || {
            let from = Some(&chosen.calibration);
            let calibration = Calibration::new(open, chosen.calibration.seed, from, precision, steps)?;
            steps.check()?;
            let outcomes = simulated(&calibration, &all_points(), runs)?;
            Ok(values(&Predictions::new(calibration, outcomes)))
        })?;
        steps.step();
        Ok(Gap { parameter, value, values })
    };
    all.into_par_iter().map(vary).collect()
}

fn values(predictions: &Predictions) -> BTreeMap<String, Places> {
    let of = |claim: Claim<Predictions>| {
        let found = (claim.derive)(predictions)?.found;
        Some((claim.id.to_owned(), Places(found.iter().map(|at| at.value.mean).collect())))
    };
    claims::all().into_iter().filter_map(of).collect()
}

/// What varying the gaps says of the places at which `finding` is not as stated.
pub(super) fn explain(gaps: &[Gap], claim: &Claim<Predictions>, finding: &Finding) -> String {
    let band = claim.reading.band();
    let mut reached: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut outside = Vec::new();
    for (place, found) in finding.found.iter().enumerate() {
        if band.from <= found.value.low && found.value.high <= band.to {
            continue;
        }
        let tried = || gaps.iter().filter_map(|gap| Some((gap, *gap.values.get(claim.id)?.0.get(place)?)));
        let mut names: Vec<&str> = tried()
            .filter(|(_, value)| (band.from..=band.to).contains(value))
            .map(|(gap, _)| gap.parameter.name)
            .collect();
        names.dedup();
        let at = found.at();
        for name in &names {
            reached.entry(name).or_default().push(at.clone());
        }
        let range = tried().fold([found.value.mean; 2], |[least, most], (_, value)| {
            [least.min(value), most.max(value)]
        });
        if names.is_empty() && !gaps.is_empty() {
            outside.push(format!("{at} ({:.1} to {:.1})", range[0], range[1]));
        }
    }
    let mut parts = Vec::new();
    for (name, places) in reached {
        let places: Vec<String> = places.into_iter().filter(|place| !place.is_empty()).collect();
        let at = if places.is_empty() { String::new() } else { format!(": {}", places.join(", ")) };
        parts.push(format!("Inside the range of \"{name}\"{at}."));
    }
    if !outside.is_empty() {
        parts.push(format!("Outside of everything that was varied: {}.", outside.join(", ")));
    }
    parts.join(" ")
}
