//! The one rule by which every claim of every source is judged.
//!
//! A reading turns the published value into a [`Band`](crate::reading::Band). A claim speaks of one
//! value or of a range of places. At each place, ours is *as stated* if its whole 95% interval lies in
//! the band, *otherwise* if its whole interval lies beside it, and *undecided* if it does both. The
//! part of the places at which a claim is as stated decides:
//!
//! | part as stated | verdict |
//! |---|---|
//! | at least [`HOLDS`] | holds |
//! | at least [`HOLDS_PARTLY`] | holds partly |
//! | less | differs |
//!
//! Where that depends on how the undecided places would turn out, the verdict is *undecided*. So wider
//! intervals can make a verdict undecided, and never another one: a quick run, which has the places of a
//! full one with wider intervals, does not contradict it beyond what 95% intervals may.

use crate::finding::{Finding, Value};
use crate::reading::Reading;
use core::fmt;

/// The part of its range in which a claim must be as stated to hold.
pub const HOLDS: f64 = 0.9;
/// The part of its range in which a claim must be as stated to hold partly.
pub const HOLDS_PARTLY: f64 = 0.5;

/// What comes of comparing, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Verdict {
    /// Ours is as stated in (nearly) the whole range.
    Holds,
    /// Ours is as stated in at least half of the range.
    HoldsPartly,
    /// The intervals do not tell.
    Undecided,
    /// Ours is as stated in less than half of the range.
    Differs,
    /// Ours is not as stated, nor is another place of the source.
    SourceInconsistent,
    /// The evidence is of another machine: the published value is not about it.
    AnotherMachine,
    /// There is nothing to tell by.
    NotDerived,
}

/// The places of a claim, counted by what their intervals say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Where ours is as stated.
    pub as_stated: usize,
    /// Where the interval does not tell.
    pub undecided: usize,
    /// Where ours is otherwise.
    pub otherwise: usize,
}

impl Tally {
    /// Counts the values found by what `reading` makes of them.
    #[must_use]
    pub fn new(reading: Reading, finding: &Finding) -> Self {
        let band = reading.band();
        let mut tally = Self::default();
        for Value { low, high, .. } in finding.found.iter().map(|found| found.value) {
            if band.from <= low && high <= band.to {
                tally.as_stated += 1;
            } else if high < band.from || band.to < low {
                tally.otherwise += 1;
            } else {
                tally.undecided += 1;
            }
        }
        tally
    }

    /// How many places there are.
    #[must_use]
    pub const fn places(&self) -> usize {
        self.as_stated + self.undecided + self.otherwise
    }

    /// What follows.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let grade = |as_stated: usize| {
            let part = as_stated as f64 / self.places() as f64;
            match part {
                part if part >= HOLDS => Verdict::Holds,
                part if part >= HOLDS_PARTLY => Verdict::HoldsPartly,
                _ => Verdict::Differs,
            }
        };
        let [least, most] = [self.as_stated, self.as_stated + self.undecided].map(grade);
        match self.places() {
            0 => Verdict::NotDerived,
            _ if least == most => least,
            _ => Verdict::Undecided,
        }
    }
}

impl fmt::Display for Tally {
    /// `as stated at 5 of 18, 2 undecided`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "as stated at {} of {}", self.as_stated, self.places())?;
        if self.undecided > 0 {
            write!(f, ", {} undecided", self.undecided)?;
        }
        Ok(())
    }
}

impl Verdict {
    /// All, best first.
    pub const ALL: [Self; 7] = [
        Self::Holds,
        Self::HoldsPartly,
        Self::Undecided,
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
            Self::Undecided => "undecided",
            Self::Differs => "differs",
            Self::SourceInconsistent => "source inconsistent",
            Self::AnotherMachine => "another machine",
            Self::NotDerived => "not derived",
        })
    }
}

/// The rule for a reader of a report.
#[must_use]
pub fn rule() -> String {
    let [holds, partly] = [HOLDS, HOLDS_PARTLY].map(|part| 100.0 * part);
    let [printed, about] = [crate::reading::PRINTED, crate::reading::ABOUT].map(|part| 100.0 * part);
    format!(
        "Every verdict is computed, by one rule for all sources. A printed figure counts as reached within \
         {printed} % of it, \"about\" a figure within {about} %; where the text gives no number, the one read \
         into it is shown with the claim. A claim speaks of one value or of several places (rates, sizes, \
         machines). At each, ours is as stated if its whole 95 % interval lies in the range that counts, and \
         otherwise if the whole interval lies beside it. A claim that is as stated at {holds} % of its places \
         or more holds; at {partly} % or more it holds partly; at fewer it differs. Where that depends on \
         places whose intervals do not tell, it is undecided."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Found;

    fn judge(reading: Reading, values: &[(f64, f64)]) -> Verdict {
        let found = |&(low, high): &(f64, f64)| Found::new("", Value { mean: (low + high) / 2.0, low, high });
        let finding = Finding { found: values.iter().map(found).collect(), note: String::new() };
        Tally::new(reading, &finding).verdict()
    }

    #[test]
    fn one_value_is_judged_by_its_whole_interval() {
        let about = Reading::About(25.0);
        assert_eq!(judge(about, &[(26.0, 29.0)]), Verdict::Holds);
        assert_eq!(judge(about, &[(28.0, 34.0)]), Verdict::Undecided);
        assert_eq!(judge(about, &[(31.0, 37.0)]), Verdict::Differs);
        assert_eq!(judge(Reading::About(29.0), &[(-18.0, 178.0)]), Verdict::Undecided);
        assert_eq!(judge(about, &[]), Verdict::NotDerived);
    }

    #[test]
    fn a_range_is_graded_by_how_much_of_it_is_as_stated() {
        let between = Reading::Between(10.0, 15.0);
        let of =
            |inside: usize, outside: usize| [vec![(11.0, 12.0); inside], vec![(3.0, 4.0); outside]].concat();
        assert_eq!(judge(between, &of(18, 0)), Verdict::Holds);
        assert_eq!(judge(between, &of(17, 1)), Verdict::Holds);
        assert_eq!(judge(between, &of(9, 9)), Verdict::HoldsPartly);
        assert_eq!(judge(between, &of(5, 13)), Verdict::Differs);
        assert_eq!(judge(between, &of(1, 10)), Verdict::Differs);
    }

    #[test]
    fn what_is_undecided_matters_only_where_it_would_change_the_verdict() {
        let positive = Reading::MoreThan(0.0);
        let of = |held: usize, open: usize| [vec![(1.0, 2.0); held], vec![(-1.0, 1.0); open]].concat();
        assert_eq!(judge(positive, &of(19, 1)), Verdict::Holds);
        assert_eq!(judge(positive, &of(9, 3)), Verdict::Undecided);
        assert_eq!(judge(positive, &[of(0, 4), vec![(-2.0, -1.0); 5]].concat()), Verdict::Differs);
    }

    /// Draws from the high bits of a linear congruential generator (Knuth's constants).
    struct Draws(u64);

    impl Draws {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    #[test]
    fn wider_intervals_make_a_verdict_undecided_and_never_another() {
        let readings = [Reading::About(25.0), Reading::Between(10.0, 15.0), Reading::MoreThan(0.0)];
        for seed in 0..10_000 {
            let mut draws = Draws(seed);
            let reading = readings[(3.0 * draws.next()) as usize];
            let count = 1 + (20.0 * draws.next()) as usize;
            let narrow: Vec<(f64, f64)> = (0..count)
                .map(|_| {
                    let (mean, half) = (60.0 * draws.next() - 20.0, 3.0 * draws.next());
                    (mean - half, mean + half)
                })
                .collect();
            let wide: Vec<(f64, f64)> = narrow
                .iter()
                .map(|(low, high)| (low - 9.0 * draws.next(), high + 9.0 * draws.next()))
                .collect();
            let (precise, quick) = (judge(reading, &narrow), judge(reading, &wide));
            assert!(quick == precise || quick == Verdict::Undecided, "seed {seed}: {precise}, then {quick}");
        }
    }
}
