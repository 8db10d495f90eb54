//! The highest rate at which one packet in a hundred takes no longer than a given time.
//!
//! At single rates the [share of packets](crate::packet::observe::slower) that take longer than the limit is compared
//! with one in a hundred, by runs that grow until its interval decides. A rate
//! is *within* the limit, or *beyond* it, only if that is [`CERTAIN`] half-widths away: with at most [`LOOKS`] looks at
//! each of some 25 rates, the answer's interval fails in fewer than one search in twenty, even though every look is
//! a chance to be wrong (a sum of probabilities, Bonferroni 1936). Rates of [a fixed list](LOADS) are tried from the
//! top, since delays may be long at low rates too, where caches are cold. Between the highest that is within and the
//! lowest above it that is beyond, the search goes on by halves. A rate that the longest run does not decide stays
//! undecided, and the search narrows the interval from either side of it.
//!
//! Delays are taken to rise with the rate between neighbouring rates that were tried.

use crate::packet::capacity::Capacity;
use crate::packet::observe::Observations;
use crate::packet::outcome::Ended;
use crate::packet::point::{Point, PointError};
use crate::packet::steady::PHASES;
use serde::{Deserialize, Serialize};
use warmcore_costs::Profile;
use warmcore_scenario::{Mixing, OpenTraffic, PacketScenario};
use warmcore_units::{Estimate, Fault, Nanos, PerSecond};

/// Loads that are tried first, from the top.
pub const LOADS: [f64; 12] = [0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05];
/// Half-widths that the share of slower packets is away from one in a hundred where it is decided.
pub const CERTAIN: f64 = 2.0;
/// Runs at a rate, at most. Each is four times as long as the one before.
pub const LOOKS: u32 = 4;
const LONGER: u64 = 4;
/// The share of packets that may take longer.
const ALLOWED: f64 = 0.01;
/// Packets of the first run: enough to know a p99.
const FIRST_PACKETS: u64 = 400_000;
/// The search ends when the interval is this part of the rate.
const NARROW: f64 = 0.01;

/// The highest rate within a limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RateWithin {
    /// The limit of the p99 of the delay.
    pub limit: Nanos,
    /// The highest rate that is known to be within the limit; `None` if no rate tried is.
    pub least: Option<PerSecond>,
    /// The lowest rate above it that is known to be beyond it: the p99 is longer, or the host does not keep up.
    pub most: PerSecond,
    /// Every rate that was tried, in order.
    pub trials: Vec<Trial>,
}

/// A rate that was tried.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Trial {
    /// Packets per second.
    pub rate: PerSecond,
    /// The p99 of the longest run there; `None` if the host is saturated.
    pub p99: Option<Estimate<Nanos>>,
    /// The share of packets that took longer than the limit there.
    pub slower: Option<Estimate<f64>>,
    /// Packets of that run.
    pub packets: u64,
    /// What it says.
    pub verdict: LimitVerdict,
}

/// Whether the p99 at a rate is within the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitVerdict {
    /// It certainly is.
    Within,
    /// It certainly is not, or the host does not keep up.
    Beyond,
    /// The longest run does not tell.
    Undecided,
}

impl RateWithin {
    /// The rate, with half of what is not known on either side; `None` if no rate tried is within the limit.
    #[must_use]
    pub fn rate(&self) -> Option<Estimate<PerSecond>> {
        let (least, most) = (self.least?.0, self.most.0);
        Some(Estimate::new(PerSecond(f64::midpoint(least, most)), PerSecond((most - least) / 2.0)))
    }
}

/// The highest rate at which the p99 of the delay of `scenario` is at most `limit`, on a host with this `capacity`.
/// Whatever rate and length of runs the scenario gives, but for `run.max_packets`, is not used.
///
/// # Errors
/// As [`Point::new`]; and if `limit` is no time above zero, or delays have no intervals: those of a trace, and of
/// self-similar arrivals.
pub fn rate_within(
    scenario: &PacketScenario,
    traffic: &OpenTraffic,
    profile: &Profile,
    capacity: Capacity,
    limit: Nanos,
) -> Result<RateWithin, PointError> {
    if !(limit.0 > 0.0 && limit.0.is_finite()) {
        return Err(Fault::new("p99_below", limit, "a time above zero").into());
    }
    if traffic.trace().is_some()
        || scenario.traffic.mixing(capacity.rate.mean) == Mixing::Slowly
        || scenario.service.distribution.is_heavy_tailed()
    {
        let process = scenario.traffic.process.name();
        let expected = format!(
            "nothing: delays of the process `{process}` have no intervals, so no rate can be decided"
        );
        return Err(Fault::new("p99_below", limit, expected).into());
    }
    let mut search = Search { scenario, traffic, profile, capacity, limit, trials: Vec::new() };
    let (least, most) = search.narrowed()?;
    Ok(RateWithin { limit, least, most, trials: search.trials })
}

struct Search<'a> {
    scenario: &'a PacketScenario,
    traffic: &'a OpenTraffic,
    profile: &'a Profile,
    capacity: Capacity,
    limit: Nanos,
    trials: Vec<Trial>,
}

impl Search<'_> {
    /// The highest rate known to be within, and the lowest above it known to be beyond.
    fn narrowed(&mut self) -> Result<(Option<PerSecond>, PerSecond), PointError> {
        let whole = self.capacity.rate.mean;
        // Certainly saturated, as everywhere.
        let mut most = whole.0 + CERTAIN * self.capacity.rate.half();
        let mut within = None;
        for load in LOADS {
            let rate = whole.0 * load;
            match self.verdict(rate)? {
                LimitVerdict::Beyond => most = rate,
                LimitVerdict::Undecided => {}
                LimitVerdict::Within => {
                    within = Some(rate);
                    break;
                }
            }
        }
        let Some(mut least) = within else { return Ok((None, PerSecond(most))) };
        // The undecided rates lie between these two.
        let mut undecided: Option<[f64; 2]> = None;
        loop {
            let narrow = NARROW * most;
            let rate = match undecided {
                None if most - least > narrow => f64::midpoint(least, most),
                Some([low, _]) if low - least > narrow / 2.0 => f64::midpoint(least, low),
                Some([_, high]) if most - high > narrow / 2.0 => f64::midpoint(high, most),
                _ => return Ok((Some(PerSecond(least)), PerSecond(most))),
            };
            match self.verdict(rate)? {
                LimitVerdict::Within => least = rate,
                LimitVerdict::Beyond => most = rate,
                LimitVerdict::Undecided => {
                    let [low, high] = undecided.unwrap_or([rate; 2]);
                    undecided = Some([low.min(rate), high.max(rate)]);
                }
            }
            // What was undecided may lie outside now.
            undecided = undecided.filter(|[low, high]| least < *low && *high < most);
        }
    }

    /// Tries `rate` until it is decided.
    fn verdict(&mut self, rate: f64) -> Result<LimitVerdict, PointError> {
        let most = self.scenario.run.max_packets;
        let mut packets = FIRST_PACKETS.min(most);
        for look in 1..=LOOKS {
            let trial = self.trial(PerSecond(rate), packets)?;
            let is_last = look == LOOKS || packets == most;
            if trial.verdict != LimitVerdict::Undecided || is_last {
                self.trials.push(trial);
                return Ok(trial.verdict);
            }
            packets = packets.saturating_mul(LONGER).min(most);
        }
        Ok(LimitVerdict::Undecided)
    }

    /// A run of this many `packets`.
    fn trial(&self, rate: PerSecond, packets: u64) -> Result<Trial, PointError> {
        let mut scenario = PacketScenario { rate_per_s: Some(rate), ..self.scenario.clone() };
        if scenario.traffic.mixing(rate) == Mixing::Never {
            // What differs are the phases, so that many short runs say more than a long one.
            scenario.run.replications = scenario.run.replications.max(PHASES as u32);
            scenario.run.packets = Some((packets / PHASES).max(10_000));
        } else {
            scenario.run.packets = Some(packets);
        }
        let wanted = Observations { slower_than: Some(self.limit), ..Observations::default() };
        let point = Point::new(&scenario, self.traffic, self.profile)?;
        let (result, observed) = point.observe_with(&wanted, self.capacity)?;
        let Some(outcome) = result.outcome else {
            return Ok(Trial { rate, p99: None, slower: None, packets: 0, verdict: LimitVerdict::Beyond });
        };
        let slower = observed
            .slower
            .map(|slower| Estimate::new(slower.share, slower.half_width.unwrap_or(f64::INFINITY)));
        let (mean, half) = slower.map_or((ALLOWED, f64::INFINITY), |slower| (slower.mean, slower.half()));
        let verdict = if outcome.ended != Ended::FixedLength || !half.is_finite() {
            LimitVerdict::Undecided
        } else if mean + CERTAIN * half <= ALLOWED {
            LimitVerdict::Within
        } else if mean - CERTAIN * half > ALLOWED {
            LimitVerdict::Beyond
        } else {
            LimitVerdict::Undecided
        };
        Ok(Trial { rate, p99: Some(outcome.quantiles.p99), slower, packets: outcome.packets, verdict })
    }
}
