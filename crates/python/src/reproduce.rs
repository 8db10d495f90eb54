//! Published results, simulated again.

use crate::failure::{Class, Complaint, Failure};
use crate::interruptible::{interruptible, on_threads};
use crate::profile::parsed;
use crate::table::Table;
use core::ops::ControlFlow;
use pyo3::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_published::salehi_1994::{self, FigureName, ReproductionOptions};
use warmcore_published::{Evidence, Source, Summary, falsafi_1998, torrellas_1995};
use warmcore_record::{Block, Chart, Columns};
use warmcore_scenario::ProfileSource;
use warmcore_sim::cluster::Moment;
use warmcore_workload::programs::Size;

/// The sources whose evidence is simulated.
const SIMULATED: &str = "salehi-1994, torrellas-1995 or falsafi-1998";
/// Those whose evidence is measured, which takes wires or builds of its own.
const MEASURED: [&str; 2] = ["foong-2004", "mosberger-1996"];

/// What a reproduction came to.
struct Reproduced {
    summary: String,
    charts: String,
    claims: Columns,
    points: Columns,
}

/// What a caller asks for.
struct Asked {
    figures: Vec<String>,
    quick: bool,
    seed: Option<u64>,
    precision: Option<f64>,
    profile: Option<String>,
}

/// Simulates the `figures` of a source again; all of them if none is named. Returns a summary and the figures' charts as JSON,
/// the claims with their verdicts, and the points.
#[pyfunction]
#[pyo3(signature = (source, figures, quick, seed = None, precision = None, profile = None))]
pub(crate) fn reproduce(
    py: Python<'_>,
    source: &str,
    figures: Vec<String>,
    quick: bool,
    seed: Option<u64>,
    precision: Option<f64>,
    profile: Option<String>,
) -> PyResult<(String, String, Table, Table)> {
    let asked = Asked { figures, quick, seed, precision, profile };
    asked.check(source)?;
    let reproduced = interruptible(py, |stop| {
        on_threads(|| match source {
            "salehi-1994" => salehi(&asked, &stop),
            "torrellas-1995" => torrellas(&asked, &stop),
            _ => falsafi(&asked, &stop),
        })
    });
    let Reproduced { summary, charts, claims, points } = reproduced?;
    Ok((summary, charts, Table::new(claims)?, Table::new(points)?))
}

impl Asked {
    fn check(&self, source: &str) -> Result<(), Failure> {
        match source {
            "salehi-1994" => return Ok(()),
            "torrellas-1995" | "falsafi-1998" => {}
            measured if MEASURED.contains(&measured) => {
                let message = format!(
                    "{measured} is measured, not simulated: `warmcore reproduce {measured}` does that"
                );
                return Err(Failure::plain(Class::Other, message));
            }
            other => {
                let complaint = Complaint {
                    message: format!("`source` is \"{other}\", expected {SIMULATED}"),
                    field: Some("source".to_owned()),
                    found: Some(other.to_owned()),
                    expected: Some(SIMULATED.to_owned()),
                };
                return Err(Failure::Unusable(Class::Other, complaint));
            }
        }
        let of_salehi = [("precision", self.precision.is_some()), ("profile", self.profile.is_some())];
        match of_salehi.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                Err(Failure::plain(Class::Other, format!("`{name}` is given, expected none with {source}")))
            }
            None => Ok(()),
        }
    }

    fn figures<E>(&self, source: &Source<E>) -> Result<Vec<&'static str>, Failure> {
        source.figures_named(&self.figures).map_err(|error| {
            let field = Some("figure".to_owned());
            Failure::Unusable(
                Class::Other,
                Complaint { message: error.to_string(), field, ..Complaint::default() },
            )
        })
    }
}

fn salehi(asked: &Asked, stop: &AtomicBool) -> Result<Reproduced, Failure> {
    let source = salehi_1994::source();
    let figures = asked.figures(&source)?;
    let mut options = if asked.quick { ReproductionOptions::quick() } else { ReproductionOptions::default() };
    if let Some(text) = &asked.profile {
        options.profile = parsed(text)?;
        options.source = ProfileSource::File(Path::new("profile.toml").to_owned());
    }
    options.precision = asked.precision.unwrap_or(options.precision);
    options.seed = asked.seed.unwrap_or(options.seed);
    options.figures = Some(figures.iter().filter_map(|name| FigureName::named(name)).collect());
    let found = salehi_1994::reproduce(options, |_| None, |_, _| Ok(()), |_, _| {}, stop);
    let found = found.map_err(|error| match error {
        salehi_1994::ReproduceError::Interrupted => Failure::Interrupted(None),
        salehi_1994::ReproduceError::Point(error) => error.into(),
        salehi_1994::ReproduceError::Fault(fault) => fault.into(),
        error => Failure::plain(Class::Profile, error),
    })?;
    reproduced(source, found, figures)
}

fn torrellas(asked: &Asked, stop: &AtomicBool) -> Result<Reproduced, Failure> {
    use torrellas_1995::{Precision, PredictionError, Progress, predict, source};
    let source = source();
    let figures = asked.figures(&source)?;
    let mut precision = if asked.quick { Precision::QUICK } else { Precision::FULL };
    if !figures.contains(&"open") {
        precision.varied = 0;
    }
    let progress = Progress { known: &|_| None, keep: &|_, _| Ok(()), tell: &|_, _| {}, stop };
    let found = predict(asked.seed.unwrap_or(1), precision, progress).map_err(|error| match error {
        PredictionError::Interrupted => Failure::Interrupted(None),
        error => Failure::plain(Class::Other, error),
    })?;
    reproduced(source, found, figures)
}

fn falsafi(asked: &Asked, stop: &AtomicBool) -> Result<Reproduced, Failure> {
    use falsafi_1998::{Options, ReproduceError, reproduce, source};
    let source = source();
    let figures = asked.figures(&source)?;
    let size = if asked.quick { Size::Quick } else { Size::Published };
    let watch = || {
        |_: Moment| match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let options = Options { figures: figures.clone(), size };
    let found =
        reproduce(&options, watch, |_| None, |_, _| Ok(()), |_| {}, stop).map_err(|error| match error {
            ReproduceError::Interrupted => Failure::Interrupted(None),
            error @ ReproduceError::Keep(_) => Failure::plain(Class::Other, error),
        })?;
    reproduced(source, found, figures)
}

fn reproduced<E: Evidence + Clone>(
    source: Source<E>,
    evidence: E,
    figures: Vec<&'static str>,
) -> Result<Reproduced, Failure> {
    let broken = |error: &dyn std::fmt::Display| Failure::Broken(error.to_string());
    let blocks = figures.iter().flat_map(|figure| evidence.blocks(figure));
    let charts: Vec<Chart> = blocks
        .filter_map(|block| match block {
            Block::Chart(chart) => Some(chart),
            _ => None,
        })
        .collect();
    let charts = serde_json::to_string(&charts).map_err(|error| broken(&error))?;
    let reproduction = source.conclude(evidence, figures);
    let summary = Summary::new(&reproduction);
    Ok(Reproduced {
        charts,
        claims: summary.columns().map_err(|error| broken(&error))?,
        points: reproduction.evidence.results().map_err(|error| broken(&error))?,
        summary: serde_json::to_string(&summary).map_err(|error| broken(&error))?,
    })
}
