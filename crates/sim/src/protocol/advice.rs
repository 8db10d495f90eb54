//! Which scheduling of protocol work is faster, by how much computing there is for each request.

use super::demand::Demand;
use super::nodes::{Figures, Sleepers, simulate};
use rayon::prelude::*;
use warmcore_policy::protocol::ProtocolScheduling;
use warmcore_stats::{Interval, Replications};
use warmcore_units::{Estimate, Fault, Nanos};
use warmcore_workload::random::Key;

/// One processor set aside: *Fixed*.
pub const DEDICATED: ProtocolScheduling = ProtocolScheduling::Dedicated { processors: 1 };
/// All compute, and one at a time acts: *Floating*.
pub const MULTIPLEXED: ProtocolScheduling = ProtocolScheduling::Multiplexed { threads: 1 };

/// Independent runs of each scheduling.
const RUNS: u64 = 10;
/// Requests of each run, at least.
const REQUESTS: u64 = 4000;
/// Requests of each processor of both nodes, at least: a tenth of them are the warm-up, in which queues fill.
const REQUESTS_EACH: u64 = 100;
/// Times between a border's ends are at most so far apart.
const BORDER_WIDTH: f64 = 1.05;
/// A gain below this part is not worth another arrangement.
pub const WORTH_FRACTION: f64 = 0.01;

/// Which of the two completes more requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Winner {
    /// One processor set aside.
    Dedicated,
    /// All processors in turn.
    Multiplexed,
    /// They differ by less than [`WORTH_FRACTION`], or the runs do not tell.
    Undecided,
}

/// Both schedulings at one amount of computing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Comparison {
    /// Computing for each request, on average.
    pub compute: Nanos,
    /// Whether events wake sleepers if all are multiplexed: whichever lets more requests complete.
    pub sleepers: Sleepers,
    /// Requests a second that a node completes with a dedicated processor, then with all multiplexed.
    pub rates: [Estimate<f64>; 2],
    /// From asking to going on, in nanoseconds, in the same order.
    pub responses: [Estimate<f64>; 2],
    /// Interrupts for each request if all are multiplexed.
    pub interrupts: Estimate<f64>,
    /// How many more requests the dedicated processor lets complete, as a fraction of the multiplexed ones.
    pub gain: Interval,
}

/// Where the faster one changes as there is more computing for each request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Border {
    /// The most computing at which `below` is known to be faster.
    pub from: Nanos,
    /// The least above it at which `above` is.
    pub to: Nanos,
    /// Which is faster with less computing.
    pub below: Winner,
    /// Which is faster with more.
    pub above: Winner,
}

impl Comparison {
    /// Which is faster, by [`WORTH_FRACTION`] beyond the scatter of the runs.
    #[must_use]
    pub fn winner(&self) -> Winner {
        let Interval { mean, half_width, .. } = self.gain;
        match mean {
            mean if mean - half_width > WORTH_FRACTION => Winner::Dedicated,
            mean if -mean - half_width > WORTH_FRACTION => Winner::Multiplexed,
            _ => Winner::Undecided,
        }
    }
}

/// Compares the two at `demand`. Both compute for the same times.
///
/// # Errors
/// If the demand is impossible, or a node has one processor, which cannot be set aside.
pub fn compare(demand: &Demand, seed: u64) -> Result<Comparison, Fault> {
    demand.check()?;
    if demand.processors < 2 {
        return Err(Fault::new(
            "processors",
            demand.processors,
            "at least 2: one to set aside, and one to compute",
        ));
    }
    let requests = REQUESTS.max(2 * u64::from(demand.processors) * REQUESTS_EACH);
    let runs = |scheduling, sleepers| -> Vec<Figures> {
        let run = |replication| {
            simulate(demand, scheduling, sleepers, requests, Key { seed, point: 0, replication })
        };
        (0..RUNS).into_par_iter().filter_map(run).collect()
    };
    let completed = |runs: &[Figures]| runs.iter().map(|run| run.rate.0).sum::<f64>();
    let (mut sleepers, mut multiplexed) = (Sleepers::Woken, runs(MULTIPLEXED, Sleepers::Woken));
    // Nobody sleeps if nothing has to be woken.
    if demand.wake_up > Nanos::ZERO {
        let spared = runs(MULTIPLEXED, Sleepers::Spared);
        if completed(&spared) > completed(&multiplexed) {
            (sleepers, multiplexed) = (Sleepers::Spared, spared);
        }
    }
    let dedicated = runs(DEDICATED, Sleepers::Woken);
    let runs: Vec<[Figures; 2]> =
        dedicated.into_iter().zip(multiplexed).map(|(one, other)| [one, other]).collect();
    let over = |of: &dyn Fn(&[Figures; 2]) -> f64| runs.iter().map(of).collect::<Replications>();
    let estimate = |of: &dyn Fn(&[Figures; 2]) -> f64| {
        let Interval { mean, half_width, .. } = over(of).interval();
        Estimate::new(mean, half_width)
    };
    let paired = over(&|run| run[0].rate.0).against(&over(&|run| run[1].rate.0));
    let unknown = Interval { mean: 0.0, half_width: f64::INFINITY, count: 0 };
    Ok(Comparison {
        compute: demand.compute,
        sleepers,
        rates: [estimate(&|run| run[0].rate.0), estimate(&|run| run[1].rate.0)],
        responses: [estimate(&|run| run[0].response.0), estimate(&|run| run[1].response.0)],
        interrupts: estimate(&|run| run[1].interrupts),
        gain: paired.map_or(unknown, |paired| paired.relative),
    })
}

/// Compares them at each amount of computing in `computes`, in rising order, and finds where the faster one changes.
///
/// # Errors
/// As [`compare`].
pub fn decide(
    demand: &Demand,
    computes: &[Nanos],
    seed: u64,
) -> Result<(Vec<Comparison>, Vec<Border>), Fault> {
    let at = |compute: Nanos| compare(&Demand { compute, ..*demand }, seed);
    let compared: Vec<Comparison> = computes.iter().map(|&compute| at(compute)).collect::<Result<_, _>>()?;
    let decided: Vec<&Comparison> = compared.iter().filter(|one| one.winner() != Winner::Undecided).collect();
    let mut borders = Vec::new();
    for pair in decided.windows(2) {
        let (below, above) = (pair[0].winner(), pair[1].winner());
        if below != above {
            let [from, to] = narrowed([pair[0].compute, pair[1].compute], below, &at)?;
            borders.push(Border { from, to, below, above });
        }
    }
    Ok((compared, borders))
}

/// The most computing at which `below` is decided, and the least above it at which the other one is.
fn narrowed(
    ends: [Nanos; 2],
    below: Winner,
    at: &impl Fn(Nanos) -> Result<Comparison, Fault>,
) -> Result<[Nanos; 2], Fault> {
    let last = bisect(ends, |compute| Ok(at(compute)?.winner() == below))?[0];
    let first = bisect([last, ends[1]], |compute| {
        let winner = at(compute)?.winner();
        Ok(winner == below || winner == Winner::Undecided)
    })?[1];
    Ok([last, first])
}

/// Halves what lies between `low`, where `holds` holds, and `high`, where it does not.
fn bisect(
    [mut low, mut high]: [Nanos; 2],
    holds: impl Fn(Nanos) -> Result<bool, Fault>,
) -> Result<[Nanos; 2], Fault> {
    while low.0 > 0.0 && high.0 / low.0 > BORDER_WIDTH {
        let middle = Nanos((low.0 * high.0).sqrt());
        if holds(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(processors: u32, compute: f64) -> Demand {
        Demand {
            processors,
            compute: Nanos(compute),
            occupancy: Nanos(200.0),
            latency: Nanos(250.0),
            interrupt: Nanos(5000.0),
            wake_up: Nanos::ZERO,
            handover: Nanos(150.0),
        }
    }

    /// §4.3.2: with high interrupt overhead and little computing a dedicated processor pays, with much it does not.
    #[test]
    fn little_computing_wants_a_dedicated_processor_and_much_does_not() {
        let computes = [100.0, 1e3, 1e4, 1e5, 1e6].map(Nanos);
        let (compared, borders) = decide(&demand(4, 0.0), &computes, 1).expect("possible");
        let first = compared.first().map(Comparison::winner);
        let last = compared.last().map(Comparison::winner);
        assert_eq!((first, last), (Some(Winner::Dedicated), Some(Winner::Multiplexed)));
        let [border] = borders[..] else { panic!("{borders:?}") };
        assert!(border.from < border.to && border.to.0 / border.from.0 < 2.0, "{border:?}");
    }

    /// §4.3.2: "dedicated protocol processors may become more attractive as interrupt latencies go up".
    #[test]
    fn the_border_rises_with_the_cost_of_an_interrupt() {
        let border = |interrupt: f64| {
            let demand = Demand { interrupt: Nanos(interrupt), ..demand(4, 0.0) };
            let (_, borders) = decide(&demand, &[1e2, 1e3, 1e4, 1e5, 1e6].map(Nanos), 1).expect("possible");
            borders.last().map_or(0.0, |border| border.from.0)
        };
        assert!(border(20_000.0) > 1.5 * border(2000.0));
    }

    /// Requests a second of a node whose `processors` think, then queue at the dedicated processors of both nodes: exact
    /// mean value analysis of a closed network (Reiser & Lavenberg 1980). Service is exponential there, and constant here.
    fn closed_network(processors: u32, think: f64, service: f64) -> f64 {
        // A request spends `service` at the two dedicated processors together: half of it at each, on average.
        let (stations, customers) = (2.0, 2 * processors);
        let (mut queue, mut rate) = (0.0, 0.0);
        for present in 1..=customers {
            let response = service / stations * (1.0 + queue);
            rate = f64::from(present) / (think + stations * response);
            queue = rate * response;
        }
        1e9 * rate / stations
    }

    /// Eight processors, 400 ns an event, 20 us of computing, and 5 us to fetch from another cache: the dedicated processor is
    /// busy for 1.2 us of events and 5 us of fetching with each request, and carries no more than that allows.
    #[test]
    fn a_costly_hand_over_fills_the_dedicated_processor() {
        let demand = |handover: f64| Demand {
            occupancy: Nanos(400.0),
            latency: Nanos(1e3),
            interrupt: Nanos(2e3),
            handover: Nanos(handover),
            ..demand(8, 20e3)
        };
        for handover in [0.0, 1e3, 5e3] {
            let compared = compare(&demand(handover), 1).expect("possible");
            let (think, service) = (20e3 + 2e3 + handover, 1.2e3 + handover);
            let least = closed_network(7, think, service);
            let most = (1e9 / service).min(7e9 / (think + service));
            let rate = compared.rates[0].mean;
            assert!(0.98 * least < rate && rate < 1.02 * most, "{least} to {most}: {compared:?}");
        }
    }

    /// A wake-up of 500 us and an interrupt of 2 us: one of 64 processors always computes, and is interrupted for the reply and
    /// for the response. If sleepers were woken for them, one event at a time, a node would complete 2000 a second at most.
    #[test]
    fn a_costly_wake_up_is_avoided() {
        let (processors, compute, wake_up, interrupt) = (64, 2e6, 500e3, 2e3);
        let demand = Demand {
            wake_up: Nanos(wake_up),
            interrupt: Nanos(interrupt),
            handover: Nanos::ZERO,
            ..demand(processors, compute)
        };
        let compared = compare(&demand, 1).expect("possible");
        let cycle = compute + 3.0 * 200.0 + 2.0 * 250.0 + wake_up;
        near(compared.rates[0].mean, 63e9 / cycle, 0.02);
        // Each interrupt delays an event, and takes itself and the event from another's computing.
        near(compared.rates[1].mean, 64e9 / (cycle + 2.0 * interrupt + 2.0 * (interrupt + 200.0)), 0.02);
        // An event that finds another being handled waits for that one, and interrupts nobody.
        let busy = compared.rates[1].mean / 1e9 * (3.0 * 200.0 + 2.0 * interrupt);
        near(compared.interrupts.mean, 2.0 * (1.0 - busy), 0.05);
    }

    /// A nanosecond of waking changes next to nothing, and the more it takes, the fewer requests complete.
    #[test]
    fn a_dearer_wake_up_never_helps() {
        let rate = |wake_up: f64| {
            let demand = Demand {
                interrupt: Nanos(2e3),
                occupancy: Nanos(400.0),
                wake_up: Nanos(wake_up),
                ..demand(8, 5e3)
            };
            compare(&demand, 1).expect("possible").rates[1].mean
        };
        let rates = [0.0, 1.0, 500.0, 2000.0, 2001.0, 4000.0, 50e3].map(rate);
        assert!(rates.is_sorted_by(|less, more| *more < 1.01 * less), "{rates:?}");
        near(rates[4], rates[3], 0.01);
    }

    fn near(found: f64, expected: f64, within: f64) {
        assert!((found / expected - 1.0).abs() < within, "{found}, expected {expected}");
    }

    #[test]
    fn what_costs_nothing_extra_is_never_better_dedicated() {
        let free = Demand { interrupt: Nanos::ZERO, handover: Nanos::ZERO, ..demand(2, 0.0) };
        let (compared, borders) = decide(&free, &[1e2, 1e3, 1e4, 1e5].map(Nanos), 1).expect("possible");
        assert!(
            borders.is_empty() && compared.iter().all(|one| one.winner() != Winner::Dedicated),
            "{compared:?}"
        );
    }

    #[test]
    fn one_processor_cannot_be_set_aside() {
        assert_eq!(compare(&demand(1, 100.0), 1).expect_err("refused").field, "processors");
    }
}
