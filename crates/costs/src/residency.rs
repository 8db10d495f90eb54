//! Bookkeeping of which processor last wrote which lines, and when each cache last saw protocol code. It
//! determines a packet's [`Situation`]. Both the simulator and a live run can keep it.
//!
//! Session and history lines count as written when service starts. A processor's idle time counts from
//! the moment protocol code last *ended* there, and is infinite if it never ran.

#[cfg(test)]
use crate::execution::ExecutionModel;
use crate::model::CostModel;
use crate::situation::{Experiment, Situation, ThreadStack};
use core::hint::select_unpredictable;
use core::mem::replace;
use warmcore_units::{CpuId, Nanos, StackId, StreamId, ThreadId};

/// Stands for no processor or no stream.
const NOBODY: u32 = u32::MAX;

/// The last writers of the parts of the protocol stack's working set.
#[derive(Clone, Debug)]
pub struct Residency {
    sessions: Sessions,
    session_writer: Vec<u32>,
    history: Vec<History>,
    thread_cpu: Vec<u32>,
    pool_writer: u32,
    ended: Vec<Nanos>,
    /// The cache levels that processors share.
    shared: Vec<SharedLevel>,
}

/// How session objects are organised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sessions {
    /// One for each stream, written wherever the stream's packets are processed.
    PerStream,
    /// One for each stream in each stack, with each stack bound to one processor ("multiple-open streams",
    /// §6.5): every session is written on one processor only.
    PerStack,
}

/// The last writer of the history lines of one set of active maps.
#[derive(Clone, Copy, Debug)]
struct History {
    stream: u32,
    writer: u32,
}

/// A cache level whose domains are each shared by `sharers` neighbouring processors.
#[derive(Clone, Debug)]
struct SharedLevel {
    level: usize,
    sharers: u32,
    /// For each domain: how many processors run protocol code now, and when one last stopped.
    domains: Vec<(u32, Nanos)>,
}

/// The numbers of processors, threads, streams and stacks to track.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Population {
    /// Processors.
    pub processors: u32,
    /// Protocol threads.
    pub threads: u32,
    /// Streams.
    pub streams: u32,
    /// Stacks; under Locking there is one.
    pub stacks: u32,
}

/// One packet's placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketPlacement {
    /// The packet's stream.
    pub stream: StreamId,
    /// The stack it visits; 0 under Locking, that of the processor under Hybrid.
    pub stack: StackId,
    /// The protocol thread that carries it.
    pub thread: ThreadId,
    /// The processor it runs on.
    pub cpu: CpuId,
}

impl Residency {
    /// The state before any packet: all lines are elsewhere, and no processor has run protocol code. A
    /// single processor has written everything itself.
    #[must_use]
    pub fn new(sessions: Sessions, population: Population, model: &impl CostModel) -> Self {
        let Population { processors, threads, streams, stacks } = population;
        let level = |(level, sharers): (usize, u32)| {
            (sharers > 1).then(|| SharedLevel {
                level,
                sharers,
                domains: vec![(0, Nanos(f64::NEG_INFINITY)); processors.div_ceil(sharers) as usize],
            })
        };
        let writer = if processors == 1 { 0 } else { NOBODY };
        Self {
            sessions,
            session_writer: vec![writer; streams as usize],
            history: vec![History { stream: NOBODY, writer }; stacks as usize],
            thread_cpu: vec![writer; threads as usize],
            pool_writer: writer,
            ended: vec![Nanos(f64::NEG_INFINITY); processors as usize],
            shared: model.sharers().into_iter().enumerate().filter_map(level).collect(),
        }
    }

    /// The processor that last wrote the session lines of `stream`.
    #[must_use]
    #[inline]
    pub fn last_writer(&self, stream: StreamId) -> Option<CpuId> {
        let &writer = self.session_writer.get(stream.index())?;
        (writer != NOBODY).then_some(CpuId(writer))
    }

    /// Starts the service of a packet: returns the situation it finds, and records the lines it writes.
    #[inline]
    pub fn start(&mut self, placement: PacketPlacement) -> Situation {
        let PacketPlacement { stream, stack, cpu, .. } = placement;
        let history = &mut self.history[stack.index()];
        // No branch, as whether the stream changes cannot be foreseen.
        let (changes, was_here) = (history.stream != stream.0, history.writer == cpu.0);
        history.stream = stream.0;
        history.writer = select_unpredictable(changes, cpu.0, history.writer);
        let history_here = select_unpredictable(changes, Some(was_here), None);
        self.situation(placement, history_here)
    }

    /// Starts the service of a packet to *send*: without demultiplexing, it writes no history lines.
    #[inline]
    pub fn start_sending(&mut self, placement: PacketPlacement) -> Situation {
        self.situation(placement, None)
    }

    #[inline]
    fn situation(&mut self, placement: PacketPlacement, history_here: Option<bool>) -> Situation {
        let PacketPlacement { stream, thread, cpu, .. } = placement;
        let session_here = replace(&mut self.session_writer[stream.index()], cpu.0) == cpu.0;
        let thread_here = replace(&mut self.thread_cpu[thread.index()], cpu.0) == cpu.0;
        Situation {
            experiment: Experiment::from_caches(
                session_here || self.sessions == Sessions::PerStack,
                history_here,
            ),
            thread_stack: if thread_here { ThreadStack::Cached } else { ThreadStack::Migrates },
        }
    }

    /// Reads what is kept of `stream` and `stack`, so that it is in the processor's cache when their next packet
    /// starts. Returns something that depends on it.
    #[must_use]
    #[inline]
    pub fn touch(&self, stream: StreamId, stack: StackId) -> u32 {
        self.session_writer[stream.index()] ^ self.history[stack.index()].writer
    }

    /// How long `cpu` has run no protocol code at `now`.
    #[must_use]
    #[inline]
    pub fn own_idle(&self, cpu: CpuId, now: Nanos) -> Nanos {
        now - self.ended[cpu.index()]
    }

    /// How long cache level `level` of `cpu` has seen no protocol code at `now`.
    #[must_use]
    #[inline]
    pub fn idle(&self, cpu: CpuId, level: usize, now: Nanos) -> Nanos {
        match self.shared.iter().find(|shared| shared.level == level) {
            None => now - self.ended[cpu.index()],
            Some(shared) => match shared.domains[(cpu.0 / shared.sharers) as usize] {
                (0, ended) => now - ended,
                _ => Nanos::ZERO,
            },
        }
    }

    /// `cpu` turns from other work to protocol code. Call [`idle`](Self::idle) before this.
    #[inline]
    pub fn enter(&mut self, cpu: CpuId) {
        for shared in &mut self.shared {
            shared.domains[(cpu.0 / shared.sharers) as usize].0 += 1;
        }
    }

    /// `cpu` turns from protocol code to other work.
    #[inline]
    pub fn leave(&mut self, cpu: CpuId, now: Nanos) {
        self.ended[cpu.index()] = now;
        for shared in &mut self.shared {
            let (running, ended) = &mut shared.domains[(cpu.0 / shared.sharers) as usize];
            *running -= 1;
            *ended = now;
        }
    }

    /// As [`leave`](Self::leave), if no processors share a cache level and [`enter`](Self::enter) is not
    /// used.
    #[inline]
    pub fn leave_private(&mut self, cpu: CpuId, now: Nanos) {
        self.ended[cpu.index()] = now;
    }

    /// `cpu` writes to the global free-memory pool; returns whether the pool's lines had to migrate.
    #[inline]
    pub fn write_pool(&mut self, cpu: CpuId) -> bool {
        replace(&mut self.pool_writer, cpu.0) != cpu.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::situation::Approach;

    fn residency(shared_by: u32) -> Residency {
        let mut profile = Profile::sgi_challenge_xl();
        profile.levels[1].shared_by = shared_by;
        let model = ExecutionModel::new(&profile, Approach::Locking, 4).unwrap();
        let population = Population { processors: 4, threads: 4, streams: 2, stacks: 1 };
        Residency::new(Sessions::PerStream, population, &model)
    }

    fn on(cpu: u32, stream: u32) -> PacketPlacement {
        PacketPlacement {
            stream: StreamId(stream),
            stack: StackId(0),
            thread: ThreadId(cpu),
            cpu: CpuId(cpu),
        }
    }

    /// The {stream, processor} patterns of §5, figure 6: after the first packets, every timed packet is
    /// in the situation of its experiment.
    #[test]
    fn the_patterns_of_salehi_1994_produce_their_experiments() {
        let patterns = [
            (Experiment::A1, vec![(1, 0)]),
            (Experiment::A2, vec![(1, 0), (1, 1)]),
            (Experiment::A3, vec![(1, 0), (2, 1)]),
            (Experiment::B1, vec![(1, 0), (2, 0)]),
            (Experiment::B2, vec![(1, 0), (2, 1), (2, 0), (1, 1)]),
            (Experiment::B3, vec![(1, 0), (1, 1), (2, 0), (2, 1)]),
        ];
        for (experiment, pattern) in patterns {
            let mut residency = residency(1);
            for (position, &(cpu, stream)) in pattern.iter().cycle().take(100).enumerate() {
                let situation = residency.start(on(cpu, stream));
                if position >= 8 && stream == 0 {
                    assert_eq!(situation.experiment, experiment, "packet {position}");
                    assert_eq!(situation.thread_stack, ThreadStack::Cached);
                }
            }
        }
    }

    #[test]
    fn a_private_cache_is_idle_from_when_its_processor_stopped() {
        let mut residency = residency(1);
        assert_eq!(residency.idle(CpuId(0), 1, Nanos(5.0)), Nanos::INFINITY);
        residency.enter(CpuId(0));
        residency.leave(CpuId(0), Nanos(10.0));
        assert_eq!(residency.idle(CpuId(0), 1, Nanos(25.0)), Nanos(15.0));
        assert_eq!(residency.idle(CpuId(1), 1, Nanos(25.0)), Nanos::INFINITY);
    }

    #[test]
    fn a_shared_cache_is_kept_warm_by_any_of_its_processors() {
        let mut residency = residency(2);
        residency.enter(CpuId(0));
        assert_eq!(residency.idle(CpuId(1), 1, Nanos(5.0)), Nanos::ZERO);
        residency.leave(CpuId(0), Nanos(10.0));
        assert_eq!(residency.idle(CpuId(1), 1, Nanos(25.0)), Nanos(15.0));
        assert_eq!(residency.idle(CpuId(1), 0, Nanos(25.0)), Nanos::INFINITY);
        assert_eq!(residency.idle(CpuId(2), 1, Nanos(25.0)), Nanos::INFINITY);
    }

    #[test]
    fn a_single_processor_never_finds_lines_elsewhere() {
        let model = ExecutionModel::new(&Profile::sgi_challenge_xl(), Approach::Locking, 1).unwrap();
        let population = Population { processors: 1, threads: 1, streams: 2, stacks: 1 };
        let mut residency = Residency::new(Sessions::PerStream, population, &model);
        for stream in [0, 1, 1, 0] {
            let situation = residency.start(on(0, stream));
            assert!(!situation.experiment.migrates() && situation.thread_stack == ThreadStack::Cached);
        }
        assert!(!residency.write_pool(CpuId(0)));
    }

    #[test]
    fn sessions_per_stack_never_migrate_and_sending_writes_no_history() {
        let model =
            ExecutionModel::new(&Profile::sgi_challenge_xl(), Approach::IndependentStacks, 4).unwrap();
        let population = Population { processors: 4, threads: 4, streams: 2, stacks: 4 };
        let mut residency = Residency::new(Sessions::PerStack, population, &model);
        let here = |cpu, stream| PacketPlacement { stack: StackId(cpu), ..on(cpu, stream) };
        let experiments = [(0, 0), (1, 0), (0, 0), (0, 1)]
            .map(|(cpu, stream)| residency.start(here(cpu, stream)).experiment);
        use Experiment::{A1, A2, A3};
        assert_eq!(experiments, [A3, A3, A1, A2]);
        assert_eq!(residency.start_sending(here(1, 1)).experiment, A1);
        assert_eq!(residency.start(here(1, 0)).experiment, A1);
    }

    #[test]
    fn the_global_pool_migrates_between_its_writers() {
        let mut residency = residency(1);
        let writes = [0, 0, 1, 1, 0].map(|cpu| residency.write_pool(CpuId(cpu)));
        assert_eq!(writes, [true, false, true, false, true]);
    }
}
