//! Figures of runs, as in Foong, Fung & Newell 2004, their spread, and the differences between models.

use super::run::TransferCounts;
use crate::blocks::BlockRun;
use crate::counts::{Cycles, PerUnit};
use crate::model::Model;
use warmcore_stats::Spread;
use warmcore_stats::blocks::{ChangeVerdict, verdict};
use warmcore_stats::paired::{Change, change};

/// The figures of one run. `None` if the kernel does not provide what a figure needs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransferFigures {
    /// Bits received per second, over all connections.
    pub throughput: f64,
    /// The fraction of the cpus' time in which they were busy, from 0 to 1.
    pub cpu_use: f64,
    /// Bits received for each second in which a cpu was busy.
    pub bits_per_busy_second: Option<f64>,
    /// Cycles per bit, the GHz/Gbps of Foong, Fung & Newell 2004.
    pub cycles_per_bit: Option<f64>,
    /// Events that the processor counted, per bit.
    pub counted: PerUnit,
    /// The fraction of the cpus' time in which they were idle.
    pub idle: f64,
    /// The fraction that a hypervisor took.
    pub stolen: f64,
    /// The fraction in softirqs.
    pub softirq: f64,
    /// Migrations of ends on this machine between cpus, per second.
    pub migrations: Option<f64>,
    /// Preemptions of ends on this machine, per second.
    pub preemptions: f64,
    /// Receive softirqs per second.
    pub receive_softirqs: Option<f64>,
    /// Rescheduling interrupts between cpus, per second.
    pub rescheduling: Option<f64>,
}

impl TransferFigures {
    /// The figures of a run on `cpus` cpus, with cycles determined by `cycles`.
    #[must_use]
    pub fn new(tried: &BlockRun<TransferCounts>, cpus: usize, cycles: Cycles) -> Self {
        let BlockRun { outcome, spent, .. } = tried;
        let bits = outcome.bytes.iter().sum::<u64>() as f64 * 8.0;
        let (seconds, all) = (spent.time.secs(), spent.time * cpus as f64);
        let each = |count: u64| count as f64 / seconds;
        let is_busy = spent.busy.0 > 0.0 && bits > 0.0;
        let cycles = cycles.of_run(&outcome.counted, spent.busy).filter(|_| is_busy);
        let used = spent.busy / all;
        let stolen = spent.stolen / all;
        Self {
            throughput: bits / seconds,
            cpu_use: used,
            bits_per_busy_second: is_busy.then(|| bits / spent.busy.secs()),
            cycles_per_bit: cycles.map(|cycles| cycles / bits),
            counted: PerUnit::of_run(&outcome.counted, bits),
            // The kernel counts in ticks, so the fractions may add up to a little more than 1.
            idle: (1.0 - used - stolen).max(0.0),
            stolen,
            softirq: spent.softirq / all,
            migrations: outcome.scheduled.migrations.map(each),
            preemptions: each(outcome.scheduled.involuntary),
            receive_softirqs: outcome.activity.receive_softirqs.map(each),
            rescheduling: outcome.activity.rescheduling.map(each),
        }
    }
}

/// The results of a model, block by block.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// The model.
    pub model: Model,
    /// The figures of each block.
    pub blocks: Vec<TransferFigures>,
    /// Runs that other programs disturbed and that were repeated.
    pub discarded: usize,
    /// Blocks in which other programs disturbed every run.
    pub disturbed: usize,
}

impl Results {
    /// Computes the results of the runs of a `model`.
    #[must_use]
    pub fn new(model: Model, runs: &[BlockRun<TransferCounts>], cpus: usize, cycles: Cycles) -> Self {
        Self {
            model,
            blocks: runs.iter().map(|run| TransferFigures::new(run, cpus, cycles)).collect(),
            discarded: runs.iter().map(|run| run.discarded).sum(),
            disturbed: runs.iter().filter(|run| run.disturbed).count(),
        }
    }

    /// One figure of every block; `None` if it is missing in a block.
    #[must_use]
    pub fn values(&self, figure: impl Fn(&TransferFigures) -> Option<f64>) -> Option<Vec<f64>> {
        self.blocks.iter().map(figure).collect()
    }

    /// A figure, block by block.
    #[must_use]
    pub fn spread(&self, figure: impl Fn(&TransferFigures) -> Option<f64>) -> Option<Spread> {
        self.values(figure).filter(|values| !values.is_empty()).map(Spread)
    }
}

/// The difference of a figure between a model and the base, with its verdict.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Compared {
    /// The change, block by block.
    pub change: Change,
    /// The change of the base against itself.
    pub control: Change,
    /// The verdict that follows from both.
    pub verdict: ChangeVerdict,
}

/// Compares `figure` of `one` with that of `base`. `control` is the second run of the base. `None` if a
/// figure is missing in some block, or zero.
#[must_use]
pub fn compare(
    one: &Results,
    base: &Results,
    control: &Results,
    figure: impl Fn(&TransferFigures) -> Option<f64>,
) -> Option<Compared> {
    let against = |results: &Results| change(&results.values(&figure)?, &base.values(&figure)?);
    let (changed, control) = (against(one)?, against(control)?);
    Some(Compared { change: changed, control, verdict: verdict(&changed, &control) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_linux::counters::Event;
    use warmcore_linux::fake::counters::{FakeCounter, FakeSource};
    use warmcore_linux::inventory::Activity;
    use warmcore_linux::{Counters, CpuUsage, SchedulerCounts};
    use warmcore_units::{CpuId, Nanos, PerSecond};

    const CLOCK: Cycles = Cycles::AtClock(PerSecond(3e9));

    fn tried(bytes: u64, busy: f64) -> BlockRun<TransferCounts> {
        let scheduled = SchedulerCounts { voluntary: 1, involuntary: 4, migrations: None };
        let activity = Activity { receive_softirqs: Some(10), rescheduling: None };
        let source = FakeSource::zen().with("cycles", FakeCounter::always_running(4_000_000_000));
        let mut counters = Counters::open(&source, &[CpuId(0), CpuId(1)]);
        let before = counters.read();
        let counted = counters.read().since(&before);
        let outcome = TransferCounts { bytes: vec![bytes, bytes], scheduled, activity, counted };
        let spent = CpuUsage {
            time: Nanos::from_secs(2.0),
            busy: Nanos::from_secs(busy),
            stolen: Nanos::from_secs(0.4),
            ..CpuUsage::default()
        };
        BlockRun { outcome, spent, discarded: 1, disturbed: false }
    }

    #[test]
    fn figures_are_those_of_foong_2004() {
        // 16 Gbit in 2 s on two cpus, one and a half of them busy.
        let figures = TransferFigures::new(&tried(1_000_000_000, 3.0), 2, CLOCK);
        assert_eq!((figures.throughput, figures.cpu_use), (8e9, 0.75));
        assert_eq!(figures.bits_per_busy_second, Some(16e9 / 3.0));
        assert!((figures.cycles_per_bit.unwrap() - 9.0 / 16.0).abs() < 1e-12, "3 GHz · 1.5 cpus / 8 Gbps");
        assert!((figures.stolen - 0.1).abs() < 1e-12 && (figures.idle - 0.15).abs() < 1e-12);
        assert_eq!((figures.preemptions, figures.migrations), (2.0, None));
        assert_eq!((figures.receive_softirqs, figures.rescheduling), (Some(5.0), None));
        let counted = TransferFigures::new(&tried(1_000_000_000, 3.0), 2, Cycles::Counted);
        assert_eq!((counted.cycles_per_bit, counted.counted.get(Event::Cycles)), (Some(0.5), Some(0.5)));
        assert_eq!(counted.counted.get(Event::L3Misses), None);
        let silent = TransferFigures::new(&tried(1, 0.0), 2, CLOCK);
        assert_eq!((silent.bits_per_busy_second, silent.cycles_per_bit), (None, None));
    }

    #[test]
    fn a_model_is_compared_with_the_base_and_the_base_with_itself() {
        let results = |scale: f64| {
            let busy = [3.0, 3.2, 2.9, 3.1, 3.05].map(|busy| tried(1_000_000_000, busy / scale));
            Results::new(Model::Full, &busy, 2, CLOCK)
        };
        let (base, more) = (results(1.0), results(1.25));
        assert_eq!((base.discarded, base.disturbed), (5, 0));
        let efficiency = |figures: &TransferFigures| figures.bits_per_busy_second;
        let compared = compare(&more, &base, &results(1.0), efficiency).unwrap();
        assert!(
            (compared.change.mean - 0.25).abs() < 1e-9 && compared.verdict == ChangeVerdict::More,
            "{compared:?}"
        );
        let cost = compare(&more, &base, &results(1.0), |figures| figures.cycles_per_bit).unwrap();
        assert!((cost.change.mean + 0.2).abs() < 1e-9 && cost.verdict == ChangeVerdict::Less, "{cost:?}");
        assert_eq!(compare(&more, &base, &base, |figures| figures.migrations), None);
    }
}
