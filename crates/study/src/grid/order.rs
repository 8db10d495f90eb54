//! What a point will take, and in which order points are begun.
//!
//! Estimates decide about time alone, never about results. A point that is twice as long as was thought makes a sweep
//! end a little later.

use super::plan::Plan;
use core::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_costs::{ExecutionModel, Situation};
use warmcore_scenario::grid::{AnyScenario, PointOfGrid};
use warmcore_scenario::{PacketScenario, RunQueueScenario};
use warmcore_units::PerSecond;

/// Points are begun longest first within so many of them: what is in memory before its file is written stays bounded,
/// and the end of a sweep, where order matters, lies in one window.
pub const WINDOW: u64 = 65_536;

/// What a simulated packet takes, in seconds: 17 to 21 million a second were measured for 8 processors.
const PACKET: f64 = 55e-9;
/// What it takes more where the streams' state is beyond the caches, for each doubling above [`NEAR_STREAMS`].
const FAR_STREAM: f64 = 20e-9;
const NEAR_STREAMS: f64 = 4_096.0;
/// The packets with which a capacity is measured, about.
const CAPACITY_PACKETS: f64 = 200_000.0;
/// The square of the normal deviate of a 95% interval.
const DEVIATE_SQUARED: f64 = 3.84;

/// The numbers of all points that are not `known`, in the order in which they are begun, with what each will take, in
/// seconds; `None` once `stop` is set.
pub fn order(plan: &Plan, known: impl Fn(u64) -> bool, stop: &AtomicBool) -> Option<Vec<(u64, f64)>> {
    let count = plan.points().count();
    let mut all = Vec::new();
    for window in (0..count).step_by(WINDOW as usize) {
        let numbers = (window..count.min(window + WINDOW)).filter(|&index| !known(index));
        let point = |index| (!stop.load(Ordering::Relaxed)).then(|| (index, plan.seconds(index)));
        let mut points: Vec<(u64, f64)> = numbers.map(point).collect::<Option<_>>()?;
        // Equal ones stay in the order of the grid.
        points.sort_by(|one, other| other.1.total_cmp(&one.1));
        all.extend(points);
    }
    Some(all)
}

impl Plan {
    /// What the point of this `index` will take on one processor, in seconds, roughly; 0 for one that cannot be read.
    #[must_use]
    pub fn seconds(&self, index: u64) -> f64 {
        let Ok(PointOfGrid { scenario, load }) = self.points().read(index) else { return 0.0 };
        match scenario {
            AnyScenario::Packet(scenario) => self.packets(&scenario, load) * packet_time(&scenario),
            AnyScenario::RunQueue(scenario) => runqueue_seconds(&scenario),
            // Nothing is known of the program but how many processors execute it.
            AnyScenario::Cluster(scenario) => {
                f64::from(scenario.machine.nodes) * f64::from(scenario.machine.processors) * 0.05
            }
        }
    }

    /// Packets that are simulated until the mean delay is known as precisely as asked for. The mean of a queue's delays
    /// settles the later the nearer it is to its capacity.
    fn packets(&self, scenario: &PacketScenario, load: Option<f64>) -> f64 {
        let run = &scenario.run;
        let load = load.or_else(|| self.load(scenario)).unwrap_or(0.5);
        if load > 1.05 {
            return CAPACITY_PACKETS;
        }
        let left = (1.0 - load).max(0.02);
        let spread = 0.1 + 2.0 * load * scenario.traffic.batch.mean / (left * left);
        let wanted = DEVIATE_SQUARED * spread / (run.precision * run.precision) / f64::from(run.replications);
        let each = wanted.max(1e5).min(run.max_packets as f64);
        CAPACITY_PACKETS + each * f64::from(run.replications)
    }

    /// The load, as far as it can be told without simulating: of processors that find their caches warm.
    fn load(&self, scenario: &PacketScenario) -> Option<f64> {
        let PerSecond(rate) = scenario.rate_per_s?;
        let PacketScenario { profile, scheduling, processors, .. } = scenario;
        // A model is made of tables: a million points share a few.
        let key = format!("{profile:?} {:?} {processors}", scheduling.approach);
        let warm = self.warm.get(key, || Ok::<_, Infallible>(self.warm(scenario)));
        Some(rate * warm.ok()?? / f64::from(*processors))
    }

    fn warm(&self, scenario: &PacketScenario) -> Option<f64> {
        let profile = self.profile(&scenario.profile).ok()?;
        let approach = scenario.scheduling.approach.costs();
        let model = ExecutionModel::new(profile, approach, scenario.processors).ok()?;
        Some(model.receive_hot(Situation::default()).secs())
    }
}

fn packet_time(scenario: &PacketScenario) -> f64 {
    let streams = f64::from(scenario.traffic.streams);
    PACKET + FAR_STREAM * (streams / NEAR_STREAMS).log2().max(0.0)
}

/// A run queue's time goes with what its processes do.
fn runqueue_seconds(scenario: &RunQueueScenario) -> f64 {
    let seconds = scenario.seconds.unwrap_or(60.0);
    f64::from(scenario.runs) * seconds * f64::from(scenario.machine.cpus) * 1e-4
}
