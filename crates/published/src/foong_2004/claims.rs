//! What the text says of its figures, and the one rule by which verdicts are computed.
//!
//! A gain "of up to" a figure is looked for at every size and in both directions, and the greatest that can
//! be told from chance is ours. It holds if its 95% interval reaches the published figure or ends within a
//! fifth of it; holds partly if there is a gain, of another amount, or if none can be told from chance while
//! the interval of the greatest reaches the published figure; differs otherwise.
//! That something has no substantial impact holds if every interval lies within a tenth to either side,
//! holds partly if every mean does, and differs otherwise. Where no affinity differed from itself, a point
//! says nothing. Misses are fewer if they are at a point and more at none, partly if they are more at another.

use super::points::{Affinity, Point, Quantity};
use core::fmt;
use warmcore_stats::blocks::Verdict as Visible;
use warmcore_stats::paired::Change;

/// How far from a printed figure still counts as that figure, relative to it.
const ABOUT: f64 = 0.2;
/// What is not substantial.
const SUBSTANTIAL: f64 = 0.1;

/// Something the source says.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Its name, unique among the claims.
    pub id: &'static str,
    /// What it says, in our words.
    pub says: &'static str,
    /// The value as the source states it.
    pub published: &'static str,
    /// What is looked for.
    pub kind: Kind,
}

/// What is looked for to judge a claim.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// A model's throughput is above no affinity's by up to this fraction.
    GainUpTo(Affinity, f64),
    /// A model's cost is below no affinity's by up to this fraction.
    SavingUpTo(Affinity, f64),
    /// A model's throughput is about that of no affinity.
    NoImpact(Affinity),
    /// The one model's throughput is nowhere below the other's.
    Best(Affinity, Affinity),
    /// A model's misses are below no affinity's.
    Fewer(Affinity, Quantity),
}

/// What became of a claim.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// Ours is what the source states.
    Holds,
    /// Part of what is stated is found, or the intervals do not decide.
    HoldsPartly,
    /// Ours is not what the source states.
    Differs,
    /// There is nothing to tell by.
    NotMeasured,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::HoldsPartly => "holds partly",
            Self::Differs => "differs",
            Self::NotMeasured => "could not be measured",
        })
    }
}

/// A claim with what came of it.
#[derive(Clone, Debug)]
pub struct Concluded {
    /// What the source says.
    pub claim: Claim,
    /// The change that decides, as a fraction; `None` where there is none.
    pub ours: Option<Change>,
    /// Where that was found.
    pub place: Option<String>,
    /// What follows.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
}

/// The claims, in the source's order.
pub const CLAIMS: [Claim; 7] = [
    Claim {
        id: "process-no-impact",
        says: "Process affinity alone has no substantial impact on performance.",
        published: "no substantial impact",
        kind: Kind::NoImpact(Affinity::ProcessOnly),
    },
    Claim {
        id: "interrupt-25",
        says: "Interrupt affinity alone improves throughput by as much as 25 %.",
        published: "up to 25 %",
        kind: Kind::GainUpTo(Affinity::InterruptOnly, 0.25),
    },
    Claim {
        id: "full-29",
        says: "Full affinity improves throughput by up to 29 %.",
        published: "up to 29 %",
        kind: Kind::GainUpTo(Affinity::Full, 0.29),
    },
    Claim {
        id: "full-best",
        says: "The best improvement is achieved with full affinity, not with interrupt affinity alone.",
        published: "best",
        kind: Kind::Best(Affinity::Full, Affinity::InterruptOnly),
    },
    Claim {
        id: "cost-24",
        says: "With full affinity, the cost in cycles per bit is reduced by up to 24 %.",
        published: "up to 24 %",
        kind: Kind::SavingUpTo(Affinity::Full, 0.24),
    },
    Claim {
        id: "misses-l2",
        says: "Full affinity saves L2 misses per unit of work (figure 5).",
        published: "fewer",
        kind: Kind::Fewer(Affinity::Full, Quantity::L2Misses),
    },
    Claim {
        id: "misses-l3",
        says: "Full affinity saves L3 misses per unit of work, which matter more than those of L2 (figure 5).",
        published: "fewer",
        kind: Kind::Fewer(Affinity::Full, Quantity::L3Misses),
    },
];

/// Every claim, judged by what was measured.
#[must_use]
pub fn conclude(points: &[Point]) -> Vec<Concluded> {
    CLAIMS.map(|claim| of_one(claim, points)).to_vec()
}

/// A change that was found somewhere, and what it amounts to.
struct Found {
    place: String,
    change: Change,
    visible: Visible,
}

fn of_one(claim: Claim, points: &[Point]) -> Concluded {
    let found = |one, base, quantity| found(points, one, base, quantity);
    let (deciding, verdict, reason) = match claim.kind {
        Kind::GainUpTo(model, published) => {
            up_to(found(model, Affinity::Nobody, Quantity::Throughput), published, 1.0)
        }
        Kind::SavingUpTo(model, published) => {
            up_to(found(model, Affinity::Nobody, Quantity::Cost), published, -1.0)
        }
        Kind::NoImpact(model) => no_impact(found(model, Affinity::Nobody, Quantity::Throughput)),
        Kind::Best(model, second) => best(found(model, second, Quantity::Throughput)),
        Kind::Fewer(model, quantity) => match points.iter().find(|point| !point.has(quantity)) {
            Some(point) => (None, Verdict::NotMeasured, point.counters.clone()),
            None => fewer(found(model, Affinity::Nobody, quantity)),
        },
    };
    let (ours, place) = deciding.map(|found| (found.change, found.place)).unzip();
    Concluded { claim, ours, place, verdict, reason }
}

/// The comparison at every point where no affinity did not differ from itself.
fn found(points: &[Point], one: Affinity, base: Affinity, quantity: Quantity) -> Vec<Found> {
    let at = |point: &Point| {
        let (change, visible) = point.compared(one, base, quantity)?;
        (visible != Visible::Unsound).then(|| Found { place: point.place(), change, visible })
    };
    points.iter().filter_map(at).collect()
}

type Judged = (Option<Found>, Verdict, String);

/// Where nothing can be told.
fn nothing() -> Judged {
    let why = "at no point did no affinity agree with itself, or the figure could not be had: a quieter machine, or \
               longer runs, would tell";
    (None, Verdict::NotMeasured, why.to_owned())
}

/// The greatest change in the direction of `sign`.
fn up_to(found: Vec<Found>, published: f64, sign: f64) -> Judged {
    let (all, wanted) = (found.len(), if sign > 0.0 { Visible::More } else { Visible::Less });
    let visible = found.iter().filter(|found| found.visible == wanted).count();
    let rank = |found: &Found| (found.visible == wanted, found.change.mean * sign);
    let greatest = found.into_iter().max_by(|one, other| {
        let (one, other) = (rank(one), rank(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let Some(greatest) = greatest else { return nothing() };
    let Change { low, high, .. } = greatest.change;
    let (least, most) = if sign > 0.0 { (low, high) } else { (-high, -low) };
    let reaches = least <= published * (1.0 + ABOUT) && most >= published * (1.0 - ABOUT);
    let told = format!("it can be told from chance at {visible} of {all} points");
    let (verdict, reason) = match (visible > 0, reaches) {
        (false, true) => {
            (Verdict::HoldsPartly, format!("{told}, and the interval of the greatest does not decide"))
        }
        (false, false) => (Verdict::Differs, format!("{told}; the greatest is shown")),
        (true, true) => (Verdict::Holds, format!("{told}, and the greatest is about the published one")),
        (true, false) if least > published => {
            (Verdict::HoldsPartly, format!("{told}, and the greatest is larger"))
        }
        (true, false) => (Verdict::HoldsPartly, format!("{told}, but the greatest is smaller")),
    };
    (Some(greatest), verdict, reason)
}

/// The change furthest from none decides.
fn no_impact(found: Vec<Found>) -> Judged {
    let all = found.len();
    let within = found.iter().filter(|found| found.change.mean.abs() <= SUBSTANTIAL).count();
    let surely = found.iter().filter(|found| found.change.at_most() <= SUBSTANTIAL).count();
    let furthest =
        found.into_iter().max_by(|one, other| one.change.mean.abs().total_cmp(&other.change.mean.abs()));
    let Some(furthest) = furthest else { return nothing() };
    let verdict = match (surely == all, within == all) {
        (true, _) => Verdict::Holds,
        (false, true) => Verdict::HoldsPartly,
        (false, false) => Verdict::Differs,
    };
    let reason = format!(
        "at {within} of {all} points the mean is within a tenth of no affinity's, at {surely} the whole interval; the \
         furthest is shown"
    );
    (Some(furthest), verdict, reason)
}

/// The change that is furthest below none is shown.
fn fewer(found: Vec<Found>) -> Judged {
    let (all, count) = (found.len(), |visible| found.iter().filter(|found| found.visible == visible).count());
    let (less, more) = (count(Visible::Less), count(Visible::More));
    let least = found.into_iter().min_by(|one, other| one.change.mean.total_cmp(&other.change.mean));
    let Some(least) = least else { return nothing() };
    let verdict = match (less, more) {
        (1.., 0) => Verdict::Holds,
        (1.., _) => Verdict::HoldsPartly,
        (0, _) => Verdict::Differs,
    };
    let reason = format!(
        "there are fewer at {less} of {all} points and more at {more}; at the others chance decides. The least is shown"
    );
    (Some(least), verdict, reason)
}

/// The worst comparison decides.
fn best(found: Vec<Found>) -> Judged {
    let (all, count) = (found.len(), |visible| found.iter().filter(|found| found.visible == visible).count());
    let (better, worse) = (count(Visible::More), count(Visible::Less));
    let worst = found.into_iter().min_by(|one, other| one.change.mean.total_cmp(&other.change.mean));
    let Some(worst) = worst else { return nothing() };
    let verdict = match (better, worse) {
        (1.., 0) => Verdict::Holds,
        (0, 1..) => Verdict::Differs,
        _ => Verdict::HoldsPartly,
    };
    let reason = format!(
        "it is better at {better} of {all} points and worse at {worse}; at the others chance decides. The worst is shown"
    );
    (Some(worst), verdict, reason)
}

impl Concluded {
    /// Our value with its 95% interval, and where: `+29.0 % [+24.1, +33.9] (TX, 64 bytes)`.
    #[must_use]
    pub fn ours(&self) -> String {
        match (&self.ours, &self.place) {
            (Some(change), Some(place)) => format!("{} ({place})", percent(change)),
            _ => "–".to_owned(),
        }
    }
}

/// `+29.0 % [+24.1, +33.9]`.
#[must_use]
pub fn percent(change: &Change) -> String {
    let [mean, low, high] = [change.mean, change.low, change.high].map(|part| part * 100.0);
    format!("{mean:+.1} % [{low:+.1}, {high:+.1}]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foong_2004::points::{Direction, Runs};

    /// Five blocks around `level`, alike for every model so that only the levels differ.
    fn runs(throughput: f64, cost: f64) -> Runs {
        let around = |level: f64| [1.0, 1.02, 0.98, 1.01, 0.99].map(|noise| level * noise).to_vec();
        Runs { throughput: around(throughput), cpu_use: around(0.9), cost: around(cost), ..Runs::default() }
    }

    fn point(interrupt: f64, full: f64, process: f64) -> Point {
        let base = runs(10.0, 1.0);
        let mut control = base.clone();
        control.throughput = vec![10.1, 10.1, 9.9, 10.0, 10.0];
        control.cost = vec![1.01, 1.01, 0.99, 1.0, 1.0];
        let of = |gain: f64| runs(10.0 * (1.0 + gain), 1.0 / (1.0 + gain));
        let runs = [
            (Affinity::Nobody, base),
            (Affinity::InterruptOnly, of(interrupt)),
            (Affinity::Full, of(full)),
            (Affinity::ProcessOnly, of(process)),
        ];
        let [cycles, counters] = ["by a clock rate", "no counters here"].map(str::to_owned);
        Point { direction: Direction::Transmit, size: 64, runs: runs.into(), control, cycles, counters }
    }

    fn verdicts(points: &[Point]) -> Vec<(&'static str, Verdict)> {
        conclude(points).iter().map(|concluded| (concluded.claim.id, concluded.verdict)).collect()
    }

    #[test]
    fn what_the_source_found_holds() {
        let found = verdicts(&[point(0.1, 0.15, 0.0), point(0.25, 0.29, 0.02)]);
        assert!(found[..5].iter().all(|(_, verdict)| *verdict == Verdict::Holds), "{found:?}");
        assert!(found[5..].iter().all(|(_, verdict)| *verdict == Verdict::NotMeasured), "{found:?}");
        let full = &conclude(&[point(0.1, 0.15, 0.0), point(0.25, 0.29, 0.02)])[2];
        assert!(
            full.ours().starts_with("+29.0 % [") && full.ours().ends_with("(TX, 64 bytes)"),
            "{}",
            full.ours()
        );
    }

    #[test]
    fn misses_are_judged_where_they_are_counted() {
        let mut counted = point(0.25, 0.29, 0.0);
        let Point { runs, control, .. } = &mut counted;
        for (runs, level) in runs.iter_mut().map(|(affinity, runs)| match affinity {
            Affinity::Full => (runs, 0.7),
            _ => (runs, 1.0),
        }) {
            runs.l2_misses = [1.0, 1.02, 0.98, 1.01, 0.99].map(|noise| level * noise).to_vec();
            runs.l3_misses = [1.0, 1.02, 0.98, 1.01, 0.99].map(|noise| noise / level).to_vec();
        }
        control.l2_misses = vec![1.01, 1.01, 0.99, 1.0, 1.0];
        control.l3_misses = control.l2_misses.clone();
        let found = verdicts(&[counted.clone()]);
        assert_eq!((found[5].1, found[6].1), (Verdict::Holds, Verdict::Differs));
        let one_without = conclude(&[counted, point(0.25, 0.29, 0.0)]);
        assert_eq!(one_without[5].verdict, Verdict::NotMeasured);
        assert_eq!(one_without[5].reason, "no counters here");
    }

    #[test]
    fn a_smaller_gain_holds_partly_and_none_differs() {
        let found = verdicts(&[point(0.1, 0.1, 0.2)]);
        assert_eq!(found[0].1, Verdict::Differs, "20 % is substantial");
        assert_eq!((found[1].1, found[2].1), (Verdict::HoldsPartly, Verdict::HoldsPartly));
        assert_eq!(found[3].1, Verdict::HoldsPartly, "neither is better");
        let found = verdicts(&[point(0.0, -0.1, 0.0)]);
        assert_eq!(
            (found[1].1, found[2].1, found[3].1),
            (Verdict::Differs, Verdict::Differs, Verdict::Differs)
        );
    }

    #[test]
    fn an_interval_that_decides_nothing_refutes_nothing() {
        let mut vague = point(0.25, 0.29, 0.0);
        let full = vague.runs.get_mut(&Affinity::Full).expect("it was measured");
        full.throughput = vec![6.0, 20.0, 9.0, 18.0, 12.0];
        let concluded = &conclude(&[vague])[2];
        assert_eq!(concluded.verdict, Verdict::HoldsPartly, "{}", concluded.ours());
        assert!(concluded.reason.contains("does not decide"), "{}", concluded.reason);
    }

    #[test]
    fn where_no_affinity_differs_from_itself_nothing_is_told() {
        let mut unsound = point(0.25, 0.29, 0.0);
        unsound.control = runs(12.0, 0.8);
        assert!(verdicts(&[unsound]).iter().all(|(_, verdict)| *verdict == Verdict::NotMeasured));
        assert!(verdicts(&[]).iter().all(|(_, verdict)| *verdict == Verdict::NotMeasured));
    }
}
