//! Checks whether a cold state was reached, with the evidence of a witness.
//!
//! The witness is a small set of cache lines that is written like the protocol's lines, evicted like
//! them, and then chased. Its latency tells which level it came back from. The levels' own latencies
//! are measured separately, by chasing through buffers sized to each. The smallest walk that reaches
//! its state is used. If none does, the profile says so.
//!
//! Code has its own witness, a short piece of straight code, timed hot and after eviction. How fast
//! code streams from each level is not known beforehand, so its times are reported but not judged.

use crate::caches::chase::Chain;
use crate::caches::eviction::{Evictor, walk_sizes};
use crate::caches::hierarchy::Hierarchy;
use crate::clock::{self, Ticks, Timer};
use crate::error::CalibrateError;
use core::sync::atomic::{AtomicBool, Ordering};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Instant;
use warmcore_linux::{CodeBlock, Pages};
use warmcore_units::{Bytes, Nanos};

/// How a cold state was reached, and the evidence.
#[derive(Clone, PartialEq, Debug)]
pub struct ColdState {
    /// The last level that is cold: `L1`, `L2`, …
    pub level: String,
    /// Bytes of data walked to reach the state.
    pub walked: Bytes,
    /// Bytes of code executed to reach the state; `None` if code cannot be generated.
    pub executed: Option<Bytes>,
    /// Latency of a witness line afterwards.
    pub witness: Nanos,
    /// The level it should have come from: the next one, or `memory`.
    pub expected: String,
    /// Latency of that level.
    pub latency: Nanos,
    /// Whether the witness came from that level, judged by its latency.
    pub reached: bool,
    /// Time of the code witness when hot, and afterwards; `None` if code cannot be generated.
    pub code: Option<(Nanos, Nanos)>,
    /// How long it takes to reach the state.
    pub cost: Nanos,
}

impl ColdState {
    /// The evidence in one sentence, for a reader of the profile.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { walked, witness, expected, latency, .. } = self;
        let executed = match self.executed {
            Some(code) => format!("executed {code} of code"),
            None => "executed no code (none could be generated here)".to_owned(),
        };
        let code = self.code.map_or_else(String::new, |(hot, cold)| {
            format!(", and {CODE_WITNESS} of code took {cold} instead of {hot}")
        });
        let served_from = if self.reached {
            format!("as from {expected} ({latency})")
        } else {
            format!("though from {expected} it takes {latency}: the state was not fully reached")
        };
        format!(
            "{executed} and walked {walked} of data; a witness line then took {witness}, {served_from}{code}"
        )
    }
}

/// The latency of one cache level of a processor, or of memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Latency {
    /// `L1`, `L2`, …, `memory`.
    pub level: String,
    /// Mean time of a load that waits for the one before it.
    pub time: Nanos,
}

/// Steps of a chase through a level.
const STEPS: usize = 50_000;
/// Most steps of the warm-up before a chase. The warm-up goes once through the buffer to bring it to
/// its level, unless the buffer is far larger than any cache and stays in memory anyway.
const WARM_UP: usize = 1 << 20;
/// Number of chases. The fastest counts, because disturbances only make a chase slower.
const CHASES: usize = 5;

/// Measures the latency of every level of `hierarchy` and of memory, nearest first, on the calling processor.
///
/// # Errors
/// If there is no memory for the largest buffer, or the user stops.
pub(crate) fn latencies(
    hierarchy: &Hierarchy,
    timer: &Timer,
    rng: &mut Xoshiro256PlusPlus,
    stop: &AtomicBool,
) -> Result<Vec<Latency>, CalibrateError> {
    let beyond = Bytes(hierarchy.data.last().map_or(0, |last| last.0.saturating_mul(4)));
    let within = |(index, size): (usize, &Bytes)| {
        // Large compared with the level before, small compared with this one.
        let before = index.checked_sub(1).map_or(size.0, |before| hierarchy.data[before].0 * 4);
        Bytes(before.min(size.0 / 2))
    };
    let sizes = hierarchy.data.iter().enumerate().map(within).chain([beyond]);
    sizes
        .enumerate()
        .map(|(index, size)| {
            if stop.load(Ordering::Relaxed) {
                return Err(CalibrateError::Interrupted);
            }
            let mut chain = Chain::new(size, hierarchy.line, Pages::Huge, rng)?;
            chain.chase(chain.nodes().min(WARM_UP));
            let fastest = (0..CHASES).map(|_| chain.chase(STEPS)).min().unwrap_or(0);
            let time = (timer.nanos(fastest as f64) - timer.overhead.mean) / STEPS as f64;
            Ok(Latency { level: hierarchy.name(index), time })
        })
        .collect()
}

/// Finds, for every level, the smallest walk that makes all levels up to it cold, with the evidence.
/// Runs on the calling processor.
///
/// # Errors
/// If there is no memory for a walk, or the user stops.
pub(crate) fn states(
    hierarchy: &Hierarchy,
    latencies: &[Latency],
    timer: &Timer,
    rng: &mut Xoshiro256PlusPlus,
    stop: &AtomicBool,
) -> Result<Vec<ColdState>, CalibrateError> {
    let mut states = Vec::new();
    for level in 0..hierarchy.depth() {
        let mut best: Option<ColdState> = None;
        for walk in walk_sizes(hierarchy, level) {
            if stop.load(Ordering::Relaxed) {
                return Err(CalibrateError::Interrupted);
            }
            let state = examine(hierarchy, latencies, level, walk, timer, rng)?;
            let better = best.as_ref().is_none_or(|best| state.witness > best.witness);
            let reached = state.reached;
            if better {
                best = Some(state);
            }
            if reached {
                break;
            }
        }
        states.extend(best);
    }
    Ok(states)
}

/// Distance of the witness's lines: so far that no prefetcher fetches one along with another, and that
/// they fall into different sets.
const WITNESS_SPACING: usize = 4096 + 320;
/// Number of the witness's lines: about as many as a packet touches.
const WITNESS_LINES: usize = 32;
/// Size of the code witness.
const CODE_WITNESS: Bytes = Bytes::kib(4);
/// How often a witness is measured.
const REPETITIONS: usize = 21;

fn examine(
    hierarchy: &Hierarchy,
    latencies: &[Latency],
    level: usize,
    walk: Bytes,
    timer: &Timer,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<ColdState, CalibrateError> {
    let evictor = Evictor::new(hierarchy, &vec![walk; level + 1])?;
    let size = Bytes((WITNESS_LINES * WITNESS_SPACING) as u64);
    let mut witness = Chain::new(size, WITNESS_SPACING, Pages::Huge, rng)?;
    let nodes = witness.nodes();
    let net = |ticks: Ticks| timer.nanos(ticks as f64) - timer.overhead.mean;
    let mut costs = Vec::new();
    let times = (0..REPETITIONS).map(|_| {
        witness.write();
        witness.chase(3 * nodes);
        let start = Instant::now();
        evictor.evict(level);
        costs.push(Nanos(start.elapsed().as_secs_f64() * 1e9));
        net(witness.chase(nodes)) / nodes as f64
    });
    let time = median(times.collect());
    let (here, next) = (latencies[level].time, latencies[level + 1].time);
    Ok(ColdState {
        level: hierarchy.name(level),
        walked: evictor.walk(level),
        executed: evictor.code(level),
        witness: time,
        expected: hierarchy.name(level + 1),
        latency: next,
        reached: is_nearer_to_next(time, here, next),
        code: examine_code(&evictor, level, net),
        cost: median(costs),
    })
}

/// Times the code witness hot, and after the eviction.
fn examine_code(evictor: &Evictor, level: usize, net: impl Fn(Ticks) -> Nanos) -> Option<(Nanos, Nanos)> {
    let witness = CodeBlock::new(CODE_WITNESS).ok()?;
    let time = || {
        let start = clock::now();
        witness.run();
        net(clock::now() - start)
    };
    let (hot, cold) = (0..REPETITIONS)
        .map(|_| {
            witness.run();
            witness.run();
            let hot = time();
            evictor.evict(level);
            (hot, time())
        })
        .unzip();
    Some((median(hot), median(cold)))
}

fn median(mut times: Vec<Nanos>) -> Nanos {
    times.sort_by(Nanos::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(Nanos::ZERO)
}

/// Whether a latency is closer to the next level's than to this one's: above their geometric mean.
fn is_nearer_to_next(time: Nanos, here: Nanos, next: Nanos) -> bool {
    time.0 * time.0 > here.0 * next.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use warmcore_topology::synthetic;
    use warmcore_units::CpuId;

    #[test]
    fn the_witness_is_attributed_to_the_level_with_the_closer_latency() {
        assert!(is_nearer_to_next(Nanos(3.8), Nanos(1.4), Nanos(3.7)));
        assert!(!is_nearer_to_next(Nanos(1.6), Nanos(1.4), Nanos(3.7)));
        assert!(!is_nearer_to_next(Nanos(30.0), Nanos(12.0), Nanos(130.0)));
    }

    #[test]
    fn the_sentence_says_if_a_state_was_not_reached() {
        let mut state = ColdState {
            level: "L1".to_owned(),
            walked: Bytes::kib(128),
            executed: Some(Bytes::kib(64)),
            witness: Nanos(3.8),
            expected: "L2".to_owned(),
            latency: Nanos(3.7),
            reached: true,
            code: Some((Nanos(130.0), Nanos(210.0))),
            cost: Nanos(1e3),
        };
        assert_eq!(
            state.sentence(),
            "executed 64 KiB of code and walked 128 KiB of data; a witness line then took 3.80 ns, \
             as from L2 (3.70 ns), and 4 KiB of code took 210 ns instead of 130 ns"
        );
        state.reached = false;
        assert!(state.sentence().contains("not fully reached"));
    }

    /// Checks the structure only: latencies depend on the machine.
    #[test]
    fn every_level_is_examined_with_a_walk_beyond_it() {
        let hierarchy = Hierarchy::new(&synthetic::sgi_challenge_xl(1), CpuId(0)).unwrap();
        let timer = Timer::calibrate();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let stop = AtomicBool::new(false);
        let latencies = latencies(&hierarchy, &timer, &mut rng, &stop).unwrap();
        assert_eq!(latencies.iter().map(|l| &*l.level).collect::<Vec<_>>(), ["L1", "L2", "memory"]);
        let states = states(&hierarchy, &latencies, &timer, &mut rng, &stop).unwrap();
        assert_eq!(states.len(), 2);
        for (state, size) in states.iter().zip(&hierarchy.data) {
            assert!(state.walked > *size && state.cost.0 > 0.0);
        }
        stop.store(true, Ordering::Relaxed);
        assert!(super::latencies(&hierarchy, &timer, &mut rng, &stop).is_err());
    }
}
