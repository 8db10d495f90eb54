//! One run: a host and its arrivals, simulated until the mean delay is as precise as asked for.

use crate::completions::NEVER;
use crate::packet::dispatch::{SystemTask, dispatch};
use crate::packet::features::ModelFeatures;
use crate::packet::feed::{CHUNK, Feed};
use crate::packet::figures::ExtensionTally;
use crate::packet::host::{Packet, Shape, SimulatedHost};
use crate::packet::outcome::{Ended, Outcome};
use crate::packet::recursion::{self, Recursion, RecursionTask, settle};
use crate::packet::system::{Finished, System};
use crate::packet::tally::{Entry, Tally};
use core::hint::black_box;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_scenario::Extensions;
use warmcore_stats::histogram::Histogram;
use warmcore_stats::{StopDecision, StoppingRule};
use warmcore_units::Nanos;
use warmcore_workload::Arrivals;

/// When a run is long enough.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Precision {
    /// Half-width of the mean delay, as a fraction of the mean.
    pub relative: f64,
    /// The run ends after this many packets, precise or not.
    pub max_packets: u64,
    /// The exact mean time between packets, where it is known. As a control variate it narrows the interval
    /// of the delay.
    pub mean_gap: Option<Nanos>,
}

impl Precision {
    /// The same for a host with these `extensions`: the times between packets that are processed are those between arrivals
    /// only if none is lost, and none is the request of a client.
    pub(super) fn for_extensions(self, extensions: &Extensions) -> Self {
        let mean_gap = self.mean_gap.filter(|_| !extensions.are_bounded());
        Self { mean_gap, ..self }
    }

    /// The same for runs of exactly `packets`, however precise they are before.
    pub(super) const fn fixed_length(self, packets: u64) -> Self {
        // No half-width is negative.
        Self { relative: -1.0, max_packets: packets, ..self }
    }
}

/// Simulates `host` under `arrivals`. The outcome is [`Ended::Unknown`] if queues grow, as they do on a
/// saturated host.
pub fn run(host: &SimulatedHost, arrivals: &mut dyn Arrivals, precision: Precision) -> Outcome {
    replicate(host, arrivals, precision, GrowthRule::Stop, Start::default()).outcome
}

/// One run of a point: its outcome, and what is needed to combine it with other runs.
pub(super) struct Replication {
    pub(super) outcome: Outcome,
    /// The delays after the warm-up.
    pub(super) delays: Histogram,
    /// Whether the queues were growing at the end.
    pub(super) grows: bool,
}

/// What a run does when its queues grow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GrowthRule {
    /// It ends.
    Stop,
    /// It goes on.
    Continue,
    /// They cannot: they are limited, or fed by a closed loop.
    Impossible,
}

/// The start of a run.
#[derive(Clone, Copy, Default)]
pub(super) struct Start {
    /// A run is not judged before this many packets, and has no intervals if it ends before that.
    pub(super) settled: u64,
    /// Packets left out at the start, if that is given rather than found.
    pub(super) warmup: Option<u64>,
}

impl Start {
    /// The same for a host of this `shape`, which must settle too. As many packets are measured as are left out, at least.
    pub(super) fn for_shape(self, shape: Shape) -> Self {
        let settled = self.settled.max(shape.settled()).max(self.warmup.unwrap_or(0).saturating_mul(2));
        Self { settled, ..self }
    }
}

/// One run.
pub(super) fn replicate(
    host: &SimulatedHost,
    arrivals: &mut dyn Arrivals,
    precision: Precision,
    growth: GrowthRule,
    start: Start,
) -> Replication {
    let is_limited = host.extensions.queues.limit.is_some();
    let feed = Feed::new(arrivals);
    let judged = Judged::new(host.shape, feed, &host.extensions, is_limited, precision, growth, start);
    match recursion::choose(host, judged) {
        Ok(replication) => replication,
        Err(judged) => dispatch(host, judged),
    }
}

/// Simulates `host` until `packets` are finished or no more arrive, and calls `see` with each finished packet.
pub fn trace(host: &SimulatedHost, arrivals: &mut dyn Arrivals, packets: u64, see: &mut dyn FnMut(Finished)) {
    dispatch(host, Traced { feed: Feed::new(arrivals), packets, see });
}

pub(super) struct Judged<'s> {
    pub(super) shape: Shape,
    pub(super) feed: Feed<'s>,
    pub(super) precision: Precision,
    pub(super) growth: GrowthRule,
    pub(super) start: Start,
    pub(super) extra: ExtensionTally,
}

impl<'s> Judged<'s> {
    /// A run on a host of this `shape` with these `extensions`. Where queues cannot grow for ever, `growth` does not matter.
    pub(super) fn new(
        shape: Shape,
        feed: Feed<'s>,
        extensions: &Extensions<'_>,
        is_limited: bool,
        precision: Precision,
        growth: GrowthRule,
        start: Start,
    ) -> Self {
        Self {
            shape,
            feed,
            precision: precision.for_extensions(extensions),
            growth: if extensions.are_bounded() { GrowthRule::Impossible } else { growth },
            start: start.for_shape(shape),
            extra: ExtensionTally::new(is_limited, extensions),
        }
    }

    fn rule(&self) -> StoppingRule {
        StoppingRule::new(self.precision.relative, self.precision.max_packets).not_before(self.start.settled)
    }

    /// How the run ends, if it ends at this judgement.
    fn judge(&self, tally: &Tally, rule: &mut StoppingRule) -> Option<Ended> {
        if self.growth == GrowthRule::Stop && tally.is_growing() {
            return Some(Ended::Unknown);
        }
        match rule.judge(tally.delay(self.precision.mean_gap)) {
            StopDecision::Continue => None,
            StopDecision::Precise => Some(Ended::Precise),
            StopDecision::Exhausted => Some(Ended::Exhausted),
        }
    }

    fn replication(&self, tally: &Tally, ended: Ended) -> Replication {
        let outcome =
            Outcome { extensions: self.extra.figures(), ..tally.outcome(self.precision.mean_gap, ended) };
        let settled = outcome.packets >= self.start.settled || ended == Ended::NoMoreArrivals;
        Replication {
            outcome: if settled { outcome } else { outcome.without_intervals() },
            delays: tally.steady_delays(),
            grows: self.growth != GrowthRule::Impossible && tally.is_growing(),
        }
    }
}

impl SystemTask for Judged<'_> {
    type Output = Replication;

    fn run<P: Policy, W: Waiting<Job = Packet>, F: ModelFeatures>(
        mut self,
        mut system: System<P, W, F>,
    ) -> Replication {
        let mut tally = Tally::new(self.shape, self.start.warmup);
        let mut rule = self.rule();
        let many = self.shape.has_many_streams();
        let ended = loop {
            if many && let Some(ahead) = self.feed.ahead() {
                black_box(system.touch(ahead) ^ tally.touch(ahead));
            }
            let Some(finished) = next(&mut self.feed, &mut system) else { break Ended::NoMoreArrivals };
            if F::EFFECTS {
                self.extra.push(&finished, system.lost());
            }
            if !tally.push(&finished) {
                continue;
            }
            tally.read(system.present());
            if tally.packets() == rule.at()
                && let Some(ended) = self.judge(&tally, &mut rule)
            {
                break ended;
            }
            tally.read_at(rule.at());
        };
        tally.read(system.present());
        self.replication(&tally, ended)
    }
}

impl RecursionTask for Judged<'_> {
    type Output = Replication;

    fn run<R: Recursion>(mut self, mut recursion: R) -> Replication {
        let mut tally = Tally::new(self.shape, self.start.warmup);
        let mut rule = self.rule();
        let mut settled: Vec<Entry> = Vec::with_capacity(2 * CHUNK);
        let many = self.shape.has_many_streams();
        let ended = 'run: loop {
            settled.clear();
            if many && let Some(ahead) = self.feed.ahead() {
                black_box(recursion.touch(ahead) ^ tally.touch(ahead));
            }
            let (more, now) = settle(&mut self.feed, &mut recursion, |finished| {
                settled.push(Entry::new(&finished));
            });
            tally.observe_backlog(recursion.present(now));
            let mut unread = &settled[..];
            while !unread.is_empty() {
                let missing = usize::try_from(rule.at() - tally.packets()).unwrap_or(usize::MAX);
                let (read, later) = unread.split_at(missing.min(unread.len()));
                tally.enter_settled(read);
                if tally.packets() == rule.at()
                    && let Some(ended) = self.judge(&tally, &mut rule)
                {
                    break 'run ended;
                }
                unread = later;
            }
            if !more {
                break Ended::NoMoreArrivals;
            }
        };
        self.replication(&tally, ended)
    }
}

pub(super) struct Traced<'s, 'f> {
    pub(super) feed: Feed<'s>,
    pub(super) packets: u64,
    pub(super) see: &'f mut dyn FnMut(Finished),
}

impl SystemTask for Traced<'_, '_> {
    type Output = ();

    fn run<P: Policy, W: Waiting<Job = Packet>, F: ModelFeatures>(mut self, mut system: System<P, W, F>) {
        for _ in 0..self.packets {
            let Some(finished) = next(&mut self.feed, &mut system) else { break };
            (self.see)(finished);
        }
    }
}

/// Processes events in order of time until a packet is finished. Of events at the same time, completions come
/// before arrivals. `None` if nothing is left to do and no more packets arrive.
#[inline(always)]
pub(super) fn next<P: Policy, W: Waiting<Job = Packet>, F: ModelFeatures>(
    feed: &mut Feed,
    system: &mut System<P, W, F>,
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
