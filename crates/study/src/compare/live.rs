//! The source of measured figures: runs on this machine or, in tests, a simulation of them.

use super::CompareError;
use super::figures::{LoadFigures, Repeated, RunFigures};
use super::nearness::Nearness;
use super::quiet::ObservedRun;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_measure::Timer;
use warmcore_runtime::from_scenario::Setup;
use warmcore_runtime::{Report, Steady, WARM_UP};
use warmcore_scenario::PacketScenario;
use warmcore_units::Nanos;

/// Runs of a load. Together they last as long as the scenario says, and each at least `SHORTEST_RUN`.
pub const ROUNDS: usize = 5;
/// A shorter run would hardly be more than its beginning.
const SHORTEST_RUN: Duration = Duration::from_millis(120);
/// In a run with many packets, one packet in this many is timed.
const TIMED_ONE_IN: u32 = 11;
/// The number of packets that counts as many.
const MANY_PACKETS: f64 = 20_000.0;
/// Mean packets per stream before a run counts.
const SETTLING: f64 = 5.0;
/// The longest time to wait for them.
const LONGEST_WARM_UP: Nanos = Nanos(2e9);
/// With fewer undisturbed packets than this, disturbed packets count as well.
const MIN_UNDISTURBED: u64 = 20;

/// Something to run scenarios on.
pub trait Testbed {
    /// Runs `scenario` once; without a rate, with as many packets as can be processed. `None` if no packet
    /// was finished.
    ///
    /// # Errors
    /// If it cannot be run.
    fn run(&mut self, scenario: &PacketScenario) -> Result<ObservedRun<Option<RunFigures>>, CompareError>;
}

/// Runs `scenario` in [`ROUNDS`]; `None` if no run had a result.
///
/// # Errors
/// If it cannot be run.
pub fn repeat(
    testbed: &mut dyn Testbed,
    scenario: &PacketScenario,
) -> Result<Option<Repeated>, CompareError> {
    let mut runs = Vec::new();
    for _ in 0..ROUNDS {
        runs.extend(testbed.run(scenario)?.non_empty());
    }
    Ok(Repeated::from_runs(&runs))
}

/// This machine.
#[derive(Debug)]
pub struct ThisMachine<'a> {
    /// The costs, for policies that use them.
    pub profile: &'a Profile,
    /// Decides which runs count, by the distance of the processors.
    pub nearness: Nearness<'a>,
    /// The calibration's clock.
    pub timer: Timer,
}

impl Testbed for ThisMachine<'_> {
    fn run(&mut self, scenario: &PacketScenario) -> Result<ObservedRun<Option<RunFigures>>, CompareError> {
        let Self { profile, nearness, timer } = self;
        nearness.run_near(|| {
            let span = Duration::from_secs_f64(scenario.live.seconds / ROUNDS as f64).max(SHORTEST_RUN);
            let packets = scenario.rate_per_s.map_or(f64::INFINITY, |rate| rate.0 * span.as_secs_f64());
            let mut setup = Setup::new(scenario, profile)?;
            setup.options.stopwatch =
                Some(timer.stopwatch(if packets < MANY_PACKETS { 1 } else { TIMED_ONE_IN }));
            let warm_up = warm_up(scenario);
            let length = span + Duration::from_secs_f64(warm_up.secs());
            let report = setup.run(|watch| {
                watch.wait(length);
            })?;
            let disturbed = report.steady_after(warm_up).disturbed();
            let steady = steady(&report, warm_up);
            let outcome = (!steady.is_empty()).then(|| observed(&steady));
            Ok(ObservedRun { outcome, disturbed, near: true })
        })
    }
}

/// How long the first packets of streams take to be over: they find neither sessions nor their pages, which
/// is rare in the steady state that is predicted.
fn warm_up(scenario: &PacketScenario) -> Nanos {
    let first = scenario.rate_per_s.map_or(Nanos::ZERO, |rate| {
        Nanos::from_secs(SETTLING * f64::from(scenario.traffic.streams) / rate.0)
    });
    Nanos(first.0.clamp(WARM_UP.0, LONGEST_WARM_UP.0))
}

fn steady(report: &Report, warm_up: Nanos) -> Steady {
    let steady = report.steady_after(warm_up);
    if steady.total().clean.packets() < MIN_UNDISTURBED { report.steady_or_all(warm_up) } else { steady }
}

fn observed(steady: &Steady) -> RunFigures {
    let total = steady.total();
    let all = total.clean.packets() as f64;
    RunFigures {
        figures: LoadFigures {
            delay: steady.delay(),
            p50: steady.quantile(0.5),
            p99: steady.quantile(0.99),
            stack: steady.stack(),
            situations: total.clean.situations.map(|served| served.packets as f64 / all),
        },
        overhead: steady.packet_overhead(),
        throughput: steady.throughput().mean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_units::PerSecond;

    /// Of 40 packets of a run, a fifth were the first of their streams.
    #[test]
    fn a_slow_run_counts_once_most_streams_have_been_seen() {
        let mut scenario = PacketScenario::default();
        scenario.traffic.streams = 8;
        let mut at = |rate: f64| {
            scenario.rate_per_s = Some(PerSecond(rate));
            warm_up(&scenario)
        };
        assert_eq!(at(100.0), Nanos::from_secs(0.4));
        assert_eq!(at(1e6), WARM_UP);
        assert_eq!(at(1.0), LONGEST_WARM_UP);
    }
}
