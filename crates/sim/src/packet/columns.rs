//! Outcomes as columns of a table, in the same form wherever points are written.

use crate::packet::capacity::Capacity;
use crate::packet::outcome::Outcome;
use warmcore_record::Column;
use warmcore_units::{Estimate, Nanos};

/// Reads a column's value from an outcome.
type Shown<T> = fn(&Outcome) -> T;

/// The columns of `points`, one row per point. Values that a saturated point does not have are null, and so
/// are unknown half-widths.
#[must_use]
pub fn columns(points: &[(Capacity, Option<Outcome>)]) -> Vec<Column> {
    // Where that is not decided, it is neither true nor false.
    let saturated = |point: &(Capacity, Option<Outcome>)| match point.1 {
        Some(outcome) => outcome.steady().map(|_| false),
        None => Some(true),
    };
    let mut columns = vec![Column::flags("saturated", points.iter().map(saturated))];
    let times: [(&str, Shown<Estimate<Nanos>>); 5] = [
        ("delay", |of| of.delay),
        ("service", |of| of.service),
        ("p50_delay", |of| of.quantiles.p50),
        ("p99_delay", |of| of.quantiles.p99),
        ("p999_delay", |of| of.quantiles.p999),
    ];
    for (name, of) in times {
        let (mean, half_width) = match name {
            "delay" | "service" => (format!("mean_{name}"), format!("{name}_half_width")),
            quantile => (quantile.to_owned(), format!("{quantile}_half_width")),
        };
        let rows = || points.iter().map(|point| point.1.as_ref().map(of));
        columns.push(Column::floats(&mean, "ns", rows().map(|row| row.map(|time| time.mean.0))));
        let half = rows().map(|row| finite(row?.half_width.map(|half| half.0)));
        columns.push(Column::floats(&half_width, "ns", half));
    }
    let numbers: [(&str, &str, Shown<Option<f64>>); 6] = [
        ("utilisation", "", |of| Some(of.utilisation.mean)),
        ("utilisation_half_width", "", |of| finite(of.utilisation.half_width)),
        ("throughput", "/s", |of| Some(of.throughput.0)),
        ("fairness", "", |of| Some(of.fairness.jain)),
        ("least_stream_delay", "ns", |of| Some(of.fairness.least.0)),
        ("greatest_stream_delay", "ns", |of| Some(of.fairness.greatest.0)),
    ];
    for (name, unit, of) in numbers {
        columns.push(Column::floats(name, unit, points.iter().map(|point| of(point.1.as_ref()?))));
    }
    let lost = |point: &(Capacity, Option<Outcome>)| point.1.as_ref()?.extensions.lost;
    columns.push(Column::floats("lost_fraction", "", points.iter().map(|of| Some(lost(of)?.mean))));
    let half = points.iter().map(|of| finite(lost(of)?.half_width));
    columns.push(Column::floats("lost_fraction_half_width", "", half));
    let counts: [(&str, Shown<u64>); 2] = [("warm_up_packets", |of| of.warmup), ("packets", |of| of.packets)];
    for (name, of) in counts {
        let rows = points.iter().map(|point| i64::try_from(of(point.1.as_ref()?)).ok());
        columns.push(Column::integers(name, rows));
    }
    let precise = points.iter().map(|point| Some(point.1.as_ref()?.is_precise()));
    columns.push(Column::flags("precise", precise));
    let capacity = points.iter().map(|point| Some(point.0.rate.mean.0));
    columns.push(Column::floats("capacity", "/s", capacity));
    let half = points.iter().map(|point| finite(point.0.rate.half_width.map(|half| half.0)));
    columns.push(Column::floats("capacity_half_width", "/s", half));
    columns
}

fn finite(half_width: Option<f64>) -> Option<f64> {
    half_width.filter(|half| half.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_record::Columns;
    use warmcore_units::PerSecond;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let capacity = Capacity {
            rate: Estimate::new(PerSecond(1.0), PerSecond(f64::INFINITY)),
            service: Estimate::new(Nanos(1.0), Nanos(1.0)),
        };
        assert!(Columns::new(columns(&[(capacity, None)])).is_ok());
    }
}
