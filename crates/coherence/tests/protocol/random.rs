//! Large clusters on random schedules: values that count every store, and every rule after every step.

use crate::cluster::{Cluster, Shape};
use crate::network::Order;
use crate::rules;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warmcore_coherence::{Access, Tag};

/// Steps that begin something; as many messages as they send are delivered among and after them.
const STEPS: u32 = 4000;

struct Run {
    shape: Shape,
    cluster: Cluster,
    rng: StdRng,
    seed: u64,
    /// What became of the draws, so that a run in which nothing happens is noticed.
    stores: u32,
    queued: u32,
}

impl Run {
    fn new(shape: Shape, seed: u64) -> Self {
        let cluster = Cluster::new(&shape);
        Self { shape, cluster, rng: StdRng::seed_from_u64(seed), seed, stores: 0, queued: 0 }
    }

    /// A store, an unmapped page or a fault, if it is one that can be.
    fn begin(&mut self) {
        let shape = self.shape;
        let block = self.rng.random_range(0..shape.homes.len());
        let copies = &self.cluster.blocks[block].copies;
        let mut nodes = 0..shape.nodes;
        match self.rng.random_range(0..8) {
            0..2 => {
                if let Some(writer) = nodes.find(|&node| copies[node as usize].tag == Tag::ReadWrite) {
                    self.stores += 1;
                    self.cluster.write(writer, block);
                }
            }
            2 => {
                let idle = |node: &u32| copies[*node as usize].state.outstanding().is_none();
                let has =
                    |node: &u32| *node != shape.homes[block] && copies[*node as usize].tag != Tag::Invalid;
                let all: Vec<u32> = nodes.filter(has).filter(idle).collect();
                if let Some(&node) = all.get(self.rng.random_range(0..shape.nodes as usize)) {
                    self.cluster.unmap(&shape, node, &[block], 0);
                }
            }
            drawn => {
                let node = self.rng.random_range(nodes);
                let cpu = self.rng.random_range(0..shape.cpus);
                let access = if drawn < 6 { Access::Read } else { Access::Write };
                // Also faults that were detected before the block came.
                if !self.cluster.waits(&shape, node, block, cpu) {
                    self.cluster.fault(&shape, node, block, cpu, access, 0);
                }
            }
        }
    }

    fn deliver(&mut self) {
        let before = rules::left_to_do(&self.shape, &self.cluster);
        let places: Vec<usize> = self.shape.order.next(&self.cluster.in_flight).collect();
        let place = places[self.rng.random_range(0..places.len())];
        self.cluster.deliver(&self.shape, place, 0);
        assert!(
            rules::left_to_do(&self.shape, &self.cluster) < before,
            "{}; seed {}",
            rules::ENDS,
            self.seed
        );
    }

    fn check(&mut self) {
        for (rule, holds) in rules::ALWAYS {
            let Self { cluster, shape, seed, .. } = self;
            assert!(holds(shape, cluster), "not \"{rule}\"; seed {seed}, {:?}", cluster.unexpected);
        }
        self.queued = self
            .queued
            .max(self.cluster.blocks.iter().map(|block| block.entry.queued().len()).max().unwrap_or(0));
    }

    fn run(mut self) -> Self {
        for step in 0..STEPS {
            // Sometimes the network keeps up, sometimes queues form.
            let deliver = if step % 1000 < 500 { 0.9 } else { 0.7 };
            self.begin();
            self.check();
            while !self.cluster.in_flight.is_empty() && self.rng.random_bool(deliver) {
                self.deliver();
                self.check();
            }
        }
        while !self.cluster.in_flight.is_empty() {
            self.deliver();
            self.check();
        }
        self
    }
}

#[test]
fn sixty_four_nodes_keep_every_rule() {
    for seed in 0..20 {
        let order = if seed % 2 == 0 { Order::ByBlock } else { Order::ByPair };
        let shape = Shape { nodes: 64, cpus: 16, homes: &[0, 0, 31, 63], order, defect: None };
        let Run { stores, queued, .. } = Run::new(shape, seed).run();
        println!("seed {seed}: {stores} stores, up to {queued} requests queued");
        assert!(stores > 100 && queued > 10, "seed {seed}: too little happens");
    }
}
