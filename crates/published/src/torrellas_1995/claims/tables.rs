//! Tables II to IV and the standard columns of Table V: what the models are calibrated on, and so how well they fit.

use super::super::predictions::{Policy, Predictions};
use super::super::standard::{IDLE, RELATIVE, SHARE, SLICE_MS, of_application, share_of_bin, share_of_end};
use super::super::tables::{App, TableV, Workload};
use super::claim;
use crate::{Basis, Claim, Finding, Reading, Value, ValueAt};
use warmcore_sim::runqueue::Tally;
use warmcore_units::Estimate;

pub(super) fn all() -> Vec<Claim<Predictions>> {
    let fitted = |claim| Claim { basis: Basis::Fitted, ..claim };
    [characteristics(), standard_columns()].concat().into_iter().map(fitted).collect()
}

fn characteristics() -> Vec<Claim<Predictions>> {
    vec![
        claim(
            "table-ii",
            "3.1.2",
            &["table-2"],
            "Dispatch intervals of the applications are distributed as in Table II.",
            "35 percentages",
            (Reading::Within(SHARE), "points"),
            "our percentage of intervals of at least 1 ms less the published one, for each application in a workload of its \
             kind under the standard scheduler; the models are built from this table",
            |p| {
                cells(
                    |app, bin| {
                        let published = app.characteristics().intervals[bin];
                        let ours = of_application(p, app, |one| share_of_bin(&one.dispatches, bin))?;
                        Some((format!("bin {}", bin + 1), ours, published))
                    },
                    7,
                )
            },
        ),
        claim(
            "table-iii",
            "3.1.3",
            &["table-3"],
            "Dispatch intervals end for the reasons of Table III.",
            "20 percentages (system call, TLB fault and other taken together)",
            (Reading::Within(SHARE), "points"),
            "our percentage less the published one; repeated tries for a lock count as yields, which the table may leave out with \
             intervals below 1 ms",
            |p| {
                cells(
                    |app, cause| {
                        let published = app.characteristics().ends[cause];
                        let ours = of_application(p, app, |one| share_of_end(one, cause))?;
                        let name = ["quantum", "semaphore", "synchronisation", "others"][cause];
                        Some((name.to_owned(), ours, published))
                    },
                    4,
                )
            },
        ),
        claim(
            "table-iv-slices",
            "3.2.1",
            &["table-4"],
            "Median effective time slices are those of Table IV.",
            "30, 25, 20, 5 and 3 ms",
            (Reading::Within(SLICE_MS), "ms"),
            "our median of slices of at least 1 ms less the published one, under the standard scheduler",
            |p| {
                cells(
                    |app, _| {
                        let published = app.characteristics().slice_ms;
                        let ours = of_application(p, app, |one| one.slices.median_ms(1.0))?;
                        Some((String::new(), ours, published))
                    },
                    1,
                )
            },
        ),
    ]
}

fn standard_columns() -> Vec<Claim<Predictions>> {
    vec![
        claim(
            "table-v-standard-time",
            "5.1",
            &["table-5"],
            "Execution times under the standard scheduler are those of Table V.",
            "16.8, 17.3, 14.6, 52.6, 43.1, 60.0, 64.8 s",
            (Reading::Within(100.0 * RELATIVE), "%"),
            "our time less the published one, in percent of that; the amount of work is calibrated on it",
            |p| standard(p, |row| row.standard[0], Tally::mean_completion_s, true),
        ),
        claim(
            "table-v-standard-misses",
            "5.1",
            &["table-5"],
            "Misses under the standard scheduler are those of Table V.",
            "11.2, 11.1, 20.7, 49.7, 46.2, 70.5, 141.4 million",
            (Reading::Within(100.0 * RELATIVE), "%"),
            "our misses less the published ones, in percent of these; calibrated on them but for Pmake + Matrix and Pmake + \
             Cholesky, whose applications have their rates from other rows",
            |p| standard(p, |row| row.standard[1], |run| run.misses() / 1e6, true),
        ),
        claim(
            "table-v-standard-idle",
            "5.1",
            &["table-5"],
            "Idle time under the standard scheduler is that of Table V.",
            "2, 2, 2, 4, 10, 21, 12 %",
            (Reading::Within(IDLE), "points"),
            "our idle percentage less the published one; calibrated on it but for Pmake + Matrix and Pmake + Cholesky",
            |p| standard(p, |row| row.standard[2], |run| 100.0 * run.idle, false),
        ),
    ]
}

/// Our value less the published one, for each application and each of `columns` columns.
fn cells(
    cell: impl Fn(App, usize) -> Option<(String, Estimate<f64>, f64)>,
    columns: usize,
) -> Option<Finding> {
    let at = |(app, column): (App, usize)| {
        let (place, ours, published) = cell(app, column)?;
        let value = Estimate { mean: ours.mean - published, ..ours };
        Some(ValueAt::new(place, value).in_case(app.name()))
    };
    let all = App::ALL.into_iter().flat_map(|app| (0..columns).map(move |column| (app, column)));
    Finding::new(all.filter_map(at).collect(), "")
}

/// Our value under the standard scheduler less the published one, at every workload.
fn standard(
    predictions: &Predictions,
    published: fn(TableV) -> f64,
    of: fn(&Tally) -> f64,
    relative: bool,
) -> Option<Finding> {
    let at = |workload: Workload| {
        let published = published(workload.row()?);
        let ours = predictions.estimate(workload, Policy::Standard, of)?;
        let unit = if relative { published / 100.0 } else { 1.0 };
        let [mean, half] = [(ours.mean - published) / unit, ours.half() / unit];
        Some(ValueAt::new(workload.name(), Value { mean, low: mean - half, high: mean + half }))
    };
    Finding::new(Workload::TABLE_V.into_iter().filter_map(at).collect(), "")
}
