//! Clusters beside each other: how fast each is, and which is the fastest, as far as the scatter of runs lets one say.

use super::Run;
use warmcore_scenario::ClusterScenario;
use warmcore_scenario::cluster::{ClusterDevice, ClusterMachine, Microbenchmark, Work};
use warmcore_stats::Interval;
use warmcore_stats::paired::{Change, change};
use warmcore_units::Estimate;

/// A cluster and its runs.
pub(super) struct Swept {
    pub(super) scenario: ClusterScenario,
    pub(super) runs: Vec<Run>,
    /// How many times as fast it is as the first device of the same nodes and blocks.
    pub(super) speedup: Estimate<f64>,
}

impl Swept {
    /// The mean of a figure over the runs, with its interval.
    pub(super) fn mean(&self, of: impl Fn(&Run) -> f64) -> Estimate<f64> {
        let values: Vec<f64> = self.runs.iter().map(of).collect();
        let interval = Interval::from_observations(&values);
        known(interval.mean, interval.half_width)
    }

    /// Cycles of a remote miss.
    pub(super) fn remote_miss(&self) -> Estimate<f64> {
        self.mean(|run| run.remote_miss_cycles as f64 / run.remote_misses.max(1) as f64)
    }

    /// Each run with the latency of its network.
    pub(super) fn by_latency(&self) -> impl Iterator<Item = (u64, &Run)> {
        latencies(self.scenario.machine.network_cycles, self.runs.len() as u64).zip(&self.runs)
    }

    fn costs(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.cost).collect()
    }

    /// How much faster this one is than `other`; `None` of a single run.
    fn faster_than(&self, other: &Self) -> Option<Change> {
        change(&other.costs(), &self.costs())
    }
}

/// Whether another run would give the same: a single read meets no other, and no accident decides anything.
pub(super) fn is_certain(scenario: &ClusterScenario) -> bool {
    matches!(scenario.work(), Ok(Work::Microbenchmark(Microbenchmark::RemoteRead {})))
}

/// The latencies of a network in so many runs: as it is in the middle one, and a cycle more each time.
pub(super) fn latencies(cycles: u64, runs: u64) -> impl Iterator<Item = u64> {
    let least = cycles.saturating_sub((runs - 1) / 2);
    (0..runs).map(move |run| least.saturating_add(run))
}

/// A mean with its half-width, if that is known.
fn known(mean: f64, half_width: f64) -> Estimate<f64> {
    if half_width.is_finite() { Estimate::new(mean, half_width) } else { Estimate::published(mean) }
}

/// Each cluster with its runs, beside the first device with the same nodes and blocks.
pub(super) fn compared<'a>(
    clusters: Vec<ClusterScenario>,
    runs: impl Iterator<Item = &'a [Run]>,
) -> Vec<Swept> {
    let mut swept: Vec<Swept> = Vec::with_capacity(clusters.len());
    for (scenario, runs) in clusters.into_iter().zip(runs) {
        let mut one = Swept { scenario, runs: runs.to_vec(), speedup: Estimate::published(1.0) };
        if let Some(first) = swept.iter().find(|first| first.scenario.machine == one.scenario.machine) {
            one.speedup = match one.faster_than(first) {
                Some(change) => Estimate::new(1.0 + change.mean, (change.high - change.low) / 2.0),
                None => Estimate::published(first.costs()[0] / one.costs()[0]),
            };
        }
        swept.push(one);
    }
    swept
}

/// The machines that were swept, each once.
pub(super) fn machines(swept: &[Swept]) -> Vec<ClusterMachine> {
    let mut machines: Vec<ClusterMachine> = Vec::new();
    for one in swept {
        if !machines.contains(&one.scenario.machine) {
            machines.push(one.scenario.machine);
        }
    }
    machines
}

/// What a cluster is called beside the others.
pub(super) fn label(machine: &ClusterMachine) -> String {
    format!("{} x {}, {} B", machine.nodes, machine.processors, machine.block_bytes)
}

/// What is to be known of devices that set processors aside, if there are some.
fn set_aside(swept: &[Swept]) -> &'static str {
    let sets_aside = |one: &Swept| match one.scenario.device {
        ClusterDevice::Hurricane1 { dedicated } => dedicated > 0,
        ClusterDevice::Typhoon1 { dedicated } => dedicated,
        ClusterDevice::SComa {} | ClusterDevice::Hurricane { .. } => false,
    };
    if swept.iter().any(sets_aside) {
        "Processors that hurricane-1:N and typhoon-1:fixed set aside come in addition to those that compute: such a node has more \
         processors than the others beside it."
    } else {
        ""
    }
}

/// The fastest device for each size of nodes and blocks, a sentence each.
pub(super) fn headline(swept: &[Swept]) -> String {
    let sentence = |machine: &ClusterMachine| {
        let mut ranked: Vec<&Swept> = swept.iter().filter(|one| one.scenario.machine == *machine).collect();
        ranked.sort_by(|one, other| other.speedup.mean.total_cmp(&one.speedup.mean));
        let (best, others) = ranked.split_first()?;
        Some(format!("With {}, {}", label(machine), standing(best, others)))
    };
    let mut sentences: Vec<String> = machines(swept).iter().filter_map(sentence).collect();
    sentences.extend(Some(set_aside(swept).to_owned()).filter(|text| !text.is_empty()));
    sentences.join(" ")
}

/// How the fastest stands to the `others`, the next fastest first.
fn standing(best: &Swept, others: &[&Swept]) -> String {
    let device = best.scenario.device;
    let Some(next) = others.first() else { return format!("{device} alone was simulated.") };
    if is_certain(&best.scenario) {
        let times = next.costs()[0] / best.costs()[0];
        return format!(
            "{device} takes the least time: {} takes {times:.2} times as much.",
            next.scenario.device
        );
    }
    if best.runs.len() < 2 {
        return format!("{device} was the fastest in the only run, which says nothing of another.");
    }
    let equals = |other: &&&Swept| best.faster_than(other).is_none_or(|change| change.low <= 0.0);
    let equal: Vec<String> =
        others.iter().filter(equals).map(|other| other.scenario.device.to_string()).collect();
    let Some(change) = best.faster_than(next).filter(|_| equal.is_empty()) else {
        return format!(
            "{device} is no faster than {} by more than the scatter of the runs.",
            equal.join(" or ")
        );
    };
    format!("{device} is the fastest: {change} beside {}, the next.", next.scenario.device)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(device: &str) -> ClusterScenario {
        let program = "schema = 1\n[program]\nname = \"fft\"\n";
        let scenario: ClusterScenario = toml::from_str(program).expect("a scenario");
        ClusterScenario { device: device.parse().expect("a device"), ..scenario }
    }

    fn swept(devices: [(&str, &[u64]); 2]) -> Vec<Swept> {
        let run = |&cycles: &u64| Run {
            cost: cycles as f64,
            cycles,
            references: 0,
            remote_misses: 0,
            remote_miss_cycles: 0,
            messages: 0,
            handlers: 0,
            waited_cycles: 0,
        };
        let runs = devices.map(|(_, cycles)| cycles.iter().map(run).collect::<Vec<_>>());
        let clusters = devices.map(|(device, _)| cluster(device)).to_vec();
        compared(clusters, runs.iter().map(Vec::as_slice))
    }

    #[test]
    fn latencies_lie_about_that_of_the_scenario() {
        let of = |cycles, runs| latencies(cycles, runs).collect::<Vec<_>>();
        assert_eq!((of(100, 1), of(100, 3), of(0, 3)), (vec![100], vec![99, 100, 101], vec![0, 1, 2]));
        assert_eq!(of(100, 2), [100, 101]);
    }

    #[test]
    fn the_fastest_is_named_only_if_runs_tell_it_from_the_others() {
        let clear = swept([("s-coma", &[1000, 1010, 990]), ("hurricane:2", &[800, 811, 790])]);
        let text = headline(&clear);
        assert!(text.starts_with("With 8 x 8, 64 B, hurricane:2 is the fastest: +25.0%"), "{text}");
        assert!((1.24..1.26).contains(&clear[1].speedup.mean) && clear[1].speedup.half() < 0.02);

        let close = swept([("s-coma", &[1000, 1100, 900]), ("hurricane:2", &[990, 980, 1000])]);
        let text = headline(&close);
        assert!(text.contains("by more than the scatter"), "{text}");

        let read = ClusterScenario {
            program: None,
            microbenchmark: Some(Microbenchmark::RemoteRead {}),
            ..clear[0].scenario.clone()
        };
        let mut reads = swept([("s-coma", &[440]), ("hurricane:1", &[584])]);
        reads.iter_mut().for_each(|one| {
            one.scenario = ClusterScenario { device: one.scenario.device, ..read.clone() };
        });
        assert!(
            headline(&reads).ends_with("s-coma takes the least time: hurricane:1 takes 1.33 times as much.")
        );

        let once = swept([("s-coma", &[1000]), ("hurricane:2", &[500])]);
        let text = headline(&once);
        assert!(text.contains("hurricane:2 was the fastest in the only run"), "{text}");
        assert_eq!(once[1].speedup, Estimate::published(2.0));
    }
}
