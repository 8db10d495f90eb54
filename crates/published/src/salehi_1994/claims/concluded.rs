//! A claim with what came of it, and how that is said.

use super::{Claim, Derived, Ours, Verdict, judge};
use crate::salehi_1994::Evidence;
use warmcore_units::Estimate;

/// A claim with what came of it.
#[derive(Clone, Debug)]
pub struct Concluded {
    /// The claim.
    pub claim: Claim,
    /// Our value.
    pub derived: Option<Derived>,
    /// What follows.
    pub verdict: Verdict,
}

impl Claim {
    /// Derives our value and compares.
    pub(crate) fn conclude(self, evidence: &Evidence) -> Concluded {
        let derived = (self.derive)(evidence);
        let verdict = match &derived {
            None => Verdict::NotDerived,
            Some(_) if !evidence.is_published_machine() => Verdict::AnotherMachine,
            Some(derived) => match (judge(self.reading, derived.ours), self.contradicts) {
                (Verdict::HoldsPartly | Verdict::Differs, Some(_)) => Verdict::SourceInconsistent,
                (verdict, _) => verdict,
            },
        };
        Concluded { claim: self, derived, verdict }
    }
}

impl PartialEq for Concluded {
    /// Of equal claims with equal values.
    fn eq(&self, other: &Self) -> bool {
        (self.claim.id, &self.derived, self.verdict) == (other.claim.id, &other.derived, other.verdict)
    }
}

impl Concluded {
    /// Our value in words, with its unit.
    #[must_use]
    pub fn ours(&self) -> String {
        let unit = self.claim.unit;
        match self.derived.as_ref().map(|derived| derived.ours) {
            None => "not derived".to_owned(),
            Some(Ours::Value(value)) => with_unit(&shown(value), unit),
            Some(Ours::Span(least, greatest)) => with_unit(&shown_span(least, greatest), unit),
            Some(Ours::Tally(tally)) => tally.to_string(),
        }
    }

    /// Why the verdict is what it is.
    #[must_use]
    pub fn reason(&self) -> String {
        let because = self
            .derived
            .as_ref()
            .map_or("What it is derived from was not simulated.", |derived| &derived.because);
        match (self.verdict, self.claim.contradicts) {
            (Verdict::SourceInconsistent, Some(other)) => {
                format!("{because} The source contradicts itself: {other}")
            }
            _ => because.trim_end().to_owned(),
        }
    }
}

/// A value to the second digit of its half-width, with one or two decimals.
pub(super) fn shown(value: Estimate<f64>) -> String {
    match value.half_width {
        Some(half) => {
            let decimals = if half < 0.1 { 2 } else { 1 };
            format!("{:.decimals$} ± {half:.decimals$}", value.mean)
        }
        None => format!("{:.1}", value.mean),
    }
}

fn with_unit(value: &str, unit: &str) -> String {
    if unit.is_empty() { value.to_owned() } else { format!("{value} {unit}") }
}

/// From one value to another; one alone where they are the same.
fn shown_span(least: Estimate<f64>, greatest: Estimate<f64>) -> String {
    let [least, greatest] = [least, greatest].map(shown);
    if least == greatest { least } else { format!("{least} to {greatest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_with_the_digits_they_have() {
        assert_eq!(shown(Estimate::new(124.83, 0.42)), "124.8 ± 0.4");
        assert_eq!(shown(Estimate::new(21.331, 0.028)), "21.33 ± 0.03");
        assert_eq!(shown(Estimate::published(15.48)), "15.5");
    }
}
