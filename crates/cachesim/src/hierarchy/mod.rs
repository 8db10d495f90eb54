//! The caches of a machine while references run through them.

mod batch;
mod buffer;
mod build;
mod lost;
mod queue;

use crate::counts::{CacheCounts, CacheId, Cause, Counts};
use crate::observe::{Lookup, Nothing, Observer};
use crate::sets::{EMPTY, Sets};
use crate::{Kind, Reference, Straddling};
use buffer::Buffer;
use warmcore_units::{CpuId, Cycles};

/// What stands for memory where a cache is named.
const MEMORY: u32 = u32::MAX;

/// What stands for the nearest cache of a cpu that the description does not name.
const NO_CPU: u32 = u32::MAX - 1;

/// The caches of a machine and what they hold. `O` says what is watched.
#[derive(Clone, Debug)]
pub struct Hierarchy<O = Nothing> {
    caches: Vec<Cache>,
    /// By the cpu's number. Those between that have no cache have [`NO_CPU`].
    cpus: Vec<Processor>,
    memory: Memory,
    straddling: Straddling,
    /// Whether a store must be made known to other processors' caches.
    several: bool,
    /// Whether there is a write buffer, whose clock has to run.
    buffered: bool,
    /// Whether what a cache holds depends on nearer ones alone.
    one_way: bool,
    observer: O,
}

#[derive(Clone, Debug)]
struct Cache {
    sets: Sets,
    line_bits: u32,
    latency: u64,
    /// The next cache on the way to memory.
    below: u32,
    through: bool,
    prefetches: bool,
    /// If it is inclusive, the caches that hold no more than it.
    subject: Vec<u32>,
    counts: CacheCounts,
    buffer: Option<Box<Buffer>>,
}

#[derive(Clone, Debug)]
struct Processor {
    /// The nearest cache for instructions, then for data: [`MEMORY`] if there is none on that way.
    nearest: [u32; 2],
    /// The cache on its way whose write buffer has a clock; [`MEMORY`] if there is none.
    buffer: u32,
    /// Other processors' caches for data.
    foreign: Vec<u32>,
    /// The caches that it shares with no other, nearest first.
    own: Vec<CacheId>,
    cycles: u64,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    latency: u64,
    reads: u64,
    writes: u64,
}

/// What a reference found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Served {
    /// What it took, with waiting for a write buffer.
    pub cycles: Cycles,
    /// How many caches it missed on its way; of several lines, the most.
    pub depth: u32,
}

/// Bytes that are asked for on one level.
#[derive(Clone, Copy, Debug)]
struct Request {
    first: u64,
    last: u64,
    cause: Cause,
    /// Whether it writes here, and not only where it came from.
    write: bool,
    owner: crate::Owner,
}

impl<O: Observer> Hierarchy<O> {
    /// Lets `cpu` make a reference.
    ///
    /// # Panics
    /// If the description has no cache for `cpu`.
    #[inline]
    pub fn access(&mut self, cpu: CpuId, reference: Reference) -> Served {
        if self.several && reference.kind == Kind::Store {
            self.invalidate_others(cpu, &reference);
        }
        let is_data = usize::from(reference.kind != Kind::Fetch);
        let nearest = self.cpus[cpu.index()].nearest[is_data];
        let request = Request {
            first: reference.address,
            last: reference.last(),
            cause: Cause::Reference(reference.kind),
            write: reference.kind == Kind::Store,
            owner: reference.owner,
        };
        let served = match self.caches.get_mut(nearest as usize) {
            Some(cache)
                if request.first >> cache.line_bits == request.last >> cache.line_bits
                    && !(cache.through && request.write) =>
            {
                cache.counts.accesses[reference.kind as usize] += 1;
                let cycles = cache.latency;
                let line = request.first >> cache.line_bits;
                if self.touch(nearest, line, &request) {
                    Served { cycles: Cycles(cycles), depth: 0 }
                } else {
                    self.caches[nearest as usize].counts.misses[reference.kind as usize] += 1;
                    self.missed(nearest, request)
                }
            }
            _ => self.straddle(nearest, request),
        };
        self.spend(cpu, served.cycles);
        served
    }

    /// Lets `cpu` make all references of `trace`. Returns what they took.
    ///
    /// # Panics
    /// If the description has no cache for `cpu`.
    pub fn run(&mut self, cpu: CpuId, trace: &[Reference]) -> Cycles {
        let before = self.cycles(cpu);
        if self.can_batch() && trace.len() > 1 {
            self.run_in_batches(cpu, trace);
        } else {
            for &reference in trace {
                self.access(cpu, reference);
            }
        }
        Cycles(self.cycles(cpu).0 - before.0)
    }

    #[inline(always)]
    fn spend(&mut self, cpu: CpuId, cycles: Cycles) {
        let processor = &mut self.cpus[cpu.index()];
        processor.cycles += cycles.0;
        if self.buffered
            && let Some(cache) = self.caches.get_mut(processor.buffer as usize)
            && let Some(buffer) = &mut cache.buffer
        {
            buffer.elapse(cycles.0);
        }
    }

    /// A reference that lies in two or more lines, or has no cache, or passes through.
    #[inline(never)]
    fn straddle(&mut self, nearest: u32, request: Request) -> Served {
        let Some(cache) = self.caches.get(nearest as usize) else {
            assert!(nearest != NO_CPU, "the description has no cache for this cpu");
            return self.descend(nearest, request);
        };
        let bits = cache.line_bits;
        let (first, last) = (request.first >> bits, request.last >> bits);
        if first == last || self.straddling == Straddling::Whole {
            return self.descend(nearest, request);
        }
        let mut served = Served { cycles: Cycles(0), depth: 0 };
        for line in first..=last {
            let part = Request {
                first: request.first.max(line << bits),
                last: request.last.min(last_byte(line, bits)),
                ..request
            };
            let one = self.descend(nearest, part);
            served = Served { cycles: served.cycles + one.cycles, depth: served.depth.max(one.depth) };
        }
        served
    }

    /// Looks for what is asked for in the cache `at`, and further away if it is not there.
    fn descend(&mut self, at: u32, request: Request) -> Served {
        let Some(cache) = self.caches.get_mut(at as usize) else {
            let count = if request.write { &mut self.memory.writes } else { &mut self.memory.reads };
            *count += 1;
            return Served { cycles: Cycles(self.memory.latency), depth: 0 };
        };
        if request.write && cache.through {
            return self.pass(at, request);
        }
        cache.counts.accesses[request.cause.index()] += 1;
        let (latency, bits) = (cache.latency, cache.line_bits);
        let mut hit = true;
        for line in request.first >> bits..=request.last >> bits {
            hit &= self.touch(at, line, &request);
        }
        if hit {
            return Served { cycles: Cycles(latency), depth: 0 };
        }
        self.caches[at as usize].counts.misses[request.cause.index()] += 1;
        self.missed(at, request)
    }

    /// Looks for `line` in the cache `at`, and brings it in.
    #[inline(always)]
    fn touch(&mut self, at: u32, line: u64, request: &Request) -> bool {
        let cache = &mut self.caches[at as usize];
        let access = cache.sets.access(line, u64::from(request.write));
        self.observer.looked_up(&lookup(at, cache.line_bits, line, request, access.hit, true));
        if access.victim != EMPTY {
            self.displaced(at, access.victim, line, request.owner);
        }
        access.hit
    }

    /// Fetches further away what the cache `at` did not have.
    #[inline(never)]
    fn missed(&mut self, at: u32, request: Request) -> Served {
        let cache = &self.caches[at as usize];
        let (bits, below, prefetches) = (cache.line_bits, cache.below, cache.prefetches);
        let last = request.last >> bits;
        let lines = Request {
            first: request.first >> bits << bits,
            last: last_byte(last, bits),
            write: false,
            ..request
        };
        let is_reference = matches!(request.cause, Cause::Reference(_));
        let waits = is_reference && cache.buffer.is_some();
        let stall = if waits { self.wait_for(at, &lines) } else { Cycles(0) };
        let served = self.descend(below, lines);
        if prefetches && is_reference && last < u64::MAX >> bits {
            self.prefetch(at, last + 1, request.owner);
        }
        Served { cycles: served.cycles + stall, depth: served.depth + 1 }
    }

    fn prefetch(&mut self, at: u32, line: u64, owner: crate::Owner) {
        let cache = &mut self.caches[at as usize];
        if cache.sets.contains(line) {
            return;
        }
        cache.counts.prefetched += 1;
        let (bits, below) = (cache.line_bits, cache.below);
        let (first, last) = (line << bits, last_byte(line, bits));
        let request = Request { first, last, cause: Cause::Prefetch, write: false, owner };
        self.touch(at, line, &request);
        self.descend(below, request);
    }

    /// A store that passes through the cache `at`.
    fn pass(&mut self, at: u32, request: Request) -> Served {
        let cache = &mut self.caches[at as usize];
        let (bits, below, latency) = (cache.line_bits, cache.below, cache.latency);
        let mut all = true;
        for line in request.first >> bits..=request.last >> bits {
            let hit = cache.sets.pass(line);
            self.observer.looked_up(&lookup(at, bits, line, &request, hit, hit));
            all &= hit;
        }
        cache.counts.accesses[request.cause.index()] += 1;
        cache.counts.misses[request.cause.index()] += u64::from(!all);
        if cache.buffer.is_some() {
            let stall = self.put_off(at, &request);
            return Served { cycles: Cycles(latency) + stall, depth: 0 };
        }
        let served = self.descend(below, request);
        Served { depth: served.depth + 1, ..served }
    }

    /// What the caches have counted.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            caches: self.caches.iter().map(|cache| cache.counts).collect(),
            memory_reads: self.memory.reads,
            memory_writes: self.memory.writes,
        }
    }

    /// What the references of `cpu` have taken, one after the other.
    ///
    /// # Panics
    /// If the description has no cache for `cpu`.
    #[must_use]
    pub fn cycles(&self, cpu: CpuId) -> Cycles {
        Cycles(self.processor(cpu).cycles)
    }

    /// What is known of `cpu`; panics if the description has no cache for it.
    fn processor(&self, cpu: CpuId) -> &Processor {
        let processor = &self.cpus[cpu.index()];
        assert!(processor.nearest[0] != NO_CPU, "the description has no cache for {cpu}");
        processor
    }

    /// What has been watched.
    pub const fn observer(&self) -> &O {
        &self.observer
    }

    /// What has been watched, to take it away or to begin anew.
    pub const fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Whether `cache` holds the byte at `address`. It is no access.
    ///
    /// # Panics
    /// If there is no such cache.
    #[must_use]
    pub fn holds(&self, cache: CacheId, address: u64) -> bool {
        let cache = &self.caches[cache.index()];
        cache.sets.contains(address >> cache.line_bits)
    }
}

#[inline(always)]
fn lookup(at: u32, bits: u32, line: u64, request: &Request, hit: bool, present: bool) -> Lookup {
    let first = request.first.max(line << bits);
    let last = request.last.min(last_byte(line, bits));
    Lookup {
        cache: CacheId(at),
        line,
        cause: request.cause,
        owner: request.owner,
        offset: (first - (line << bits)) as u32,
        bytes: (last - first + 1) as u32,
        hit,
        present,
    }
}

/// The last byte of `line`.
#[inline(always)]
const fn last_byte(line: u64, bits: u32) -> u64 {
    line << bits | ((1 << bits) - 1)
}
