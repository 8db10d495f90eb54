//! Sections 5.2 to 5.4: attached scheduling, longer quanta, complex affinity.

use super::super::predictions::{Policy, Predictions, Quantity};
use super::super::tables::Workload;
use super::{ALL, CALM, ORACLE, claim, more_idle, savings, slower};
use crate::{Claim, Finding, Reading};
use warmcore_units::Estimate;

#[expect(clippy::too_many_lines, reason = "a list of claims")]
pub(super) fn all() -> Vec<Claim<Predictions>> {
    use Policy::{Attached, Complex, Light, Quantum10, Quantum100, Standard};
    use Quantity::Time;
    vec![
        claim(
            "attached-slower",
            "5.2",
            &["table-5"],
            "Attached scheduling slows workloads down, all but Matrix + Matrix.",
            "slower",
            (Reading::MoreThan(0.0), "%"),
            "by how much the time exceeds that of the standard scheduler; Matrix + Matrix is faster in Table V and left out",
            |p| slower(p, Attached, &ALL[1..]),
        ),
        claim(
            "attached-idle",
            "5.2",
            &["table-5"],
            "Attached scheduling leaves processors idle that others keep busy, with Pmake and Oracle.",
            "36, 39, 54 and 29 % against 4, 10, 21 and 12 %",
            (Reading::MoreThan(0.0), "points"),
            "idle time less that of the standard scheduler",
            |p| more_idle(p, &ALL[3..], Attached, Standard),
        ),
        claim(
            "quantum-10",
            "5.3",
            &["4"],
            "Quanta of 10 ms are uniformly poor: workloads take 4–17 % longer.",
            "4–17 %",
            (Reading::Between(4.0, 17.0), "%"),
            "by how much the time exceeds that with quanta of 30 ms",
            |p| slower(p, Quantum10, ALL),
        ),
        claim(
            "quantum-100",
            "5.3",
            &["4"],
            "All workloads perform better with quanta of 100 ms.",
            "all better",
            (Reading::MoreThan(0.0), "%"),
            "by how much the time is below that with quanta of 30 ms",
            |p| savings(p, ALL, Quantum100, Standard, Time),
        ),
        claim(
            "quantum-100-range",
            "5.3",
            &["4"],
            "With quanta of 100 ms, workloads gain 1–8 %.",
            "1–8 %",
            (Reading::Between(1.0, 8.0), "%"),
            "by how much the time is below that with quanta of 30 ms",
            |p| savings(p, ALL, Quantum100, Standard, Time),
        ),
        claim(
            "oracle-affinity-better",
            "5.3",
            &["4"],
            "Oracle performs better with affinity than with quanta of 100 ms.",
            "better",
            (Reading::MoreThan(0.0), "%"),
            "by how much the time under light affinity is below that with quanta of 100 ms",
            |p| savings(p, ORACLE, Light, Quantum100, Time),
        ),
        claim(
            "calm-similar",
            "5.3",
            &["4"],
            "Matrix + Matrix and Matrix + Cholesky perform as well with quanta of 100 ms as with affinity.",
            "similar",
            (Reading::Within(3.0), "%"),
            "by how much the time under light affinity is below that with quanta of 100 ms; 3 % counts as similar",
            |p| savings(p, CALM, Light, Quantum100, Time),
        ),
        claim(
            "pmake-affinity-better",
            "5.3",
            &["4"],
            "Pmake + Matrix and Pmake + Cholesky perform better with affinity than with quanta of 100 ms.",
            "better",
            (Reading::MoreThan(0.0), "%"),
            "by how much the time under light affinity is below that with quanta of 100 ms. The text ascribes this to an \
             altered priority mechanism that it does not specify",
            |p| savings(p, &[Workload::PmakeMatrix, Workload::PmakeCholesky], Light, Quantum100, Time),
        ),
        claim(
            "quantum-response",
            "5.3",
            &["4"],
            "Quanta of 100 ms do not make interactive processes wait longer.",
            "does not occur",
            (Reading::Within(5.0), "ms"),
            "mean wait of Pmake's processes after they woke up, with quanta of 100 ms less with 30 ms, beside Matrix; 5 ms count as \
             no difference",
            response,
        ),
        claim(
            "complex-oracle",
            "5.4",
            &["5"],
            "Oracle gains from simple affinity, and little more from complex affinity.",
            "no further benefits",
            (Reading::Within(2.0), "%"),
            "by how much the time under complex affinity is below that under light; 2 % counts as little",
            |p| savings(p, ORACLE, Complex, Light, Time),
        ),
        claim(
            "complex-pmm",
            "5.4",
            &["5"],
            "Pmake + Matrix + Matrix gains nothing further from complex affinity.",
            "no further gains",
            (Reading::Within(2.0), "%"),
            "by how much the time under complex affinity is below that under light; 2 % counts as nothing",
            |p| savings(p, &[Workload::PmakeMatrixMatrix], Complex, Light, Time),
        ),
        claim(
            "complex-omm",
            "5.4",
            &["5"],
            "Oracle + Matrix + Matrix is slightly faster with complex affinity.",
            "slight difference",
            (Reading::MoreThan(0.0), "%"),
            "by how much the time under complex affinity is below that under light",
            |p| savings(p, &[Workload::OracleMatrixMatrix], Complex, Light, Time),
        ),
        claim(
            "complex-gain",
            "5.4",
            &["5"],
            "Complex affinity gains 0–7 % over the simpler system.",
            "0–7 %",
            (Reading::Between(0.0, 7.0), "%"),
            "by how much the time under complex affinity is below that under light, for the workloads of figure 5",
            |p| savings(p, &Workload::FIGURE_5, Complex, Light, Time),
        ),
        claim(
            "simple-gains-many",
            "5.4",
            &["5"],
            "Oracle and Pmake + Matrix + Matrix benefit from simple affinity.",
            "benefit",
            (Reading::MoreThan(0.0), "%"),
            "by how much the time under light affinity is below that of the standard scheduler",
            |p| savings(p, &[Workload::Oracle, Workload::PmakeMatrixMatrix], Light, Standard, Time),
        ),
        claim(
            "complex-few",
            "5.4",
            &["5"],
            "Complex affinity changes nothing where two processes share a processor.",
            "no change",
            (Reading::Within(1.0), "%"),
            "by how much the time under complex affinity is below that under light; 1 % counts as nothing",
            |p| savings(p, CALM, Complex, Light, Time),
        ),
    ]
}

fn response(predictions: &Predictions) -> Option<Finding> {
    let waits = |policy| {
        let outcome = predictions.outcomes.get(&(Workload::PmakeMatrix, policy))?;
        Some(outcome.runs.iter().map(|run| run.applications[0].responses.mean_ms()).collect::<Vec<f64>>())
    };
    let longer = warmcore_stats::paired::difference(&waits(Policy::Quantum100)?, &waits(Policy::Standard)?)?;
    Some(Finding::single(Estimate::new(longer.mean, longer.half_width), ""))
}
