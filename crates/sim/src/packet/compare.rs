//! Compares two ways to process the same traffic, on the same arrivals (common random numbers). What the arrivals
//! do to both cancels out, so the interval of the difference is far narrower than those of the two delays.

use crate::packet::capacity::Capacity;
use crate::packet::needs::forgets_start;
use crate::packet::point::{Point, PointError};
use crate::packet::run::GrowthRule;
use rayon::prelude::*;
use warmcore_costs::Profile;
use warmcore_scenario::{Mixing, OpenTraffic, PacketScenario, Process, Scheduling};
use warmcore_stats::Interval;
use warmcore_stats::Replications;
pub use warmcore_stats::replications::PairedComparison;
use warmcore_units::{Fault, PerSecond};

/// Runs of each alternative, at least.
pub const REPLICATIONS: u64 = 20;
/// Packets of each run, unless the scenario gives their number or a warm-up that wants more.
pub const PACKETS: u64 = 200_000;

/// How much the mean delay of `scenario` differs from that of `other` (`scenario` minus `other`, in
/// nanoseconds), over [`REPLICATIONS`] runs of [`PACKETS`] packets, or over as many runs as the scenario asks
/// for. `None` if either is saturated. For heavy-tailed arrivals, and for runs that are short for the load of either, no interval
/// holds, and half-widths are infinite.
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
    let (Some(ours), Some(theirs)) = (point.compared_delays()?, other.compared_delays()?) else {
        return Ok(None);
    };
    Ok(point.compare(&ours, &theirs))
}

impl Point<'_> {
    /// The runs of each alternative in a comparison, and the packets of each run.
    #[must_use]
    pub fn compared_runs(&self) -> (u64, u64) {
        (self.replications().max(REPLICATIONS), self.compared_packets())
    }

    /// The mean delay of each run of a comparison, in nanoseconds; `None` if the host is saturated. Points of equal seed, rate
    /// and traffic see the same packets.
    ///
    /// # Errors
    /// If the traffic cannot be generated.
    pub fn compared_delays(&self) -> Result<Option<ComparedDelays>, PointError> {
        let capacity = self.capacity()?;
        if self.is_saturated(&capacity) {
            return Ok(None);
        }
        let (replications, packets) = self.compared_runs();
        let precision = self.precision().fixed_length(packets);
        let runs = (0..replications)
            .into_par_iter()
            .map(|replication| self.run(replication, precision, GrowthRule::Continue))
            .collect::<Result<Vec<_>, PointError>>()?;
        if runs.iter().all(|run| run.grows) {
            return Ok(None);
        }
        let delays = runs.iter().map(|run| run.outcome.delay.mean.0).collect();
        let limited_by = (!self.is_bounded()).then_some(&capacity);
        Ok(Some(ComparedDelays::new(delays, packets, limited_by, self.rate)))
    }

    /// How much the mean delays `ours` of this point's runs differ from `theirs`, of another on the same packets. `None` if
    /// these are not as many. Half-widths are infinite where no interval holds.
    #[must_use]
    pub fn compare(&self, ours: &ComparedDelays, theirs: &ComparedDelays) -> Option<PairedComparison> {
        let has_interval = self.mixing() != Mixing::Slowly && ours.are_steady && theirs.are_steady;
        let comparison = ours.delays.against(&theirs.delays)?;
        Some(if has_interval { comparison } else { without_intervals(comparison) })
    }
}

/// The mean delays of one alternative.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparedDelays {
    /// Of each run, in nanoseconds.
    delays: Replications,
    /// Whether runs are long for what queues remember.
    are_steady: bool,
}

impl ComparedDelays {
    /// The mean `delays` of runs of so many `packets` at `rate`, on a host that is `limited_by` a capacity unless its queues
    /// cannot grow. Near the capacity queues take long to become as long as they usually are, so that the means of short runs are
    /// all too small and agree about it: of 25 intervals of 20 runs of 20,000 packets at 0.99 of it, 14 held the difference.
    #[must_use]
    pub fn new(delays: Replications, packets: u64, limited_by: Option<&Capacity>, rate: PerSecond) -> Self {
        let is_long = |capacity: &Capacity| forgets_start(packets, rate.0 / capacity.rate.mean.0);
        let is_steady = |capacity: &Capacity| {
            capacity.suffices_for(rate) && (!capacity.is_near(rate) || is_long(capacity))
        };
        Self { delays, are_steady: limited_by.is_none_or(is_steady) }
    }
}

fn without_intervals(comparison: PairedComparison) -> PairedComparison {
    let open = |interval| Interval { half_width: f64::INFINITY, ..interval };
    PairedComparison { difference: open(comparison.difference), relative: open(comparison.relative) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_scenario::ProcessorPolicy;
    use warmcore_units::{Estimate, Nanos};

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
    fn short_runs_near_the_capacity_have_no_interval() {
        let capacity = Capacity {
            rate: Estimate::new(PerSecond(1_000.0), PerSecond(1.0)),
            service: Estimate::new(Nanos(1e6), Nanos(0.0)),
        };
        let steady = |packets, rate| {
            ComparedDelays::new(Replications::default(), packets, Some(&capacity), PerSecond(rate)).are_steady
        };
        assert!(steady(2_000, 800.0) && !steady(20_000, 950.0) && steady(100_000, 950.0));
        assert!(!steady(200_000, 990.0) && steady(2_000_000, 990.0) && !steady(u64::MAX, 999.0));
        assert!(ComparedDelays::new(Replications::default(), 1, None, PerSecond(2e3)).are_steady);
    }

    #[test]
    fn a_saturated_host_has_no_difference() {
        assert_eq!(against(&at(1e6), ProcessorPolicy::Mru), None);
    }
}
