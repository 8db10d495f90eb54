//! A claim of a source: what the text says, which values count as that, how our value is derived, and the
//! verdict.

use crate::finding::Finding;
use crate::reading::Reading;
use crate::source::Evidence;
use crate::verdict::{ClaimVerdict, Tally};

/// A statement of a source about its results, judged by evidence `E`.
#[derive(Clone, Debug)]
pub struct Claim<E> {
    /// Identifier, unique among the claims of the source.
    pub id: &'static str,
    /// Where the source says it, such as `6.1`; empty if its sections have no numbers.
    pub section: &'static str,
    /// Names of the figures whose evidence it is derived from. It is shown with the first of them.
    pub needs: &'static [&'static str],
    /// The statement, in our words.
    pub says: &'static str,
    /// The published value, as the source writes it.
    pub published: &'static str,
    /// Which values count as the published one, in `unit`.
    pub reading: Reading,
    /// Unit of the values; empty for counts.
    pub unit: &'static str,
    /// How our value is derived, in words; if the text is ambiguous, also why it is read this way.
    pub recipe: &'static str,
    /// Derives our value; `None` if the evidence lacks what is needed.
    pub derive: fn(&E) -> Option<Finding>,
    /// Another place of the source that contradicts the claim, if there is one.
    pub contradicts: Option<&'static str>,
}

/// A claim with its verdict.
#[derive(Clone, Debug)]
pub struct Concluded<E> {
    /// The claim.
    pub claim: Claim<E>,
    /// The section and the figures, for a reader: `§6.1, figure 7(a)`.
    pub place: String,
    /// The values found; `None` if the evidence lacks what is needed.
    pub finding: Option<Finding>,
    /// At how many places of its range the claim is as stated.
    pub tally: Tally,
    /// The verdict.
    pub verdict: ClaimVerdict,
}

impl<E> Claim<E> {
    /// Derives our values from `evidence` and judges them. Values of another machine are not judged.
    pub(crate) fn conclude(self, place: String, evidence: &E, is_comparable: bool) -> Concluded<E> {
        let finding = (self.derive)(evidence);
        let tally = finding.as_ref().map_or_else(Tally::default, |found| Tally::new(self.reading, found));
        let verdict = match (tally.verdict(), self.contradicts) {
            (ClaimVerdict::NotDerived, _) => ClaimVerdict::NotDerived,
            _ if !is_comparable => ClaimVerdict::AnotherMachine,
            (ClaimVerdict::HoldsPartly | ClaimVerdict::Differs, Some(_)) => ClaimVerdict::SourceInconsistent,
            (verdict, _) => verdict,
        };
        Concluded { claim: self, place, finding, tally, verdict }
    }
}

impl<E: Evidence> Concluded<E> {
    /// With what the evidence says of a claim that does not hold, beside its remarks.
    pub(crate) fn explained(mut self, evidence: &E) -> Self {
        let (Some(finding), true) = (&mut self.finding, self.verdict != ClaimVerdict::Holds) else {
            return self;
        };
        let explanation = evidence.explain(&self.claim, finding);
        finding.note = format!("{} {explanation}", finding.note).trim().to_owned();
        self
    }
}

impl<E> Concluded<E> {
    /// Our values in words: `9.7 ± 0.1 to 31.0 ± 0.2 %, as stated at 3 of 5`.
    #[must_use]
    pub fn our_values(&self) -> String {
        let Some((least, greatest)) = self.finding.as_ref().and_then(Finding::extremes) else {
            return "not derived".to_owned();
        };
        let [least, greatest] = [least, greatest].map(|found| found.value.to_string());
        let values = if least == greatest { least } else { format!("{least} to {greatest}") };
        let unit = self.claim.unit;
        let values = if unit.is_empty() { values } else { format!("{values} {unit}") };
        match self.tally.places() {
            0 | 1 => values,
            _ if self.verdict == ClaimVerdict::AnotherMachine => values,
            _ => format!("{values}, {}", self.tally),
        }
    }

    /// Why the verdict is what it is: where the extreme values are, remarks, and which places of the source
    /// contradict each other.
    #[must_use]
    pub fn reason(&self) -> String {
        let Some(finding) = &self.finding else {
            return "The data it is derived from are missing.".to_owned();
        };
        let extremes = match finding.extremes() {
            Some((least, _)) if least.place.is_empty() => String::new(),
            Some((least, greatest)) if self.tally.places() > 1 => {
                format!("Least at {}, largest at {}.", least.at(), greatest.at())
            }
            Some((only, _)) => format!("At {}.", only.at()),
            _ => String::new(),
        };
        let contradiction = match (self.verdict, self.claim.contradicts) {
            (ClaimVerdict::SourceInconsistent, Some(other)) => {
                format!("The text contradicts itself: {other}")
            }
            _ => String::new(),
        };
        let parts = [extremes, finding.note.clone(), contradiction];
        parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// What counts as the published value, with its unit: `within a fifth of 25 %`.
    #[must_use]
    pub fn accepted(&self) -> String {
        let Claim { reading, unit, .. } = &self.claim;
        match (reading, *unit) {
            (Reading::MoreThan(0.0), _) | (_, "") => reading.to_string(),
            (Reading::Between(..) | Reading::AboutBetween(..), unit) => {
                reading.to_string().replace(", widened", &format!(" {unit}, widened"))
            }
            (_, unit) => format!("{reading} {unit}"),
        }
    }
}

/// How many of `claims` have this `verdict`.
#[must_use]
pub fn count<E>(claims: &[Concluded<E>], verdict: ClaimVerdict) -> usize {
    claims.iter().filter(|concluded| concluded.verdict == verdict).count()
}
