//! What a reader should know about the costs.

use warmcore_costs::ServerCosts;
use warmcore_costs::profile::Measured;
use warmcore_costs::server::AloneTimes;

/// A half-width of the costs, as a fraction of the mean, above which a reader is warned. On an idle machine it is a tenth.
const POORLY_KNOWN: f64 = 0.3;

/// A warning if the costs are known so badly that predictions say little.
pub(super) fn poorly_known(costs: &ServerCosts) -> Option<String> {
    let relative = |time: &Measured| Some(time.half_width?.0 / time.mean.0);
    let mut all: Vec<f64> =
        costs.alone.iter().filter_map(|row: &AloneTimes| relative(&row.worker_cpu)).collect();
    all.sort_by(f64::total_cmp);
    let stolen = relative(&costs.source.stolen).filter(|relative| *relative > POORLY_KNOWN);
    let median = all.get(all.len() / 2).copied().filter(|median| *median > POORLY_KNOWN);
    let known = match (median, stolen) {
        (None, None) => return None,
        (Some(median), _) => {
            format!("the costs are known to ± {:.0}% in half of the situations", median * 100.0)
        }
        (None, Some(stolen)) => format!(
            "what a source takes from its processor for a request is {} ± {:.0}%",
            costs.source.stolen.mean,
            stolen * 100.0
        ),
    };
    Some(format!(
        "{known}: the machine had other work when they were measured, so capacities and predictions are uncertain, and loads given \
         as fractions lie elsewhere; measure again when it is idle"
    ))
}
