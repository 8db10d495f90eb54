//! A comparison in a terminal.

use super::{estimate, table};
use comfy_table::Table;
use warmcore_study::compare::differences::{Difference, differences};
use warmcore_study::compare::point::{JudgedQuantity, PredictionModel};
use warmcore_study::compare::present::{error_words, headline, load, meaning_of_marks, percent};
use warmcore_study::compare::{Compared, Comparison};

/// Every point of `comparison`.
pub(crate) fn summary(comparison: &Comparison) -> String {
    let all = &comparison.compared;
    let mut text = format!("\n{}\nErrors are predicted over measured, less one.\n", points(all));
    for meaning in meaning_of_marks(all) {
        text += &format!("{meaning}\n");
    }
    let differences = differences(all);
    if let (Some(first), false) = (all.first(), differences.is_empty()) {
        text += &format!("\nCompared with {}:\n{}\n", first.scheduling, changes(&differences));
    }
    for costs in &comparison.costs {
        text += &format!(
            "\nThe runtime costs {} a packet that follows another and {} one that finds its processor at other work, \
             as fitted under {} at {}.",
            estimate(&costs.deciding),
            estimate(&costs.starting),
            costs.scheduling,
            costs.rate,
        );
    }
    text += &format!("\n{}\n", headline(comparison));
    text
}

/// The errors of every point.
fn points(all: &[Compared]) -> Table {
    let mut points = table([
        "scheduling",
        "load",
        "measured",
        "mean",
        "stack",
        "p99",
        "null: mean",
        "null: stack",
        "judged",
    ]);
    for compared in all {
        for point in &compared.points {
            let measured =
                point.figures().map_or_else(|| "not known".to_owned(), |figures| estimate(&figures.delay));
            let of_null = |quantity| error_words(point, quantity, PredictionModel::Null);
            let of_model = |quantity| error_words(point, quantity, PredictionModel::Caches);
            points.add_row([
                compared.scheduling.to_string(),
                load(point),
                measured,
                of_model(JudgedQuantity::Delay),
                of_model(JudgedQuantity::Stack),
                of_model(JudgedQuantity::P99),
                of_null(JudgedQuantity::Delay),
                of_null(JudgedQuantity::Stack),
                point
                    .judgement(PredictionModel::Caches)
                    .map_or_else(|| "no".to_owned(), |verdict| verdict.to_string()),
            ]);
        }
    }
    points
}

/// How much another scheduling changes.
fn changes(differences: &[Difference]) -> Table {
    let mut changes = table(["mean delay", "rate", "measured", "predicted", "null", "judged"]);
    for difference in differences {
        changes.add_row([
            difference.scheduling.to_string(),
            difference.rate.to_string(),
            percent(&difference.measured),
            percent(&difference.predicted),
            difference.null.as_ref().map_or_else(String::new, percent),
            difference.judged().to_string(),
        ]);
    }
    changes
}
