//! What a simulated point says.

use super::{Figures, Said, rate, time};
use crate::failure::Failure;
use serde_json::{Map, Value};
use warmcore_costs::Situation;
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Column, Columns};
use warmcore_scenario::{PacketScenario, Process};
use warmcore_sim::packet::{ClassDelays, Outcome, PointResult};
use warmcore_study::point::{columns, ended};
use warmcore_units::Estimate;

/// Reads a figure from an outcome.
type Shown = fn(&Outcome) -> Estimate<f64>;

impl Said {
    /// What the point of `scenario` came to; its table is one row, as `warmcore sweep` writes it.
    /// A `policy` of one's own stands there by its name.
    pub(crate) fn of_point(
        scenario: &PacketScenario,
        policy: Option<&str>,
        result: &PointResult,
    ) -> Result<Self, Failure> {
        let outcome = result.outcome.as_ref();
        // Clients of a closed loop wait for their answers, so no queue grows for ever.
        let open = Some(result.capacity).filter(|_| !matches!(scenario.traffic.process, Process::Closed(_)));
        let mut figures = Figures::default();
        let estimates: [(_, _, Shown); 6] = [
            ("delay", "ns", |of| time(of.delay)),
            ("service", "ns", |of| time(of.service)),
            ("p50", "ns", |of| time(of.quantiles.p50)),
            ("p99", "ns", |of| time(of.quantiles.p99)),
            ("p999", "ns", |of| time(of.quantiles.p999)),
            ("utilisation", "", |of| of.utilisation),
        ];
        for (name, unit, of) in estimates {
            figures.estimate(name, unit, outcome.map(of));
        }
        figures.quantity("rate", "/s", Some(result.rate.0));
        figures.quantity("throughput", "/s", outcome.map(|of| of.throughput.0));
        figures.estimate("capacity", "/s", open.map(|capacity| rate(capacity.rate)));
        figures.estimate("capacity_service", "ns", open.map(|capacity| time(capacity.service)));
        let lost = outcome.and_then(|of| of.extensions.lost);
        figures.estimate("lost_fraction", "", lost);
        let classes = outcome.map(|of| of.extensions.classes);
        figures.estimates(
            "class_delays",
            "ns",
            classes.iter().flat_map(ClassDelays::as_slice).map(|of| time(*of)),
        );
        figures.quantity("fairness", "", outcome.map(|of| of.fairness.jain));
        figures.quantity("least_stream_delay", "ns", outcome.map(|of| of.fairness.least.0));
        figures.quantity("greatest_stream_delay", "ns", outcome.map(|of| of.fairness.greatest.0));
        figures.plain("saturated", warmcore_study::point::is_saturated(result));
        figures.plain("precise", outcome.is_some_and(Outcome::is_precise));
        figures.plain("ended", ended(outcome));
        figures.plain("packets", outcome.map(|of| of.packets));
        figures.plain("warmup_packets", outcome.map(|of| of.warmup));
        figures.plain("situations", outcome.map(|of| situations(&of.situations)));
        let broken = |error: ColumnsError| Failure::Broken(error.to_string());
        let mut table = columns(&[(scenario.clone(), *result)]).map_err(broken)?;
        if let Some(policy) = policy {
            let named = |column: &Column| match &column.name[..] {
                "policy" => Column::texts("policy", [Some(policy.to_owned())]),
                _ => column.clone(),
            };
            table = Columns::new(table.columns().iter().map(named).collect()).map_err(broken)?;
        }
        Ok(Self { figures, table })
    }
}

/// How many packets found each situation, by its name.
fn situations(counts: &[u64; Situation::COUNT]) -> Map<String, Value> {
    let of = |situation: Situation| (situation.to_string(), counts[situation.index()].into());
    Situation::all().map(of).collect()
}
