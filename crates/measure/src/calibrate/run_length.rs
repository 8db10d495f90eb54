//! Chooses the number of packets per run, so that the least number of rounds fits the budget.

use crate::calibrate::plan::CalibrationPlan;
use crate::calibrate::quantity::MeasuredValue;
use std::collections::BTreeMap;
use warmcore_units::Nanos;

/// A run that compares two kinds of packets, as those of the pools do, has one of each.
const FEWEST_COMPARED: u32 = 2;
/// Fewest packets of a run.
pub(crate) const LEAST_PACKETS: u32 = 10;
/// A hot packet with its hand-over takes less than this.
const HOT_PACKET: Nanos = Nanos(1_500.0);

/// Packets of a run for each cold state (`None` is hot), so that the least number of rounds fits the
/// budget. If full runs do not all fit, the states share a round's time evenly, except that none gets
/// more than it needs.
pub(crate) fn packets_per_run(
    quantities: &[MeasuredValue],
    cold_costs: &[Nanos],
    plan: &CalibrationPlan,
) -> BTreeMap<Option<usize>, u32> {
    /// Fraction of the budget that the least number of rounds may take.
    const SHARE: f64 = 0.8;
    let mut demands: BTreeMap<Option<usize>, f64> = BTreeMap::new();
    for quantity in quantities {
        let steps = quantity.script(1, plan.packets()).pattern.len() as f64;
        let cold = quantity.cold().and_then(|level| cold_costs.get(level).copied()).unwrap_or(Nanos::ZERO);
        let packet = cold + HOT_PACKET * steps;
        *demands.entry(quantity.cold()).or_default() += packet.secs() * f64::from(plan.packets_per_run);
    }
    let mut remaining = plan.budget.as_secs_f64() * SHARE / f64::from(plan.least_runs.max(1));
    let mut by_demand: Vec<(Option<usize>, f64)> = demands.into_iter().collect();
    by_demand.sort_by(|a, b| a.1.total_cmp(&b.1));
    let states = by_demand.len();
    let mut packets = BTreeMap::new();
    for (position, (state, demand)) in by_demand.into_iter().enumerate() {
        let granted = demand.min(remaining / (states - position) as f64);
        remaining -= granted;
        let full = plan.packets_per_run.max(FEWEST_COMPARED);
        let fitting = (f64::from(full) * granted / demand).round() as u32;
        packets.insert(state, fitting.clamp(LEAST_PACKETS.min(full), full));
    }
    packets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caches::hierarchy::Hierarchy;
    use std::time::Duration;
    use warmcore_topology::synthetic;
    use warmcore_units::CpuId;

    fn quantities() -> Vec<MeasuredValue> {
        let machine = synthetic::virtual_machine(2);
        MeasuredValue::all(&Hierarchy::new(&machine, CpuId(0)).unwrap(), 2)
    }

    #[test]
    fn runs_are_full_where_the_budget_allows() {
        let plan = CalibrationPlan { budget: Duration::from_secs(100_000), ..CalibrationPlan::standard() };
        let packets = packets_per_run(&quantities(), &[Nanos(15e3), Nanos(300e3), Nanos(6e6)], &plan);
        assert!(packets.values().all(|&packets| packets == plan.packets_per_run), "{packets:?}");
    }

    #[test]
    fn expensive_states_get_fewer_packets_and_cheap_ones_all_of_theirs() {
        for plan in [CalibrationPlan::standard(), CalibrationPlan::quick()] {
            let costs = [Nanos(15e3), Nanos(300e3), Nanos(6e6)];
            let packets = packets_per_run(&quantities(), &costs, &plan);
            assert_eq!(packets[&None], plan.packets_per_run);
            assert_eq!(packets[&Some(0)], plan.packets_per_run);
            assert!(packets[&Some(2)] < packets[&Some(1)]);
            assert!(packets[&Some(2)] >= LEAST_PACKETS);
        }
    }

    #[test]
    fn no_budget_still_measures_something() {
        let plan = CalibrationPlan { budget: Duration::ZERO, ..CalibrationPlan::quick() };
        let packets = packets_per_run(&quantities(), &[Nanos(15e3), Nanos(300e3), Nanos(6e6)], &plan);
        assert!(packets.values().all(|&packets| packets == LEAST_PACKETS));
    }
}
