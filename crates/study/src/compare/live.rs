//! Where measured figures come from: runs on this machine or, in tests, anything that says what a run would.

use super::CompareError;
use super::figures::{Figures, Observed, Repeated};
use super::nearness::Nearness;
use super::quiet::Ran;
use std::path::Path;
use std::thread;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_measure::Timer;
use warmcore_runtime::from_scenario::Setup;
use warmcore_runtime::{Report, Steady};
use warmcore_scenario::PacketScenario;

/// Runs of a load; together they last as long as the scenario says, and each at least `SHORTEST`.
pub const ROUNDS: usize = 5;
/// What lasts less is hardly more than its beginning.
const SHORTEST: Duration = Duration::from_millis(120);
/// One packet in so many is timed, where there are many.
const SPARSE: u32 = 11;
/// Packets of a run that are many.
const MANY: f64 = 20_000.0;
/// Undisturbed packets without which those that were disturbed count as well.
const ENOUGH: u64 = 20;

/// What scenarios are run on.
pub trait Host {
    /// Runs `scenario` once: with as many packets as can be done if it has no rate. Nothing comes of it if
    /// no packet was finished.
    ///
    /// # Errors
    /// If it cannot be run.
    fn run(&mut self, scenario: &PacketScenario) -> Result<Ran<Option<Observed>>, CompareError>;
}

/// Runs `scenario` in [`ROUNDS`]; `None` if nothing came of any.
///
/// # Errors
/// If it cannot be run.
pub fn repeat(host: &mut dyn Host, scenario: &PacketScenario) -> Result<Option<Repeated>, CompareError> {
    let mut runs = Vec::new();
    for _ in 0..ROUNDS {
        runs.extend(host.run(scenario)?.told());
    }
    Ok(Repeated::from_runs(&runs))
}

/// This machine.
#[derive(Debug)]
pub struct ThisMachine<'a> {
    /// For policies that weigh costs.
    pub profile: &'a Profile,
    /// Where files of the traffic are looked for.
    pub base: &'a Path,
    /// Runs count where the processors are as near as when the profile was measured.
    pub nearness: Nearness<'a>,
    /// The calibration's clock.
    pub timer: Timer,
}

impl Host for ThisMachine<'_> {
    fn run(&mut self, scenario: &PacketScenario) -> Result<Ran<Option<Observed>>, CompareError> {
        let Self { profile, base, nearness, timer } = self;
        nearness.hold(|| {
            let span = Duration::from_secs_f64(scenario.live.seconds / ROUNDS as f64).max(SHORTEST);
            let packets = scenario.rate_per_s.map_or(f64::INFINITY, |rate| rate.0 * span.as_secs_f64());
            let mut setup = Setup::of(scenario, profile, base)?;
            setup.options.stopwatch = Some(timer.stopwatch(if packets < MANY { 1 } else { SPARSE }));
            let report = setup.run(|_| thread::sleep(span))?;
            let disturbed = report.steady().disturbed();
            let steady = steady(&report);
            let outcome = (!steady.is_empty()).then(|| observed(&steady));
            Ok(Ran { outcome, disturbed, near: true })
        })
    }
}

fn steady(report: &Report) -> Steady {
    let steady = report.steady();
    if steady.total().clean.packets() < ENOUGH { report.steady_or_all() } else { steady }
}

fn observed(steady: &Steady) -> Observed {
    let total = steady.total();
    let all = total.clean.packets() as f64;
    Observed {
        figures: Figures {
            delay: steady.delay(),
            p50: steady.quantile(0.5),
            p99: steady.quantile(0.99),
            stack: steady.stack(),
            situations: total.clean.situations.map(|served| served.packets as f64 / all),
        },
        beside: steady.beside(),
        throughput: steady.throughput().mean,
    }
}
