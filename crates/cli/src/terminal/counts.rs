//! The processor's counters, model by model.

use warmcore_measure::Model;
use warmcore_measure::counts::CountedResults;
use warmcore_stats::Spread;

/// A table of the counts for each `unit` of work; what was not counted is said to be so.
pub(super) fn table(unit: &str, models: impl Iterator<Item = (Model, CountedResults)>) -> String {
    let headed = format!("for each {unit}");
    let mut table = super::table([headed.as_str(), "cycles", "instructions", "L2 misses", "L3 misses"]);
    for (model, CountedResults { cycles, instructions, l2_misses, l3_misses }) in models {
        let [l2, l3] = [l2_misses, l3_misses].map(|misses| shown(misses, 6));
        table.add_row([model.to_string(), shown(cycles, 3), shown(instructions, 3), l2, l3]);
    }
    table.to_string()
}

fn shown(spread: Option<Spread>, digits: usize) -> String {
    spread.map_or_else(|| "not counted".to_owned(), |spread| format!("{spread:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_counted_is_said_not_to_be() {
        let spread = |values: [f64; 3]| Some(Spread(values.to_vec()));
        let counted = CountedResults {
            cycles: spread([0.5, 0.75, 0.625]),
            instructions: None,
            l2_misses: spread([0.001, 0.002, 0.003]),
            l3_misses: None,
        };
        let shown = table("bit", [(Model::Full, counted)].into_iter());
        for part in ["for each bit", "full", "0.625 [0.500, 0.750]", "0.002000 [0.001000", "not counted"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}
