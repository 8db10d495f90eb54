//! The results of a verification for other programs. Rates are per second. Changes are fractions: 0.3
//! is 30% more.

use super::findings::{Changes, Conclusion, ModelFindings, VerificationFindings};
use super::monitor::ResourceUse;
use super::promise::PromiseFinding;
use crate::counts::{CountedResults, CoverageResults};
use serde::Serialize;
use warmcore_stats::Spread;
use warmcore_stats::blocks::ChangeVerdict;
use warmcore_stats::paired::Change;
use warmcore_units::{Estimate, Nanos};

/// The results of a verification.
#[derive(Debug, Serialize)]
pub struct VerificationResults {
    /// The work that was measured.
    pub work: String,
    /// The unit of `rate`.
    pub unit: &'static str,
    /// `gain`, `loss`, `mixed` or `not-visible`.
    pub conclusion: &'static str,
    /// What became of what the plan promises; `null` if it promises nothing.
    pub promise: Option<PromiseResults>,
    /// Whether the plan is in force, to stay.
    pub kept: bool,
    /// No affinity first.
    pub models: Vec<ModelResults>,
    /// No affinity against itself (A/A).
    pub control: ComparisonResults,
    /// Runs that were repeated because other programs used too much of the cpus.
    pub discarded_runs: usize,
    /// Runs that were kept although other programs used too much.
    pub disturbed_runs: usize,
    /// How cycles were determined, in words.
    pub cycles: String,
    /// Which events the processor's counters counted, and why not the rest.
    pub counters: [CoverageResults; 4],
}

/// Processor time that each packet takes less, in nanoseconds, promised and found.
#[derive(Debug, Serialize)]
pub struct PromiseResults {
    /// What the plan promises.
    pub promised_ns: Estimate<Nanos>,
    /// What was found; `null` where packets were not counted.
    pub found_ns: Option<Estimate<Nanos>>,
    /// What the promise is of.
    pub of: String,
    /// `within`, `not` or `cannot-tell`.
    pub verdict: &'static str,
}

impl PromiseResults {
    fn new(finding: &PromiseFinding) -> Self {
        Self {
            promised_ns: finding.promised,
            found_ns: finding.found,
            of: finding.of.clone(),
            verdict: finding.verdict().name(),
        }
    }
}

/// The results of one model.
#[derive(Debug, Serialize)]
pub struct ModelResults {
    /// The name of the model.
    pub model: String,
    /// Work per second.
    pub rate: Spread,
    /// Cpus that were busy.
    pub busy_cpus: Spread,
    /// Work per second of a busy cpu.
    pub per_busy_cpu: Spread,
    /// Cycles of the cpus per bit; `null` if cycles are unknown, or work is not in bits.
    pub cycles_per_bit: Option<Spread>,
    /// Events that the processor counted per unit of work; `null` if not counted.
    pub counted: CountedResults,
    /// Cpus that were in softirqs.
    pub softirq_cpus: Spread,
    /// Cpus that a hypervisor took.
    pub stolen_cpus: Spread,
    /// Receive softirqs per second.
    pub receive_softirqs: Spread,
    /// Rescheduling interrupts per second; `null` where the kernel does not count them.
    pub rescheduling_interrupts: Option<Spread>,
    /// Migrations of the plan's threads per second; `null` if the plan has none, or the kernel does not
    /// count them.
    pub migrations: Option<Spread>,
    /// Comparison with no affinity; `null` for no affinity itself.
    pub against_none: Option<ComparisonResults>,
}

/// A comparison of two models.
#[derive(Debug, Serialize)]
pub struct ComparisonResults {
    /// In work per second.
    pub rate: ChangeResults,
    /// In work per second of a busy cpu.
    pub per_busy_cpu: ChangeResults,
}

/// A change between two models, as a fraction.
#[derive(Debug, Serialize)]
pub struct ChangeResults {
    /// The geometric mean.
    pub change: f64,
    /// The lower end of its 95% interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// `more`, `less` or `not-visible`; `null` for the control, with which the others are
    /// compared.
    pub verdict: Option<&'static str>,
}

impl VerificationFindings {
    /// The results for other programs.
    #[must_use]
    pub fn results(&self) -> VerificationResults {
        let Changes { rate, per_cpu } = &self.control;
        VerificationResults {
            work: self.work.to_string(),
            unit: self.work.unit(),
            conclusion: match self.conclusion() {
                Conclusion::Gain => "gain",
                Conclusion::Loss => "loss",
                Conclusion::Mixed => "mixed",
                Conclusion::NotVisible => "not-visible",
                Conclusion::Disturbed => "disturbed",
            },
            promise: self.promise.as_ref().map(PromiseResults::new),
            kept: self.kept,
            models: self.models.iter().map(ModelResults::new).collect(),
            control: ComparisonResults {
                rate: change_results(rate, None),
                per_busy_cpu: change_results(per_cpu, None),
            },
            discarded_runs: self.discarded,
            disturbed_runs: self.disturbed,
            cycles: self.cycles.to_string(),
            counters: self.coverage.results(),
        }
    }
}

impl ModelResults {
    fn new(found: &ModelFindings) -> Self {
        Self {
            model: found.model.to_string(),
            rate: found.rate.clone(),
            busy_cpus: found.busy_cpus.clone(),
            per_busy_cpu: found.per_cpu.clone(),
            cycles_per_bit: found.cycles_per_bit.clone(),
            counted: CountedResults::from_fn(|event| found.counted(event)),
            softirq_cpus: found.each(|resources| resources.softirq_cpus),
            stolen_cpus: found.each(|resources| resources.stolen_cpus),
            receive_softirqs: found.each(|resources| resources.receive_softirqs.0),
            rescheduling_interrupts: found.each_known(|resources| resources.rescheduling.map(|rate| rate.0)),
            migrations: found.each_known(|resources| resources.migrations.map(|rate| rate.0)),
            against_none: found.against_none.map(|(changes, verdicts)| ComparisonResults {
                rate: change_results(&changes.rate, Some(verdicts.rate)),
                per_busy_cpu: change_results(&changes.per_cpu, Some(verdicts.per_cpu)),
            }),
        }
    }
}

impl ModelFindings {
    /// A figure of every run.
    #[must_use]
    pub fn each(&self, figure: impl Fn(&ResourceUse) -> f64) -> Spread {
        Spread(self.resources.iter().map(figure).collect())
    }

    /// A figure of every run; `None` if it is missing in one.
    #[must_use]
    pub fn each_known(&self, figure: impl Fn(&ResourceUse) -> Option<f64>) -> Option<Spread> {
        self.resources.iter().map(figure).collect::<Option<_>>().map(Spread)
    }
}

fn change_results(change: &Change, verdict: Option<ChangeVerdict>) -> ChangeResults {
    let Change { mean, low, high } = *change;
    ChangeResults { change: mean, low, high, verdict: verdict.map(ChangeVerdict::name) }
}
