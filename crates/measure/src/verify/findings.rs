//! Whether a model differs from no affinity by more than that differs from itself.

use super::OfModel;
use super::watch::Taken;
use super::work::Work;
use crate::model::Model;
use warmcore_stats::Spread;
use warmcore_stats::blocks::{Verdict, verdict};
use warmcore_stats::paired::{Change, change};
use warmcore_units::PerSecond;

/// What came of an experiment.
#[derive(Clone, Debug)]
pub struct Findings {
    /// What was counted as work.
    pub work: Work,
    /// No affinity first.
    pub models: Vec<Found>,
    /// The same again, against itself.
    pub control: Changes,
    /// The clock rate that cycles are counted with; `None` where the kernel does not tell, or work is not in
    /// bits.
    pub clock_rate: Option<PerSecond>,
    /// Runs that others disturbed, and that were made again or counted for want of a better one.
    pub discarded: usize,
    /// Those of them that count.
    pub disturbed: usize,
}

/// What came of one model.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which.
    pub model: Model,
    /// Work per second.
    pub rate: Spread,
    /// Cpus that were busy.
    pub busy_cpus: Spread,
    /// Work per second of a busy cpu.
    pub per_cpu: Spread,
    /// What else the runs took.
    pub taken: Vec<Taken>,
    /// Against no affinity, and what it amounts to; `None` for no affinity itself.
    pub against_none: Option<(Changes, Amount)>,
}

/// By how much a model is more than another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Changes {
    /// In work per second.
    pub rate: Change,
    /// In work per second of a busy cpu.
    pub per_cpu: Change,
}

/// What both changes amount to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Amount {
    /// That of work per second.
    pub rate: Verdict,
    /// That of work per second of a busy cpu.
    pub per_cpu: Verdict,
}

/// What an experiment says of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conclusion {
    /// More is done, or the same with less.
    Gain,
    /// Less is done, or the same with more.
    Loss,
    /// More is done in one respect, less in the other.
    Mixed,
    /// Nothing is to be seen of it.
    NotVisible,
    /// The same setting twice differed from itself.
    Unsound,
}

impl Findings {
    /// Of what was `tried` of `models`, which begin with no affinity and the control; `None` if there were
    /// less than two blocks, or no cpu was busy in one.
    pub(super) fn of(
        models: &[Model],
        tried: &[OfModel],
        work: &Work,
        clock_rate: Option<PerSecond>,
    ) -> Option<Self> {
        let [none, again, others @ ..] = tried else { return None };
        let base = Series::of(none);
        let control = Series::of(again).against(&base)?;
        let found = |(&model, of_it): (&Model, &OfModel)| {
            let series = Series::of(of_it);
            let changes = series.against(&base)?;
            Some(series.found(model, of_it, Some((changes, changes.amount(&control)))))
        };
        let found: Option<Vec<Found>> = models[2..].iter().zip(others).map(found).collect();
        let mut all = vec![base.found(Model::None, none, None)];
        all.extend(found?);
        let runs = || tried.iter().flatten();
        Some(Self {
            work: work.clone(),
            models: all,
            control,
            clock_rate: clock_rate.filter(|_| work.is_bits()),
            discarded: runs().map(|tried| tried.discarded).sum(),
            disturbed: runs().filter(|tried| tried.disturbed).count(),
        })
    }

    /// What it says of the plan as a whole.
    #[must_use]
    pub fn conclusion(&self) -> Conclusion {
        let full = self.models.iter().filter(|found| found.model == Model::Full);
        full.filter_map(|found| found.against_none)
            .map(|(_, amount)| amount.conclusion())
            .next()
            .unwrap_or(Conclusion::NotVisible)
    }

    /// Cycles of busy cpus for each bit (GHz/Gbps), run by run.
    #[must_use]
    pub fn cycles_per_bit(&self, found: &Found) -> Option<Spread> {
        let clock_rate = self.clock_rate?;
        Some(found.per_cpu.map(|bits_per_cpu_second| clock_rate.0 / bits_per_cpu_second))
    }
}

impl Changes {
    fn amount(&self, control: &Self) -> Amount {
        Amount { rate: verdict(&self.rate, &control.rate), per_cpu: verdict(&self.per_cpu, &control.per_cpu) }
    }
}

impl Amount {
    fn conclusion(self) -> Conclusion {
        use Verdict::{Less, More, NotVisible, Unsound};
        match (self.rate, self.per_cpu) {
            (Unsound, _) | (_, Unsound) => Conclusion::Unsound,
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
    fn of(tried: &OfModel) -> Self {
        let of = |figure: fn(f64, f64) -> f64| {
            tried.iter().map(|tried| figure(tried.outcome.rate, tried.outcome.taken.busy_cpus)).collect()
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

    fn found(&self, model: Model, tried: &OfModel, against_none: Option<(Changes, Amount)>) -> Found {
        Found {
            model,
            taken: tried.iter().map(|tried| tried.outcome.taken).collect(),
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
    use crate::blocks::Tried;
    use crate::verify::Observed;
    use warmcore_linux::Spent;

    fn tried(rates: [f64; 5], busy_cpus: f64) -> OfModel {
        let taken = Taken {
            busy_cpus,
            softirq_cpus: 0.1,
            stolen_cpus: 0.0,
            receive_softirqs: PerSecond(1.0),
            rescheduling: None,
            migrations: None,
        };
        let run = |rate| Tried {
            outcome: Observed { rate, taken },
            spent: Spent::default(),
            discarded: 0,
            disturbed: false,
        };
        rates.map(run).to_vec()
    }

    fn findings(full: OfModel) -> Findings {
        let none = tried([100.0, 102.0, 98.0, 101.0, 99.0], 2.0);
        let again = tried([101.0, 100.0, 99.0, 102.0, 98.0], 2.0);
        let work = Work::Interfaces { names: vec!["a".to_owned()], load: None };
        let models = [Model::None, Model::None, Model::Full];
        Findings::of(&models, &[none, again, full], &work, Some(PerSecond(200.0))).expect("five blocks")
    }

    #[test]
    fn a_gain_is_one_only_beyond_what_the_control_does() {
        let gained = findings(tried([130.0, 133.0, 127.0, 131.0, 129.0], 2.0));
        assert_eq!(gained.conclusion(), Conclusion::Gain);
        assert_eq!(
            findings(tried([101.0, 101.0, 99.0, 101.0, 100.0], 2.0)).conclusion(),
            Conclusion::NotVisible
        );
        assert_eq!(findings(tried([80.0, 81.0, 79.0, 81.0, 79.0], 2.0)).conclusion(), Conclusion::Loss);
        // As much work with half of the cpus' time.
        assert_eq!(findings(tried([100.0, 101.0, 99.0, 101.0, 99.0], 1.0)).conclusion(), Conclusion::Gain);
        assert_eq!(findings(tried([130.0, 133.0, 127.0, 131.0, 129.0], 4.0)).conclusion(), Conclusion::Mixed);
        let cost = gained.cycles_per_bit(&gained.models[0]).expect("a clock rate and bits");
        assert_eq!(cost.median(), 4.0);
        let models: Vec<Model> = gained.models.iter().map(|found| found.model).collect();
        assert_eq!(models, [Model::None, Model::Full]);
    }
}
