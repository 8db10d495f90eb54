//! Compares two ways to run the same traffic, on the same arrivals (common random numbers). What the arrivals
//! do to both cancels out, so the interval of the difference is far narrower than those of the two delays.

use crate::packet::point::{Point, PointError};
use crate::packet::run::GrowthRule;
use rayon::prelude::*;
use warmcore_costs::Profile;
use warmcore_scenario::{Mixing, OpenTraffic, PacketScenario, Process, Scheduling};
pub use warmcore_stats::replications::PairedComparison;
use warmcore_stats::{Interval, Replications};
use warmcore_units::Fault;

/// Runs of each alternative, at least.
pub const REPLICATIONS: u64 = 20;
/// Packets of each run, unless the scenario gives their number or a warm-up that wants more.
pub const PACKETS: u64 = 200_000;

/// How much the mean delay of `scenario` differs from that of `other` (`scenario` minus `other`, in
/// nanoseconds), over [`REPLICATIONS`] runs of [`PACKETS`] packets, or over as many runs as the scenario asks
/// for. `None` if either is saturated. For heavy-tailed arrivals no interval holds, and half-widths are
/// infinite.
///
/// # Errors
/// As [`Point::new`], for either scenario; and for a trace, which is a single run without an interval.
pub fn compare(
    scenario: &PacketScenario,
    other: Scheduling,
    traffic: &OpenTraffic,
    profile: &Profile,
) -> Result<Option<PairedComparison>, PointError> {
    if matches!(scenario.traffic.process, Process::Trace(_)) {
        let expected = "a random arrival process: a trace is a single run, so nothing shows how much other runs \
                        would differ";
        return Err(Fault::new("traffic.process", "trace", expected).into());
    }
    let other = PacketScenario { scheduling: other, ..scenario.clone() };
    let point = Point::new(scenario, traffic, profile)?;
    let other = Point::new(&other, traffic, profile)?;
    let (Some(ours), Some(theirs)) = (mean_delays(&point)?, mean_delays(&other)?) else { return Ok(None) };
    let has_interval = point.mixing() != Mixing::Slowly;
    Ok(ours
        .against(&theirs)
        .map(|comparison| if has_interval { comparison } else { without_intervals(comparison) }))
}

/// The mean delay of each run; `None` if the host is saturated.
fn mean_delays(point: &Point) -> Result<Option<Replications>, PointError> {
    if point.is_saturated(&point.capacity()?) {
        return Ok(None);
    }
    let precision = point.precision().fixed_length(point.compared_packets());
    let runs = (0..point.replications().max(REPLICATIONS))
        .into_par_iter()
        .map(|replication| point.run(replication, precision, GrowthRule::Continue))
        .collect::<Result<Vec<_>, PointError>>()?;
    let saturated = runs.iter().all(|run| run.grows);
    Ok((!saturated).then(|| runs.iter().map(|run| run.outcome.delay.mean.0).collect()))
}

fn without_intervals(comparison: PairedComparison) -> PairedComparison {
    let open = |interval| Interval { half_width: f64::INFINITY, ..interval };
    PairedComparison { difference: open(comparison.difference), relative: open(comparison.relative) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_scenario::ProcessorPolicy;
    use warmcore_units::PerSecond;

    fn at(rate: f64) -> PacketScenario {
        PacketScenario { rate_per_s: Some(PerSecond(rate)), ..PacketScenario::default() }
    }

    fn against(scenario: &PacketScenario, policy: ProcessorPolicy) -> Option<PairedComparison> {
        let other = Scheduling { policy, ..scenario.scheduling };
        compare(scenario, other, &scenario.traffic.generated().unwrap(), &Profile::sgi_challenge_xl())
            .unwrap()
    }

    /// Wired-Streams against MRU at low load, on the same arrivals: the difference is significant, although
    /// the intervals of the two delays overlap.
    #[test]
    fn common_arrivals_narrow_the_difference() {
        let same = against(&at(2_000.0), ProcessorPolicy::WiredStreams).unwrap();
        assert_eq!((same.difference.mean, same.difference.half_width), (0.0, 0.0));
        let slower = against(&at(2_000.0), ProcessorPolicy::Mru).unwrap();
        assert!(slower.relative.mean > slower.relative.half_width, "{slower:?}");
        assert!(slower.relative.half_width < 0.01, "{slower:?}");
    }

    #[test]
    fn a_saturated_host_has_no_difference() {
        assert_eq!(against(&at(1e6), ProcessorPolicy::Mru), None);
    }
}
