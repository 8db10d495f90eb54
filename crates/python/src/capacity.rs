//! The highest rate of a host.

use crate::document::AnyScenario;
use crate::failure::{Class, Failure};
use crate::figures::{self, Figures, rate, time};
use crate::interruptible::{interruptible, on_threads};
use crate::models::{HighestRate, Models};
use crate::profile::chosen;
use crate::table::Table;
use pyo3::prelude::*;
use std::time::Instant;
use warmcore_costs::Profile;
use warmcore_record::Column;
use warmcore_scenario::PacketScenario;
use warmcore_sim::packet::limit::{LimitVerdict, RateWithin, Trial, rate_within};
use warmcore_sim::packet::{Bound, ServerKind, highest_bound};
use warmcore_units::{Estimate, Fault, Nanos, PerSecond};

/// The rate that names the random numbers, /s: that of `warmcore_sim`, so that a policy of one's own sees the same packets.
const NAMING_RATE: PerSecond = PerSecond(1e9);

/// The highest rate that the host of a JSON `document` keeps up with under its `models`; and the highest at which the p99 of the
/// delay is at most `p99_below_ns`, which needs models that have names. Returns the figures as JSON, and the rates that were tried for that.
#[pyfunction]
#[pyo3(signature = (document, models, profile = None, p99_below_ns = None))]
pub(crate) fn capacity(
    py: Python<'_>,
    document: &str,
    models: Models,
    profile: Option<&str>,
    p99_below_ns: Option<f64>,
) -> PyResult<(String, Table)> {
    let AnyScenario::Packet(scenario) = AnyScenario::from_json("packet", document)? else {
        return Err(Failure::plain(Class::Scenario, "expected a scenario of packets").into());
    };
    if scenario.extensions().are_bounded() {
        let expected = "neither `closed` traffic nor `queues.limit`: no queue grows for ever, so there is no highest rate";
        return Err(Failure::from(Fault::new("scenario", "bounded", expected)).into());
    }
    let costs = chosen(&scenario.profile, profile)?;
    let began = Instant::now();
    let (bound, within) = match (models.are_code(), p99_below_ns) {
        (true, Some(limit)) => {
            let expected =
                "none with a policy or costs of one's own: only the highest rate is found for them";
            return Err(Failure::from(Fault::new("p99_below_ns", limit, expected)).into());
        }
        (true, None) => (own(py, *scenario, &models, &costs)?, None),
        (false, limit) => named(py, &scenario, &costs, limit.map(Nanos))?,
    };
    let mut figures = figures_of(&bound, within.as_ref());
    figures.set_wall_time(began.elapsed().as_secs_f64());
    let tried = within.map(|within| within.trials).unwrap_or_default();
    Ok((figures.to_json()?, Table::new(figures::table(columns(&tried))?)?))
}

/// The highest rate under models of one's own.
fn own(
    py: Python<'_>,
    mut scenario: PacketScenario,
    models: &Models,
    costs: &Profile,
) -> Result<Bound, Failure> {
    scenario.rate_per_s = Some(NAMING_RATE);
    let traffic = models.traffic(&mut scenario)?;
    models.run(py, &scenario, traffic, costs, HighestRate)
}

/// The highest rate under the policy and the costs that `scenario` names, and the highest within `limit`.
fn named(
    py: Python<'_>,
    scenario: &PacketScenario,
    costs: &Profile,
    limit: Option<Nanos>,
) -> Result<(Bound, Option<RateWithin>), Failure> {
    let found = interruptible(py, |stop| {
        on_threads(|| {
            let traffic = scenario.traffic.open()?.stopped_by(stop);
            let bound = highest_bound(scenario, &traffic, costs)?;
            let within = limit
                .map(|limit| rate_within(scenario, &traffic, costs, bound.capacity, limit))
                .transpose()?;
            Ok((bound, within))
        })
    });
    found.map_err(|failure| failure.with_field(|field| (field == "p99_below").then_some("p99_below_ns")))
}

fn figures_of(bound: &Bound, within: Option<&RateWithin>) -> Figures {
    let mut figures = Figures::default();
    figures.estimate("capacity", "/s", Some(rate(bound.capacity.rate)));
    figures.estimate("service", "ns", Some(time(bound.capacity.service)));
    figures.estimate("all_processors", "/s", Some(rate(bound.all)));
    let busiest = bound.busiest.as_ref();
    figures.estimate("busiest_server", "/s", busiest.map(|server| rate(server.rate)));
    figures.plain(
        "bound_by",
        match busiest {
            None => "all processors".to_owned(),
            Some(server) => match server.kind {
                ServerKind::Stack => format!("stack {}", server.number),
                ServerKind::Processor => format!("processor {}", server.number),
            },
        },
    );
    figures.estimate("within_limit", "/s", within.and_then(RateWithin::rate).map(rate));
    figures
}

fn columns(trials: &[Trial]) -> Vec<Column> {
    let trials = || trials.iter();
    let p99 = trials().map(|trial| trial.p99.map(time));
    let slower = trials().map(|trial| trial.slower);
    let unknown = Estimate { mean: f64::NAN, half_width: None };
    let known = |value: Option<Estimate<f64>>| value.unwrap_or(unknown);
    let mut columns = vec![Column::floats("rate", "/s", trials().map(|trial| Some(trial.rate.0)))];
    columns.extend(figures::estimates("p99", "ns", &p99.map(known).collect::<Vec<_>>()));
    columns.extend(figures::estimates("slower", "", &slower.map(known).collect::<Vec<_>>()));
    columns.push(Column::integers("packets", trials().map(|trial| i64::try_from(trial.packets).ok())));
    let verdict = |verdict| match verdict {
        LimitVerdict::Within => "within",
        LimitVerdict::Beyond => "beyond",
        LimitVerdict::Undecided => "undecided",
    };
    columns.push(Column::texts("verdict", trials().map(|trial| Some(verdict(trial.verdict).to_owned()))));
    columns
}
