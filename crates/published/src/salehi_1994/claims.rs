//! What the text says, how our value is derived, and the verdict.
//!
//! Every claim is data: its place, what it says in our words, what the source states, how to read
//! that, and the recipe that derives our value from simulated points or from Table 2.
//!
//! Where the text says "at low rates" or "across the broad range" it gives no numbers; the ranges
//! [`LOW`], [`BROAD`] and [`HIGH`] are our reading, as fractions of the smaller capacity of what is
//! compared.

mod alternatives;
mod concluded;
mod derive;
mod end_to_end;
mod judge;
mod locking;
mod pools;
mod scaling;
mod stacks;
mod table_2;

pub use concluded::Concluded;
pub use judge::judge;

use crate::salehi_1994::{Evidence, Figure};
use core::fmt;
use std::ops::RangeInclusive;
use warmcore_units::Estimate;

use concluded::shown;
pub(crate) use end_to_end::CHECKSUMMED;

/// "The lower arrival rates".
pub const LOW: RangeInclusive<f64> = 0.01..=0.25;
/// "The broad range of arrival rates".
pub const BROAD: RangeInclusive<f64> = 0.01..=0.9;
/// "High arrival rate", as far as points reach the precision asked for.
pub const HIGH: RangeInclusive<f64> = 0.75..=0.9;

/// Something the source says of its results.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name, unique among the claims.
    pub id: &'static str,
    /// Where the source says it: `6.1`.
    pub section: &'static str,
    /// The figures from whose points it is derived.
    pub needs: &'static [Figure],
    /// What it says, in our words.
    pub says: &'static str,
    /// The value as the source states it.
    pub published: &'static str,
    /// What counts as that value.
    pub reading: Reading,
    /// Unit of the values; empty for counts.
    pub unit: &'static str,
    /// How ours is derived.
    pub recipe: &'static str,
    /// The recipe; `None` where its points are missing.
    pub derive: fn(&Evidence) -> Option<Derived>,
    /// The other place of the source that says otherwise, if there is one.
    pub contradicts: Option<&'static str>,
}

/// What counts as the published value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reading {
    /// A figure as printed: within 2% of it, since the measurements behind it have half-widths of
    /// up to 1% each.
    Printed(f64),
    /// "About": within a fifth of it.
    About(f64),
    /// Between two figures, each widened as a printed one.
    Between(f64, f64),
    /// "Around" two figures, each widened by a fifth.
    AboutBetween(f64, f64),
    /// More than this.
    MoreThan(f64),
    /// At most this.
    AtMost(f64),
    /// In every comparison made.
    Everywhere,
}

/// What a recipe yields.
#[derive(Clone, PartialEq, Debug)]
pub struct Derived {
    /// The value.
    pub ours: Ours,
    /// Where it was found, and what else a reader should know of it.
    pub because: String,
}

/// Our value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ours {
    /// One figure.
    Value(Estimate<f64>),
    /// The least and the greatest of several.
    Span(Estimate<f64>, Estimate<f64>),
    /// In how many comparisons the claim holds.
    Tally(Tally),
}

/// Comparisons, counted by what their 95% intervals decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// For the claim.
    pub held: usize,
    /// Nothing: zero lies within the interval.
    pub undecided: usize,
    /// Against it.
    pub against: usize,
}

/// What comes of comparing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Verdict {
    /// Ours is what the source states.
    Holds,
    /// Part of what is stated is found, or the intervals do not decide.
    HoldsPartly,
    /// Ours is not what the source states.
    Differs,
    /// Ours is not what the source states, nor is another place of the source.
    SourceInconsistent,
    /// The costs are another machine's: the published value is not about it.
    AnotherMachine,
    /// There are too few points to tell.
    NotDerived,
}

/// All claims, in the source's order.
#[must_use]
pub fn all() -> Vec<Claim> {
    [
        table_2::claims(),
        locking::claims(),
        stacks::claims(),
        pools::claims(),
        end_to_end::claims(),
        alternatives::claims(),
        scaling::claims(),
    ]
    .concat()
}

impl Claim {
    /// The figures and the section, for a reader: `6.1, figure 7(a)`.
    #[must_use]
    pub fn place(&self) -> String {
        let mut place = format!("§{}", self.section);
        for figure in self.needs.iter().filter(|&&figure| figure != Figure::Hosts) {
            place.push_str(&format!(", {figure}"));
        }
        place
    }
}

impl Tally {
    /// How many comparisons there were.
    #[must_use]
    pub const fn of(&self) -> usize {
        self.held + self.undecided + self.against
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in {} of {} comparisons", self.held, self.of())?;
        if self.undecided > 0 {
            write!(f, ", {} undecided", self.undecided)?;
        }
        Ok(())
    }
}

impl Verdict {
    /// All, best first.
    pub const ALL: [Self; 6] = [
        Self::Holds,
        Self::HoldsPartly,
        Self::Differs,
        Self::SourceInconsistent,
        Self::AnotherMachine,
        Self::NotDerived,
    ];
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::HoldsPartly => "holds partly",
            Self::Differs => "differs",
            Self::SourceInconsistent => "source inconsistent",
            Self::AnotherMachine => "another machine",
            Self::NotDerived => "not derived",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_claim_is_named_once_and_says_where_it_stands_and_how_it_is_derived() {
        let claims = all();
        let ids: BTreeSet<&str> = claims.iter().map(|claim| claim.id).collect();
        assert_eq!(ids.len(), claims.len());
        for claim in &claims {
            let texts = [claim.section, claim.says, claim.published, claim.recipe];
            assert!(texts.iter().all(|text| !text.is_empty()), "{}", claim.id);
            assert!(!claim.needs.is_empty(), "{}", claim.id);
        }
    }
}
