//! The write buffer against one that is followed cycle by cycle.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::{HashMap, VecDeque};
use warmcore_cachesim::{
    CacheDescription, Cause, Description, Hierarchy, Kind, Reference, WriteBuffer, Writes,
};
use warmcore_topology::{Cache, CacheKind, Geometry};
use warmcore_units::{Bytes, CpuId, Cycles};

/// One direct-mapped write-through cache, its buffer, and memory, which takes the same time for every block.
struct Model {
    line: u64,
    sets: u64,
    hit: u64,
    memory: u64,
    buffer: WriteBuffer,
    held: HashMap<u64, u64>,
    cycle: u64,
    /// Blocks that wait, and since when.
    waiting: VecDeque<(u64, u64)>,
    /// When the oldest will have left.
    leaves: Option<u64>,
    written: u64,
    merged: u64,
}

impl Model {
    /// What happens in this cycle: a block leaves, another starts.
    fn happen(&mut self) {
        loop {
            if self.leaves == Some(self.cycle) {
                self.waiting.pop_front();
                self.leaves = None;
            }
            let Some(&(_, since)) = self.waiting.front() else { return };
            let aged = self.buffer.max_age.is_some_and(|age| self.cycle - since >= age.0);
            if self.leaves.is_some() || !(aged || self.waiting.len() >= self.buffer.retire_at as usize) {
                return;
            }
            self.start();
        }
    }

    fn start(&mut self) {
        self.leaves = Some(self.cycle + self.memory);
        self.written += 1;
    }

    fn pass(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle += 1;
            self.happen();
        }
    }

    /// Waits until the oldest block has left.
    fn push_out(&mut self) -> u64 {
        if self.leaves.is_none() {
            self.start();
        }
        let before = self.waiting.len();
        let began = self.cycle;
        while self.waiting.len() == before {
            self.pass(1);
        }
        self.cycle - began
    }

    fn store(&mut self, address: u64) -> u64 {
        let block = address / self.buffer.block.0;
        let open = self.waiting.iter().skip(usize::from(self.leaves.is_some()));
        let mut waited = 0;
        if open.clone().any(|&(waiting, _)| waiting == block) {
            self.merged += 1;
        } else {
            if self.waiting.len() == self.buffer.depth as usize {
                waited = self.push_out();
            }
            self.waiting.push_back((block, self.cycle));
            self.happen();
        }
        self.pass(self.hit);
        waited + self.hit
    }

    fn load(&mut self, address: u64) -> u64 {
        let line = address / self.line;
        if self.held.insert(line % self.sets, line) == Some(line) {
            self.pass(self.hit);
            return self.hit;
        }
        let (of_line, of_block) = (self.line, self.buffer.block.0);
        let overlaps = |block: u64| block * of_block / of_line == line || line * of_line / of_block == block;
        let mut waited = 0;
        while self.waiting.iter().any(|&(block, _)| overlaps(block)) {
            if self.leaves.is_none() {
                self.leaves = Some(self.cycle + self.memory);
                self.written += 1;
            }
            self.cycle += 1;
            waited += 1;
            // Not `happen` before the block has left: nothing else may start.
            if self.leaves == Some(self.cycle) {
                self.happen();
            }
        }
        self.pass(self.memory);
        waited + self.memory
    }
}

#[test]
fn every_store_and_load_waits_as_long_as_cycle_by_cycle() {
    let (mut waited, mut merged) = (0, 0);
    for seed in 0..2_000 {
        let mut random = StdRng::seed_from_u64(seed);
        let line = 8 << random.random_range(0..3);
        let sets = 1 << random.random_range(0..4);
        let depth = random.random_range(1..6);
        let buffer = WriteBuffer {
            depth,
            block: Bytes(8 << random.random_range(0..4)),
            retire_at: random.random_range(1..=depth),
            max_age: random.random_bool(0.5).then(|| Cycles(random.random_range(0..60))),
        };
        let (hit, memory) = (random.random_range(1..4), random.random_range(5..40));
        let geometry = Geometry { size: Bytes(line * sets), line: Bytes(line), ways: 1 };
        let cache =
            Cache { level: 1, kind: CacheKind::Data, geometry, shared_by: [CpuId(0)].into_iter().collect() };
        let description = Description {
            name: "a cache with a write buffer".to_owned(),
            caches: vec![CacheDescription {
                writes: Writes::Through,
                write_buffer: Some(buffer),
                ..CacheDescription::new(&cache, Cycles(hit))
            }],
            memory: Cycles(memory),
            straddling: warmcore_cachesim::Straddling::default(),
            seed: 0,
        };
        let mut caches = Hierarchy::build(&description).expect("it can be built");
        let mut model = Model {
            line,
            sets,
            hit,
            memory,
            buffer,
            held: HashMap::new(),
            cycle: 0,
            waiting: VecDeque::new(),
            leaves: None,
            written: 0,
            merged: 0,
        };
        for step in 0..200 {
            let address = random.random_range(0..256) & !3;
            let is_store = random.random_bool(0.6);
            let kind = if is_store { Kind::Store } else { Kind::Load };
            let took = caches.access(CpuId(0), Reference::new(kind, address, 4)).cycles.0;
            let expected = if is_store { model.store(address) } else { model.load(address) };
            assert_eq!(took, expected, "seed {seed}, step {step}: {kind:?} of {address}, {description:#?}");
        }
        caches.drain();
        while !model.waiting.is_empty() {
            model.push_out();
        }
        let counts = caches.counts();
        assert_eq!(counts.memory_writes, model.written, "seed {seed}");
        assert_eq!(counts.caches[0].merged, model.merged, "seed {seed}");
        assert_eq!(counts.caches[0].accesses(Cause::Drain), 0);
        waited += counts.caches[0].stalls.0;
        merged += counts.caches[0].merged;
    }
    assert!(waited > 100_000 && merged > 10_000, "{waited} cycles waited, {merged} stores merged");
}
