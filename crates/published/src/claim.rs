//! A claim of a source: what the text says, which values count as that, how our value is derived, and the
//! verdict.

use crate::finding::{Finding, ValueAt};
use crate::reading::{Band, Reading};
use crate::source::Evidence;
use crate::verdict::{ClaimVerdict, Standing, Tally};
use serde::Serialize;

/// How many places that are not as stated a reason names.
const NAMED: usize = 4;

/// What it means that a claim holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The evidence was not made from what the claim says: it is predicted, or measured again.
    Prediction,
    /// The model was built from what the claim says, or fitted to it: how well that succeeded.
    Fitted,
    /// It follows by arithmetic from figures that the evidence takes over: that the program computes as it should.
    Construction,
}

impl Basis {
    /// Its name for other programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prediction => "prediction",
            Self::Fitted => "fitted",
            Self::Construction => "construction",
        }
    }
}

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
    /// What it means that it holds.
    pub basis: Basis,
    /// Derives our value; `None` if the evidence lacks what is needed.
    pub derive: fn(&E) -> Option<Finding>,
    /// Another place of the source that contradicts the claim, if there is one.
    pub contradicts: Option<&'static str>,
}

/// A claim of `section` that needs these figures, to be filled in.
pub(crate) fn stated_in<E>(
    section: &'static str,
    needs: &'static [&'static str],
    unit: &'static str,
    recipe: &'static str,
) -> Claim<E> {
    Claim {
        id: "",
        section,
        needs,
        says: "",
        published: "",
        reading: Reading::MoreThan(0.0),
        unit,
        recipe,
        basis: Basis::Prediction,
        derive: |_| None,
        contradicts: None,
    }
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
    /// Judges the values of `finding`. Values of another machine are not judged.
    pub(crate) fn conclude(
        self,
        place: String,
        finding: Option<Finding>,
        is_comparable: bool,
    ) -> Concluded<E> {
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
    /// Our values in words: `9.7 ± 0.1 % at MRU to 31.0 ± 0.2 % at LRU, as stated at 3 of 5`.
    #[must_use]
    pub fn our_values(&self) -> String {
        let Some((least, greatest)) = self.finding.as_ref().and_then(Finding::extremes) else {
            return "not derived".to_owned();
        };
        let several = self.tally.places() > 1;
        let value = |found: &ValueAt| format!("{} {}", found.value, self.claim.unit).trim_end().to_owned();
        let [low, high] = [least, greatest].map(|found| named(found, &value(found)));
        let values = match several {
            true if least.value == greatest.value => value(least),
            true => format!("{low} to {high}"),
            false => low,
        };
        match several && self.verdict != ClaimVerdict::AnotherMachine {
            true => format!("{values}, {}", self.tally),
            false => values,
        }
    }

    /// The verdict, and what it means: `holds (fitted)`.
    #[must_use]
    pub fn verdict_in_words(&self) -> String {
        match self.claim.basis {
            Basis::Prediction => self.verdict.to_string(),
            Basis::Fitted => format!("{} (fitted)", self.verdict),
            Basis::Construction => format!("{} (by construction)", self.verdict),
        }
    }

    /// Why the verdict is what it is: what lies outside the accepted range, or barely inside, remarks, and which places of the source
    /// contradict each other. It may be empty for a claim that holds.
    #[must_use]
    pub fn reason(&self) -> String {
        let Some(finding) = &self.finding else {
            return "The data it is derived from are missing.".to_owned();
        };
        let outside = match self.verdict {
            ClaimVerdict::Holds => barely(finding, self.claim.reading.band(), self.claim.unit),
            ClaimVerdict::AnotherMachine | ClaimVerdict::NotDerived => String::new(),
            _ => outside(finding, self.claim.reading.band(), self.claim.unit),
        };
        let contradiction = match (self.verdict, self.claim.contradicts) {
            (ClaimVerdict::SourceInconsistent, Some(other)) => {
                format!("The text contradicts itself: {other}")
            }
            _ => String::new(),
        };
        let parts = [outside, finding.note.clone(), contradiction];
        parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The values that count as the published one: `20 to 30 % (within a fifth of 25)`.
    #[must_use]
    pub fn accepted(&self) -> String {
        self.claim.reading.accepted(self.claim.unit)
    }
}

/// Which values lie outside `band` and how far, the farthest first; then those whose interval reaches outside, and how far.
fn outside(finding: &Finding, band: Band, unit: &str) -> String {
    let standing = |wanted: Standing| {
        let is = move |found: &&ValueAt| Standing::new(found.value, band) == wanted;
        finding.found.iter().filter(is)
    };
    let mut beyond: Vec<&ValueAt> = standing(Standing::Otherwise).collect();
    beyond.sort_by(|one, other| band.excess(other.value.mean).0.total_cmp(&band.excess(one.value.mean).0));
    let by = |found: &ValueAt, end: f64| {
        let (distance, side) = band.excess(end);
        if distance.is_infinite() && found.value.mean.is_finite() {
            return named(found, "no interval");
        }
        named(found, &format!("{} {unit} {side}", self::distance(distance)).replace("  ", " "))
    };
    let far = listed(beyond.iter().map(|found| by(found, found.value.mean)).collect());
    let open = listed(
        standing(Standing::Undecided)
            .map(|found| {
                let below = band.from - found.value.low;
                let end = if below > found.value.high - band.to { found.value.low } else { found.value.high };
                by(found, end)
            })
            .collect(),
    );
    let [far, open] = [("Ours is outside: ", far), ("Undecided, as the interval reaches outside: ", open)]
        .map(|(words, list)| if list.is_empty() { list } else { format!("{words}{list}.") });
    format!("{far} {open}")
}

/// A distance with the digits that it needs.
fn distance(distance: f64) -> String {
    match distance {
        f64::INFINITY => "∞".to_owned(),
        near if near < 0.1 => format!("{near:.2}"),
        far => format!("{far:.1}"),
    }
}

/// Which values lie in `band`, but so close to an end that a little less of a tolerance would leave them out.
fn barely(finding: &Finding, band: Band, unit: &str) -> String {
    let close = |found: &&ValueAt| band.room(found.value.mean) < band.little();
    let by = |found: &ValueAt| {
        let room = format!("{} {unit}", distance(band.room(found.value.mean)));
        named(found, room.trim_end())
    };
    let close = listed(finding.found.iter().filter(close).map(by).collect());
    if close.is_empty() {
        close
    } else {
        format!("Barely: ours is from the end of what is accepted by {close}.")
    }
}

/// The first few of `parts`, and how many more there are.
fn listed(parts: Vec<String>) -> String {
    let more = parts.len().saturating_sub(NAMED);
    let first = parts.into_iter().take(NAMED).collect::<Vec<_>>().join("; ");
    if more > 0 { format!("{first}; and {more} more") } else { first }
}

/// `text` with the place it is about, if that has a name.
pub(crate) fn named(found: &ValueAt, text: &str) -> String {
    match found.at() {
        at if at.is_empty() => text.to_owned(),
        at => format!("{text} at {at}"),
    }
}
