//! One point: a host and its arrivals, simulated until the mean delay is known to the precision
//! asked for.

use crate::completions::NEVER;
use crate::packet::dispatch::{SystemTask, dispatch};
use crate::packet::extent::Extent;
use crate::packet::feed::Feed;
use crate::packet::host::{Host, Packet};
use crate::packet::outcome::{Ended, Outcome};
use crate::packet::system::{Finished, System};
use crate::packet::tally::Tally;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_stats::histogram::Histogram;
use warmcore_stats::{StoppingRule, Verdict};
use warmcore_units::Nanos;
use warmcore_workload::Arrivals;

/// When a run is long enough.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Precision {
    /// Half-width of the mean delay, as a fraction of it.
    pub relative: f64,
    /// Packets after which the run ends in any case.
    pub max_packets: u64,
    /// The exact mean time between packets, where it is known: it makes the delay's interval
    /// narrower (a control variate).
    pub mean_gap: Option<Nanos>,
}

/// Simulates `host` under `arrivals`: [`Ended::Unknown`] if its queues grow, as those of a saturated host do.
pub fn run(host: &Host, arrivals: &mut dyn Arrivals, precision: Precision) -> Outcome {
    observe(host, arrivals, precision, Watch::Growth, 0).outcome
}

/// A run with what several of them need to be taken together.
pub(super) struct Observed {
    pub(super) outcome: Outcome,
    /// The delays of the steady part.
    pub(super) delays: Histogram,
    /// Whether the queues were growing at the end.
    pub(super) grows: bool,
}

/// What is done about queues that grow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    /// The run ends.
    Growth,
    /// It goes on.
    Regardless,
}

/// A run that is not judged, and has no intervals, before it and the host have seen `settled` packets.
pub(super) fn observe(
    host: &Host,
    arrivals: &mut dyn Arrivals,
    precision: Precision,
    watch: Watch,
    settled: u64,
) -> Observed {
    let settled = settled.max(host.shape.settled());
    dispatch(host, Judged { host, feed: Feed::new(arrivals), precision, watch, settled })
}

/// Simulates `host` under `arrivals` until `packets` are finished or no more come, and shows each
/// finished packet to `see`.
pub fn trace(host: &Host, arrivals: &mut dyn Arrivals, packets: u64, see: &mut dyn FnMut(Finished)) {
    dispatch(host, Traced { feed: Feed::new(arrivals), packets, see });
}

struct Judged<'a, 's> {
    host: &'a Host<'a>,
    feed: Feed<'s>,
    precision: Precision,
    watch: Watch,
    settled: u64,
}

impl Precision {
    /// No half-width is small enough: a run that nothing but its number of packets ends.
    pub(super) const UNREACHABLE: f64 = -1.0;
}

impl SystemTask for Judged<'_, '_> {
    type Output = Observed;

    fn run<P: Policy, W: Waiting<Job = Packet>, E: Extent>(
        mut self,
        mut system: System<P, W, E>,
    ) -> Observed {
        let Precision { relative, max_packets, mean_gap } = self.precision;
        let mut tally = Tally::new(self.host.shape);
        let mut judgements = StoppingRule::new(relative, max_packets).not_before(self.settled);
        let ended = loop {
            let Some(finished) = next(&mut self.feed, &mut system) else { break Ended::NoMoreArrivals };
            if !tally.push(&finished) {
                continue;
            }
            tally.read(system.present());
            if tally.packets() == judgements.at() {
                if self.watch == Watch::Growth && tally.is_growing() {
                    break Ended::Unknown;
                }
                match judgements.judge(tally.delay(mean_gap)) {
                    Verdict::Continue => {}
                    Verdict::Precise => break Ended::Precise,
                    Verdict::Exhausted => break Ended::Exhausted,
                }
            }
            tally.read_at(judgements.at());
        };
        tally.read(system.present());
        let outcome = tally.outcome(mean_gap, ended);
        let settled = outcome.packets >= self.settled || ended == Ended::NoMoreArrivals;
        Observed {
            outcome: if settled { outcome } else { outcome.without_intervals() },
            delays: tally.steady_delays(),
            grows: tally.is_growing(),
        }
    }
}

struct Traced<'s, 'f> {
    feed: Feed<'s>,
    packets: u64,
    see: &'f mut dyn FnMut(Finished),
}

impl SystemTask for Traced<'_, '_> {
    type Output = ();

    fn run<P: Policy, W: Waiting<Job = Packet>, E: Extent>(mut self, mut system: System<P, W, E>) {
        for _ in 0..self.packets {
            let Some(finished) = next(&mut self.feed, &mut system) else { break };
            (self.see)(finished);
        }
    }
}

/// Events happen in order of time up to the next finished packet; of equal times, what ends comes
/// before what arrives. `None` when all is done and nothing arrives any more.
#[inline(always)]
pub(super) fn next<P: Policy, W: Waiting<Job = Packet>, E: Extent>(
    feed: &mut Feed,
    system: &mut System<P, W, E>,
) -> Option<Finished> {
    loop {
        let event = system.next_event();
        let arrival = feed.at();
        if event <= arrival {
            if event >= NEVER {
                return None;
            }
            if let Some(finished) = system.step() {
                return Some(finished);
            }
        } else {
            system.arrive(feed.next());
        }
    }
}
