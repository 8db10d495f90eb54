//! One queue for all processors, served by any that is free.

use crate::policies::shortest::below;
use crate::policy::{Decision, Policy, Queues, Request, View};
use alloc::vec::Vec;
use rand_core::Rng;
use warmcore_units::CpuId;

/// A central queue. A packet goes to any idle processor, drawn at random, as with a pool of workers on
/// one shared queue.
#[derive(Clone, Debug)]
pub struct CentralQueue {
    /// The idle processors, in no order.
    idle: Vec<u32>,
    /// Where each idle processor is in `idle`.
    position: Vec<u32>,
}

impl CentralQueue {
    /// A policy for `processors` processors, all idle.
    #[must_use]
    pub fn new(processors: u32) -> Self {
        let all: Vec<u32> = (0..processors).collect();
        Self { idle: all.clone(), position: all }
    }

    fn remove(&mut self, cpu: u32) {
        let place = self.position[cpu as usize] as usize;
        self.idle.swap_remove(place);
        if let Some(&moved) = self.idle.get(place) {
            self.position[moved as usize] = self.position[cpu as usize];
        }
    }

    fn push(&mut self, cpu: u32) {
        #[expect(clippy::cast_possible_truncation, reason = "there are at most 2^32 processors")]
        let place = self.idle.len() as u32;
        self.position[cpu as usize] = place;
        self.idle.push(cpu);
    }
}

impl Policy for CentralQueue {
    const QUEUES: Queues = Queues::Common;
    const USES_LOAD: bool = true;

    #[inline]
    fn place(&mut self, request: Request, _view: &impl View, random: &mut impl Rng) -> Decision {
        #[expect(clippy::cast_possible_truncation, reason = "there are at most 2^32 processors")]
        let idle = self.idle.len() as u32;
        match idle {
            0 => Decision::Wait(request.home),
            idle => Decision::Run(CpuId(self.idle[below(idle, random) as usize])),
        }
    }

    #[inline]
    fn loaded(&mut self, cpu: CpuId, load: u32) {
        match load {
            0 => self.push(cpu.0),
            // A load rises from 0 to 1 only, since nothing waits at a processor.
            _ => self.remove(cpu.0),
        }
    }
}
