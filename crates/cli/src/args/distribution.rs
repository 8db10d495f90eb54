//! How distributions of times are read: `exponential`, `lognormal:1.5`, or `bounded-pareto:1.5:1000`.

use super::quantity;
use warmcore_workload::TimeDistribution;
use warmcore_workload::distribution::BoundedPareto;

/// The distributions, each with its parameters.
pub(crate) const DISTRIBUTIONS: [&str; 8] = [
    "deterministic",
    "exponential",
    "erlang:4",
    "gamma:0.5",
    "lognormal:1.5",
    "hyperexponential:2",
    "pareto:2.5",
    "bounded-pareto:1.5:1000",
];

/// Reads a distribution with its parameters: `NAME`, or `NAME:NUMBER`.
pub(crate) fn parse(text: &str) -> Result<TimeDistribution, String> {
    let lower = text.trim().to_lowercase();
    let mut parts = lower.split(':');
    let name = parts.next().unwrap_or_default();
    let Some(example) = DISTRIBUTIONS.into_iter().find(|example| example.split(':').next() == Some(name))
    else {
        return Err(format!("there is no distribution `{name}`: expected {}", DISTRIBUTIONS.join(", ")));
    };
    let numbers = parts.map(quantity::number).collect::<Result<Vec<f64>, _>>();
    let numbers =
        numbers.map_err(|_| format!("`{text}` has no number there: expected one such as {example}"))?;
    let distribution = match (name, &numbers[..]) {
        ("deterministic", []) => TimeDistribution::Deterministic,
        ("exponential", []) => TimeDistribution::Exponential,
        ("erlang", &[stages]) if stages.fract() == 0.0 && (0.0..=1e9).contains(&stages) => {
            TimeDistribution::Erlang(stages as u32)
        }
        ("gamma", &[cv]) => TimeDistribution::Gamma(cv),
        ("lognormal", &[cv]) => TimeDistribution::Lognormal(cv),
        ("hyperexponential", &[cv]) => TimeDistribution::Hyperexponential(cv),
        ("pareto", &[shape]) => TimeDistribution::Pareto(shape),
        ("bounded-pareto", &[shape, ratio]) => {
            TimeDistribution::BoundedPareto(BoundedPareto { shape, ratio })
        }
        _ => return Err(format!("`{text}`: expected one such as {example}")),
    };
    distribution.check().map_err(|fault| format!("`{text}`: expected {}", fault.expected))?;
    Ok(distribution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_a_distribution_of_that_name() {
        for example in DISTRIBUTIONS {
            let distribution = parse(&example.to_uppercase()).expect(example);
            assert_eq!(example.split(':').next(), Some(distribution.name()));
        }
    }

    #[test]
    fn a_refusal_says_what_would_be_right() {
        for (text, problem) in [
            ("normal", "there is no distribution `normal`: expected deterministic, exponential"),
            ("erlang", "`erlang`: expected one such as erlang:4"),
            ("erlang:2.5", "expected one such as erlang:4"),
            ("gamma:x", "expected one such as gamma:0.5"),
            ("gamma:-1", "a coefficient of variation from 0.001 to 1000"),
            ("exponential:2", "expected one such as exponential"),
            ("bounded-pareto:1.5", "expected one such as bounded-pareto:1.5:1000"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
