//! Section 5.1: light and heavy affinity.

use super::super::predictions::{Policy, Predictions, Quantity};
use super::super::standard::{self, RARE};
use super::super::tables::{App, Workload};
use super::columns::MISSES;
use super::{ALL, CALM, MATRICES, ORACLE, claim, more_idle, savings};
use crate::{Basis, Claim, Finding, Reading, ValueAt};
use warmcore_sim::runqueue::Tally;

#[expect(clippy::too_many_lines, reason = "a list of claims")]
pub(super) fn all() -> Vec<Claim<Predictions>> {
    use Policy::{Heavy, Light, Standard};
    use Quantity::{Misses, Time};
    vec![
        claim(
            "matrix-light",
            "5.1",
            &["table-5"],
            "Light affinity removes 36 % of the misses of Matrix + Matrix.",
            "36.3 %",
            (Reading::Near(36.3, MISSES), "%"),
            "by how much misses fall",
            |p| savings(p, MATRICES, Light, Standard, Misses),
        ),
        claim(
            "oracle-light",
            "5.1",
            &["table-5"],
            "Light affinity removes about 7 % of the misses of Oracle.",
            "7.1 %",
            (Reading::Near(7.1, 2.0), "%"),
            "by how much misses fall",
            |p| savings(p, ORACLE, Light, Standard, Misses),
        ),
        claim(
            "fewer-misses",
            "5.1",
            &["table-5"],
            "Affinity reduces the misses of every workload.",
            "7–36 %",
            (Reading::MoreThan(0.0), "%"),
            "by how much misses fall under light affinity",
            |p| savings(p, ALL, Light, Standard, Misses),
        ),
        claim(
            "heavy-fewer-misses",
            "5.1",
            &["table-5"],
            "Heavy affinity invariably reduces misses further.",
            "invariably",
            (Reading::MoreThan(0.0), "%"),
            "by how much misses under heavy affinity are below those under light",
            |p| savings(p, ALL, Heavy, Light, Misses),
        ),
        claim(
            "heavy-minimal",
            "5.1",
            &["table-5"],
            "From light to heavy affinity, execution times hardly change.",
            "minimal",
            (Reading::Within(5.0), "%"),
            "by how much the time under heavy affinity is below that under light; the text's own table has differences up to 8.7 \
             points (Pmake + Matrix), 4.1 elsewhere",
            |p| savings(p, ALL, Heavy, Light, Time),
        ),
        claim(
            "heavy-better-calm",
            "5.1",
            &["table-5"],
            "Scientific workloads benefit slightly from heavy over light affinity.",
            "slightly better",
            (Reading::MoreThan(0.0), "%"),
            "by how much the time is below that under light affinity",
            |p| savings(p, CALM, Heavy, Light, Time),
        ),
        claim(
            "heavy-idle",
            "5.1",
            &["table-5"],
            "Heavy affinity slightly increases the idle time of Pmake + Pmake and Oracle.",
            "slightly",
            (Reading::MoreThan(0.0), "points"),
            "idle time under heavy less that under light affinity",
            |p| more_idle(p, &[Workload::PmakePmake, Workload::Oracle], Heavy, Light),
        ),
        claim(
            "oracle-idle",
            "5.1",
            &["table-5"],
            "Light affinity slightly reduces the idle time of Oracle.",
            "slightly lower",
            (Reading::AtMost(0.0), "points"),
            "idle time under light affinity less that under the standard scheduler",
            |p| more_idle(p, ORACLE, Light, Standard),
        ),
        Claim {
            basis: Basis::Construction,
            ..claim(
                "slices-240",
                "4",
                &["2"],
                "Light affinity lets a process reach an effective time slice of about 240 ms, 8 quanta.",
                "about 240 ms",
                (Reading::About(240.0), "ms"),
                "the bin of 10 ms above 40 ms that holds most slices of Matrix + Matrix, its middle. It checks the program: 12 \
                 points of affinity, which a process loses in 12 times 2 ticks of 10 ms, are 240 ms",
                |p| peak(p, Light),
            )
        },
        claim(
            "fewer-slices",
            "5.1",
            &["1", "2"],
            "There are fewer effective time slices under affinity scheduling.",
            "fewer",
            (Reading::MoreThan(0.0), "%"),
            "by how much the number of slices under light affinity is below that under the standard scheduler",
            fewer_slices,
        ),
        Claim {
            basis: Basis::Fitted,
            ..claim(
                "standard-single",
                "3.2.1",
                &["1"],
                "Under the standard scheduler effective time slices of several dispatch intervals are rare.",
                "rare",
                (Reading::AtMost(RARE), "%"),
                "slices of at least 40 ms, in percent of those of at least 1 ms; at most a tenth counts as rare. The open \
                 parameters were chosen by it, among others",
                long_slices,
            )
        },
        claim(
            "fair",
            "5.1",
            &["3"],
            "Heavy affinity allocates CPU time fairly among applications: their slopes are similar.",
            "similar slopes",
            (Reading::AtMost(10.0), "%"),
            "by how much the CPU times of the two Matrix differ after 10 s of Matrix + Matrix, either way in each run; a tenth \
             counts as similar",
            fairness,
        ),
        claim(
            "no-starvation",
            "4",
            &["table-5"],
            "With affinity there is no risk of starvation.",
            "none",
            (Reading::AtMost(1.0), "s"),
            "the longest that a process waits in the run queue under heavy affinity; more than a second counts as starving",
            longest_waits,
        ),
    ]
}

/// Where most long slices of Matrix + Matrix lie.
fn peak(predictions: &Predictions, policy: Policy) -> Option<Finding> {
    let outcome = predictions.outcomes.get(&(Workload::MatrixMatrix, policy))?;
    let at = |run: &Tally| {
        let count = |bin: u32| -> u64 {
            let from = 10.0 * f64::from(bin);
            run.applications.iter().map(|one| one.slices.between(from, from + 10.0)).sum()
        };
        // The earliest of equal bins.
        let best = (4..100_u32).max_by_key(|&bin| (count(bin), std::cmp::Reverse(bin))).unwrap_or(0);
        10.0 * f64::from(best) + 5.0
    };
    Some(Finding::single(outcome.estimate(at), ""))
}

fn fewer_slices(predictions: &Predictions) -> Option<Finding> {
    let at = |&workload: &Workload| {
        let count = |run: &Tally| run.applications.iter().map(|one| one.slices.count() as f64).sum::<f64>();
        let outcome = |policy| predictions.outcomes.get(&(workload, policy));
        let change =
            warmcore_sim::runqueue::compare(outcome(Policy::Standard)?, outcome(Policy::Light)?, count)?;
        let relative = change.relative;
        let value = warmcore_units::Estimate::new(-100.0 * relative.mean, 100.0 * relative.half_width);
        Some(ValueAt::new(workload.name(), value))
    };
    Finding::new(ALL.iter().filter_map(at).collect(), "")
}

fn long_slices(predictions: &Predictions) -> Option<Finding> {
    let at = |&workload: &Workload| {
        let share = predictions.estimate(workload, Policy::Standard, standard::long_slices)?;
        Some(ValueAt::new(workload.name(), share))
    };
    Finding::new(ALL.iter().filter_map(at).collect(), "")
}

fn longest_waits(predictions: &Predictions) -> Option<Finding> {
    let at = |&workload: &Workload| {
        let longest = |run: &Tally| run.applications.iter().map(|one| one.longest_wait_s).fold(0.0, f64::max);
        Some(ValueAt::new(workload.name(), predictions.estimate(workload, Policy::Heavy, longest)?))
    };
    Finding::new(ALL.iter().filter_map(at).collect(), "")
}

fn fairness(predictions: &Predictions) -> Option<Finding> {
    debug_assert_eq!(Workload::MatrixMatrix.applications(), [App::Matrix; 2]);
    let difference = predictions.estimate(Workload::MatrixMatrix, Policy::Heavy, |run| {
        let at = |place: usize| run.applications[place].cpu_by_second.get(9).copied().unwrap_or(f64::NAN);
        100.0 * (at(1) / at(0) - 1.0).abs()
    })?;
    Some(Finding::single(difference, ""))
}
