//! The rule by which every claim of every source is judged.
//!
//! A reading turns the published value into a [`Band`]. A claim speaks of one value or of a range of places.
//! At each place our value is *as stated* if its whole 95% interval lies in the band, *otherwise* if its
//! whole interval lies outside, and *undecided* if it does neither. The fraction of places that are as stated
//! decides:
//!
//! | places as stated | verdict |
//! |---|---|
//! | at least [`HOLDS`] of each case | holds |
//! | at least [`HOLDS_PARTLY`] of all places | holds partly |
//! | less | differs |
//!
//! If a claim speaks of several cases (two approaches, three batch sizes), each case has its own places, and
//! the claim must hold in each: what is said "for all b" does not hold if it fails for one.
//!
//! If the verdict depends on the undecided places, it is *undecided*. Wider intervals can therefore make a
//! verdict undecided, but never change it to another one. A quick run has the places of the full run with
//! wider intervals, so it does not contradict the full run beyond what 95% intervals allow.

use crate::finding::{Finding, Value};
use crate::reading::{Band, Reading};
use core::fmt;

/// The fraction of its places at which a claim must be as stated to hold.
pub const HOLDS: f64 = 0.9;
/// The fraction of its places at which a claim must be as stated to hold partly.
pub const HOLDS_PARTLY: f64 = 0.5;

/// The verdicts, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ClaimVerdict {
    /// Our value is as stated in (nearly) the whole range.
    Holds,
    /// Our value is as stated in at least half of the range.
    HoldsPartly,
    /// The intervals do not decide.
    Undecided,
    /// Our value is as stated in less than half of the range.
    Differs,
    /// Our value is not as stated, and another place of the source contradicts the claim.
    SourceInconsistent,
    /// The evidence is from another machine, which the published value is not about.
    AnotherMachine,
    /// The evidence is missing.
    NotDerived,
}

/// What the interval of a value says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// All of it lies in the band.
    AsStated,
    /// Part of it lies in the band.
    Undecided,
    /// All of it lies outside.
    Otherwise,
}

impl Standing {
    /// How `value` stands to `band`.
    #[must_use]
    pub fn new(value: Value, band: Band) -> Self {
        if band.from <= value.low && value.high <= band.to {
            Self::AsStated
        } else if value.high < band.from || band.to < value.low {
            Self::Otherwise
        } else {
            Self::Undecided
        }
    }
}

/// Numbers of places, by what their intervals say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Our value is as stated.
    pub as_stated: usize,
    /// The interval does not decide.
    pub undecided: usize,
    /// Our value is not as stated.
    pub otherwise: usize,
}

/// The numbers of places of a claim, for each of its cases.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// The cases by name, in the order in which they were found.
    cases: Vec<(String, Count)>,
}

impl Count {
    /// How many places there are.
    #[must_use]
    pub const fn places(&self) -> usize {
        self.as_stated + self.undecided + self.otherwise
    }

    fn add(&mut self, value: Value, band: Band) {
        match Standing::new(value, band) {
            Standing::AsStated => self.as_stated += 1,
            Standing::Undecided => self.undecided += 1,
            Standing::Otherwise => self.otherwise += 1,
        }
    }
}

impl Tally {
    /// Counts the values of `finding`, judged by `reading`.
    #[must_use]
    pub fn new(reading: Reading, finding: &Finding) -> Self {
        let band = reading.band();
        let mut cases: Vec<(String, Count)> = Vec::new();
        for found in &finding.found {
            let known = cases.iter().position(|(case, _)| *case == found.case);
            let index = known.unwrap_or_else(|| {
                cases.push((found.case.clone(), Count::default()));
                cases.len() - 1
            });
            cases[index].1.add(found.value, band);
        }
        Self { cases }
    }

    /// The places of all cases together.
    #[must_use]
    pub fn total(&self) -> Count {
        self.cases.iter().fold(Count::default(), |sum, (_, count)| Count {
            as_stated: sum.as_stated + count.as_stated,
            undecided: sum.undecided + count.undecided,
            otherwise: sum.otherwise + count.otherwise,
        })
    }

    /// How many places there are.
    #[must_use]
    pub fn places(&self) -> usize {
        self.total().places()
    }

    /// The verdict on these places.
    #[must_use]
    pub fn verdict(&self) -> ClaimVerdict {
        let at_least = self.grade(|count| count.as_stated);
        let at_most = self.grade(|count| count.as_stated + count.undecided);
        match self.places() {
            0 => ClaimVerdict::NotDerived,
            _ if at_least == at_most => at_least,
            _ => ClaimVerdict::Undecided,
        }
    }

    /// The verdict if `as_stated` places of each case were as stated.
    fn grade(&self, as_stated: impl Fn(&Count) -> usize) -> ClaimVerdict {
        let part = |as_stated: usize, places: usize| as_stated as f64 / places as f64;
        let holds = |(_, count): &(String, Count)| part(as_stated(count), count.places()) >= HOLDS;
        let everywhere = self.cases.iter().map(|(_, count)| as_stated(count)).sum();
        match part(everywhere, self.places()) {
            _ if self.cases.iter().all(holds) => ClaimVerdict::Holds,
            part if part >= HOLDS_PARTLY => ClaimVerdict::HoldsPartly,
            _ => ClaimVerdict::Differs,
        }
    }
}

impl fmt::Display for Count {
    /// `5 of 18, 2 undecided`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.as_stated, self.places())?;
        if self.undecided > 0 {
            write!(f, ", {} undecided", self.undecided)?;
        }
        Ok(())
    }
}

impl fmt::Display for Tally {
    /// `as stated at 5 of 18, 2 undecided`; with several cases, each is added: `as stated at 15 of 18 (b = 2:
    /// 6 of 6; b = 4: 6 of 6; b = 8: 3 of 6)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "as stated at {}", self.total())?;
        if self.cases.len() > 1 {
            let each: Vec<String> =
                self.cases.iter().map(|(case, count)| format!("{case}: {count}")).collect();
            write!(f, " ({})", each.join("; "))?;
        }
        Ok(())
    }
}

impl ClaimVerdict {
    /// All verdicts, best first.
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

impl fmt::Display for ClaimVerdict {
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

/// The rule, for the reader of a report.
#[must_use]
pub fn rule() -> String {
    let [holds, partly] = [HOLDS, HOLDS_PARTLY].map(|part| 100.0 * part);
    let [printed, about, rewritten] =
        [crate::reading::PRINTED, crate::reading::ABOUT, crate::reading::REWRITTEN].map(|part| 100.0 * part);
    format!(
        "Every verdict is computed by one rule, the same for all sources. The column \"accepted\" has the range of values that count \
        as the published one. A printed figure counts as reached within {printed} % of it, the ends of a printed range likewise (an end of 0 within {printed} % of the range), \
        \"about\" a figure within {about} %, and a figure about a program that had to be written again within {rewritten} %. Where \
        another tolerance or number was assumed, that column shows it. A claim speaks of one value or of several places (rates, \
        sizes, machines). At each place our value is as stated if its whole 95 % interval lies in the accepted range, not as stated if \
        the whole interval lies outside it, and undecided if it is partly outside. A claim holds if it is as stated at {holds} % of \
        its places or more; if it speaks of several cases (approaches, policies, batch sizes), in each of them. It holds partly at \
        {partly} % of all places or more, and differs below that. If that depends on undecided places, the claim is undecided. \
        A claim that the model was fitted to is marked \"fitted\", and one that follows from what it was given \"by construction\": the \
        first says how well the fit succeeded, the second that the program computes as it should. Neither is a prediction, and \
        neither is counted as one."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::ValueAt;

    fn judge(reading: Reading, values: &[(f64, f64)]) -> ClaimVerdict {
        judge_cases(reading, values, 1)
    }

    /// Judges `values` that belong to the `cases` in turn.
    fn judge_cases(reading: Reading, values: &[(f64, f64)], cases: usize) -> ClaimVerdict {
        let found = |(index, &(low, high)): (usize, &(f64, f64))| {
            let value = Value { mean: (low + high) / 2.0, low, high };
            ValueAt::new("", value).in_case(format!("{}", index % cases))
        };
        let finding = Finding { found: values.iter().enumerate().map(found).collect(), note: String::new() };
        Tally::new(reading, &finding).verdict()
    }

    #[test]
    fn one_value_is_judged_by_its_whole_interval() {
        let about = Reading::About(25.0);
        assert_eq!(judge(about, &[(26.0, 29.0)]), ClaimVerdict::Holds);
        assert_eq!(judge(about, &[(28.0, 34.0)]), ClaimVerdict::Undecided);
        assert_eq!(judge(about, &[(31.0, 37.0)]), ClaimVerdict::Differs);
        assert_eq!(judge(Reading::About(29.0), &[(-18.0, 178.0)]), ClaimVerdict::Undecided);
        assert_eq!(judge(about, &[]), ClaimVerdict::NotDerived);
    }

    #[test]
    fn a_range_is_graded_by_how_much_of_it_is_as_stated() {
        let between = Reading::Between(10.0, 15.0);
        let of =
            |inside: usize, outside: usize| [vec![(11.0, 12.0); inside], vec![(3.0, 4.0); outside]].concat();
        assert_eq!(judge(between, &of(18, 0)), ClaimVerdict::Holds);
        assert_eq!(judge(between, &of(17, 1)), ClaimVerdict::Holds);
        assert_eq!(judge(between, &of(9, 9)), ClaimVerdict::HoldsPartly);
        assert_eq!(judge(between, &of(5, 13)), ClaimVerdict::Differs);
        assert_eq!(judge(between, &of(1, 10)), ClaimVerdict::Differs);
    }

    #[test]
    fn a_claim_of_several_cases_has_to_hold_in_each() {
        let judge = |cases: [(usize, usize); 3]| {
            let found = cases.iter().zip(["b = 2", "b = 4", "b = 8"]).flat_map(|(&(held, failed), case)| {
                let values = [vec![1.0; held], vec![-1.0; failed]].concat();
                values.into_iter().map(move |value| ValueAt::new("", Value::exact(value)).in_case(case))
            });
            let finding = Finding { found: found.collect(), note: String::new() };
            let tally = Tally::new(Reading::MoreThan(0.0), &finding);
            (tally.verdict(), tally.to_string())
        };
        assert_eq!(judge([(20, 0), (20, 0), (19, 1)]).0, ClaimVerdict::Holds);
        let (verdict, words) = judge([(20, 0), (20, 0), (16, 4)]);
        assert_eq!(verdict, ClaimVerdict::HoldsPartly, "93 % of all places, and 80 % for b = 8");
        assert_eq!(words, "as stated at 56 of 60 (b = 2: 20 of 20; b = 4: 20 of 20; b = 8: 16 of 20)");
        assert_eq!(judge([(20, 0), (0, 20), (0, 20)]).0, ClaimVerdict::Differs);
    }

    #[test]
    fn undecided_places_matter_only_if_they_can_change_the_verdict() {
        let positive = Reading::MoreThan(0.0);
        let of = |held: usize, open: usize| [vec![(1.0, 2.0); held], vec![(-1.0, 1.0); open]].concat();
        assert_eq!(judge(positive, &of(19, 1)), ClaimVerdict::Holds);
        assert_eq!(judge(positive, &of(9, 3)), ClaimVerdict::Undecided);
        assert_eq!(judge(positive, &[of(0, 4), vec![(-2.0, -1.0); 5]].concat()), ClaimVerdict::Differs);
    }

    /// Random numbers from the high bits of a linear congruential generator (Knuth's constants).
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
            let cases = 1 + (3.0 * draws.next()) as usize;
            let [precise, quick] = [narrow, wide].map(|values| judge_cases(reading, &values, cases));
            assert!(
                quick == precise || quick == ClaimVerdict::Undecided,
                "seed {seed}: {precise}, then {quick}"
            );
        }
    }
}
