//! Decides whether a model differs from no affinity by more than no affinity differs from itself (the
//! A/A difference).

use super::monitor::{Monitor, ResourceUse};
use super::promise::PromiseFinding;
use super::work::Work;
use super::{ModelRuns, ObservedLoad};
use crate::blocks::BlockRun;
use crate::counts::{Coverage, Cycles, PerUnit};
use crate::model::Model;
use warmcore_linux::Counters;
use warmcore_linux::counters::Event;
use warmcore_stats::Spread;
use warmcore_stats::blocks::{ChangeVerdict, verdict};
use warmcore_stats::paired::{Change, change};

/// The findings of a verification.
#[derive(Clone, Debug)]
pub struct VerificationFindings {
    /// The work that was measured.
    pub work: Work,
    /// The findings of each model, no affinity first.
    pub models: Vec<ModelFindings>,
    /// Changes of no affinity against itself (A/A).
    pub control: Changes,
    /// How cycles were determined.
    pub cycles: Cycles,
    /// Which events the processor's counters counted.
    pub coverage: Coverage,
    /// Runs that other programs disturbed, and that were repeated.
    pub discarded: usize,
    /// The runs that the findings rest on.
    pub runs: usize,
    /// Those of them that were disturbed.
    pub disturbed: usize,
    /// What became of what the plan promises; `None` if it promises nothing.
    pub promise: Option<PromiseFinding>,
    /// Whether the plan is in force, to stay.
    pub kept: bool,
}

/// The findings of one model.
#[derive(Clone, Debug)]
pub struct ModelFindings {
    /// The model.
    pub model: Model,
    /// Work per second.
    pub rate: Spread,
    /// Cpus that were busy.
    pub busy_cpus: Spread,
    /// Work per second of a busy cpu.
    pub per_cpu: Spread,
    /// Cycles of the cpus per bit (GHz/Gbps); `None` if cycles are unknown, or work is not in bits.
    pub cycles_per_bit: Option<Spread>,
    /// Events that the processor counted per unit of work, run by run.
    pub counted: Vec<PerUnit>,
    /// Resources that the runs used.
    pub resources: Vec<ResourceUse>,
    /// Changes against no affinity, with verdicts; `None` for no affinity itself.
    pub against_none: Option<(Changes, ChangeVerdicts)>,
}

/// Changes of one model against another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Changes {
    /// In work per second.
    pub rate: Change,
    /// In work per second of a busy cpu.
    pub per_cpu: Change,
}

/// The verdicts on both changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChangeVerdicts {
    /// On work per second.
    pub rate: ChangeVerdict,
    /// On work per second of a busy cpu.
    pub per_cpu: ChangeVerdict,
}

/// The conclusion about a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conclusion {
    /// More work is done, or the same with less cpu time.
    Gain,
    /// Less work is done, or the same with more cpu time.
    Loss,
    /// More work in one respect, less in the other.
    Mixed,
    /// No difference is visible.
    NotVisible,
    /// Other programs disturbed most runs: nothing is decided.
    Disturbed,
}

impl VerificationFindings {
    /// Computes the findings of the runs in `tried`, by model. `models` begins with no affinity and its
    /// control. `None` with fewer than two blocks, or if no cpu was busy in one.
    pub(super) fn new(
        models: &[Model],
        tried: &[ModelRuns],
        work: &Work,
        monitor: &Monitor,
        counters: &Counters,
    ) -> Option<Self> {
        let [none, again, others @ ..] = tried else { return None };
        let counted: Vec<_> = tried.iter().flatten().map(|tried| &tried.outcome.resources.counted).collect();
        let cycles = Cycles::new(counted.iter().copied(), monitor.clock_rate());
        let told_by = if work.is_bits() { cycles } else { Cycles::Unknown };
        let base = Series::new(none);
        let control = Series::new(again).against(&base)?;
        let found = |(&model, of_it): (&Model, &ModelRuns)| {
            let series = Series::new(of_it);
            let changes = series.against(&base)?;
            Some(series.found(model, of_it, told_by, Some((changes, changes.verdicts(&control)))))
        };
        let found: Option<Vec<ModelFindings>> = models[2..].iter().zip(others).map(found).collect();
        let mut all = vec![base.found(Model::None, none, told_by, None)];
        all.extend(found?);
        let runs = || tried.iter().flatten();
        Some(Self {
            work: work.clone(),
            models: all,
            control,
            cycles,
            coverage: Coverage::new(counters, &counted),
            discarded: runs().map(|tried| tried.discarded).sum(),
            runs: runs().count(),
            disturbed: runs().filter(|tried| tried.disturbed).count(),
            promise: None,
            kept: false,
        })
    }

    /// The conclusion about the plan as a whole.
    #[must_use]
    pub fn conclusion(&self) -> Conclusion {
        if self.disturbed * 2 > self.runs {
            return Conclusion::Disturbed;
        }
        self.of_plan().map_or(Conclusion::NotVisible, |(_, verdicts)| verdicts.conclusion())
    }

    /// What the plan as a whole changes; `None` if it was not tried.
    #[must_use]
    pub fn of_plan(&self) -> Option<(Changes, ChangeVerdicts)> {
        self.models.iter().find(|found| found.model == Model::Full)?.against_none
    }
}

impl ModelFindings {
    /// Counts of an event per unit of work; `None` if they are missing in a run.
    #[must_use]
    pub fn counted(&self, event: Event) -> Option<Spread> {
        self.counted.iter().map(|counted| counted.get(event)).collect::<Option<_>>().map(Spread)
    }
}

impl Changes {
    fn verdicts(&self, control: &Self) -> ChangeVerdicts {
        ChangeVerdicts {
            rate: verdict(&self.rate, &control.rate),
            per_cpu: verdict(&self.per_cpu, &control.per_cpu),
        }
    }
}

impl ChangeVerdicts {
    fn conclusion(self) -> Conclusion {
        use ChangeVerdict::{Less, More, NotVisible};
        match (self.rate, self.per_cpu) {
            (More, Less) | (Less, More) => Conclusion::Mixed,
            (More, _) | (_, More) => Conclusion::Gain,
            (Less, _) | (_, Less) => Conclusion::Loss,
            (NotVisible, NotVisible) => Conclusion::NotVisible,
        }
    }
}

/// The figures of one model, block by block.
struct Series {
    rate: Vec<f64>,
    busy_cpus: Vec<f64>,
    per_cpu: Vec<f64>,
}

impl Series {
    fn new(tried: &ModelRuns) -> Self {
        let of = |figure: fn(f64, f64) -> f64| {
            tried.iter().map(|tried| figure(tried.outcome.rate, tried.outcome.resources.busy_cpus)).collect()
        };
        Self {
            rate: of(|rate, _| rate),
            busy_cpus: of(|_, busy| busy),
            per_cpu: of(|rate, busy| rate / busy),
        }
    }

    fn against(&self, base: &Self) -> Option<Changes> {
        Some(Changes {
            rate: change(&self.rate, &base.rate)?,
            per_cpu: change(&self.per_cpu, &base.per_cpu)?,
        })
    }

    fn found(
        &self,
        model: Model,
        tried: &ModelRuns,
        cycles: Cycles,
        against_none: Option<(Changes, ChangeVerdicts)>,
    ) -> ModelFindings {
        let work = |run: &BlockRun<ObservedLoad>| run.outcome.rate * run.spent.time.secs();
        let cost = |run: &BlockRun<ObservedLoad>| {
            Some(cycles.of_run(&run.outcome.resources.counted, run.spent.busy)? / work(run))
        };
        let counted =
            |run: &BlockRun<ObservedLoad>| PerUnit::of_run(&run.outcome.resources.counted, work(run));
        ModelFindings {
            model,
            cycles_per_bit: tried.iter().map(cost).collect::<Option<_>>().map(Spread),
            counted: tried.iter().map(counted).collect(),
            resources: tried.iter().map(|tried| tried.outcome.resources.clone()).collect(),
            against_none,
            rate: Spread(self.rate.clone()),
            busy_cpus: Spread(self.busy_cpus.clone()),
            per_cpu: Spread(self.per_cpu.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_linux::CpuUsage;
    use warmcore_linux::fake::counters::{FakeCounter, FakeSource};
    use warmcore_units::{CpuId, Nanos, PerSecond};

    fn tried(rates: [f64; 5], busy_cpus: f64, counters: &mut Counters) -> ModelRuns {
        let run = |rate| {
            let before = counters.read();
            let resources = ResourceUse {
                busy_cpus,
                softirq_cpus: 0.1,
                stolen_cpus: 0.0,
                receive_softirqs: PerSecond(1.0),
                rescheduling: None,
                migrations: None,
                counted: counters.read().since(&before),
            };
            let time = Nanos::from_secs(2.0);
            let spent = CpuUsage { time, busy: time * busy_cpus, ..CpuUsage::default() };
            BlockRun {
                outcome: ObservedLoad { rate, packets: None, resources },
                spent,
                discarded: 0,
                disturbed: false,
            }
        };
        rates.map(run).to_vec()
    }

    /// On one cpu at 200 Hz.
    fn findings_by(source: &FakeSource, rates: [f64; 5], busy_cpus: f64) -> VerificationFindings {
        let mut counters = Counters::open(source, &[CpuId(0)]);
        let none = tried([100.0, 102.0, 98.0, 101.0, 99.0], 2.0, &mut counters);
        let again = tried([101.0, 100.0, 99.0, 102.0, 98.0], 2.0, &mut counters);
        let full = tried(rates, busy_cpus, &mut counters);
        let work = Work::Interfaces { names: vec!["a".to_owned()], load: None };
        let models = [Model::None, Model::None, Model::Full];
        let monitor = Monitor::at(PerSecond(200.0));
        VerificationFindings::new(&models, &[none, again, full], &work, &monitor, &counters)
            .expect("five blocks")
    }

    fn findings(rates: [f64; 5], busy_cpus: f64) -> VerificationFindings {
        findings_by(&FakeSource::zen(), rates, busy_cpus)
    }

    #[test]
    fn a_gain_must_exceed_the_control() {
        let gained = findings([130.0, 133.0, 127.0, 131.0, 129.0], 2.0);
        assert_eq!(gained.conclusion(), Conclusion::Gain);
        let same = findings([101.0, 101.0, 99.0, 101.0, 100.0], 2.0);
        assert_eq!(same.conclusion(), Conclusion::NotVisible);
        assert_eq!(findings([80.0, 81.0, 79.0, 81.0, 79.0], 2.0).conclusion(), Conclusion::Loss);
        // The same work with half of the cpus' time.
        assert_eq!(findings([100.0, 101.0, 99.0, 101.0, 99.0], 1.0).conclusion(), Conclusion::Gain);
        assert_eq!(findings([130.0, 133.0, 127.0, 131.0, 129.0], 4.0).conclusion(), Conclusion::Mixed);
        let cost = gained.models[0].cycles_per_bit.as_ref().expect("a clock rate and bits");
        assert_eq!((cost.median(), gained.cycles), (4.0, Cycles::AtClock(PerSecond(200.0))));
        let models: Vec<Model> = gained.models.iter().map(|found| found.model).collect();
        assert_eq!(models, [Model::None, Model::Full]);
    }

    #[test]
    fn nothing_is_decided_where_most_runs_were_disturbed() {
        let gained = findings([130.0, 133.0, 127.0, 131.0, 129.0], 2.0);
        assert_eq!(gained.runs, 15);
        for (disturbed, expected) in [(7, Conclusion::Gain), (8, Conclusion::Disturbed)] {
            assert_eq!(VerificationFindings { disturbed, ..gained.clone() }.conclusion(), expected);
        }
    }

    #[test]
    fn what_the_processor_counted_is_of_each_bit_and_better_than_its_clock_rate() {
        let source = FakeSource::zen()
            .with("cycles", FakeCounter::always_running(1000))
            .with("instructions", FakeCounter::always_running(400));
        let counted = findings_by(&source, [100.0; 5], 2.0);
        assert_eq!(counted.cycles, Cycles::Counted);
        let full = &counted.models[1];
        // 200 bits in a run of 2 s.
        assert_eq!(full.cycles_per_bit.as_ref().map(Spread::median), Some(5.0));
        assert_eq!(full.counted(Event::Instructions).map(|spread| spread.median()), Some(2.0));
        assert!(full.counted(Event::L2Misses).is_none() && counted.coverage.is_any());
    }
}
