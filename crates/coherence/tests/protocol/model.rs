//! The cluster as a model: every processor may fault and store, every page may go, every message may come next.
//!
//! Whether a processor tries a permitted load is of no consequence, so the [rules](crate::rules) look at all it could
//! load. Values are the last one or an older one, which is all that the rules ask, and keeps the model finite.

use crate::cluster::{Cluster, Shape};
use crate::rules;
use stateright::{Model, Property};
use std::hash::Hash;
use warmcore_coherence::{Access, Tag};

pub(crate) struct Protocol(pub Shape);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct State {
    pub cluster: Cluster,
    /// Whether a delivery has left no less to do than before.
    endless: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Step {
    Fault {
        node: u32,
        block: usize,
        cpu: u32,
        access: Access,
        thread: u8,
    },
    Write {
        node: u32,
        block: usize,
    },
    /// Of all blocks of a home, at a node.
    Unmap {
        node: u32,
        home: u32,
        thread: u8,
    },
    Deliver {
        place: usize,
        thread: u8,
    },
}

impl Protocol {
    fn pages(&self) -> impl Iterator<Item = (u32, Vec<usize>)> {
        let homes = self.0.homes;
        (0..self.0.nodes).filter_map(move |home| {
            let blocks: Vec<usize> = (0..homes.len()).filter(|&block| homes[block] == home).collect();
            (!blocks.is_empty()).then_some((home, blocks))
        })
    }

    fn steps_of(&self, cluster: &Cluster, node: u32, thread: u8, steps: &mut Vec<Step>) {
        for (block, content) in cluster.blocks.iter().enumerate() {
            for cpu in (0..self.0.cpus).filter(|&cpu| !cluster.waits(&self.0, node, block, cpu)) {
                let tag = content.copies[node as usize].tag;
                let faults = [Access::Read, Access::Write].into_iter().filter(|&access| !tag.permits(access));
                steps.extend(faults.map(|access| Step::Fault { node, block, cpu, access, thread }));
            }
        }
        for (home, blocks) in self.pages().filter(|&(home, _)| home != node) {
            let copies = || blocks.iter().map(|&block| &cluster.blocks[block].copies[node as usize]);
            let cached = copies().any(|copy| copy.state.tag() != Tag::Invalid);
            if cached && copies().all(|copy| copy.state.outstanding().is_none()) {
                steps.push(Step::Unmap { node, home, thread });
            }
        }
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State { cluster: Cluster::new(&self.0), endless: false }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        let cluster = &state.cluster;
        if cluster.unexpected.is_some() {
            return;
        }
        for node in 0..self.0.nodes {
            for (block, content) in cluster.blocks.iter().enumerate() {
                if content.copies[node as usize].tag == Tag::ReadWrite {
                    steps.push(Step::Write { node, block });
                }
            }
            for thread in 0..self.0.order.threads() {
                self.steps_of(cluster, node, thread, steps);
            }
        }
        for place in self.0.order.next(&cluster.in_flight) {
            steps.extend((0..self.0.order.threads()).map(|thread| Step::Deliver { place, thread }));
        }
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let shape = &self.0;
        let mut next = last.clone();
        let cluster = &mut next.cluster;
        match step {
            Step::Fault { node, block, cpu, access, thread } => {
                cluster.fault(shape, node, block, cpu, access, thread);
            }
            Step::Write { node, block } => {
                cluster.write(node, block);
                age(cluster, block);
            }
            Step::Unmap { node, home, thread } => {
                let (_, blocks) = self.pages().find(|&(other, _)| other == home)?;
                cluster.unmap(shape, node, &blocks, thread);
            }
            Step::Deliver { place, thread } => {
                cluster.deliver(shape, place, thread);
                next.endless =
                    rules::left_to_do(shape, &next.cluster) >= rules::left_to_do(shape, &last.cluster);
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            always::<0>(),
            always::<1>(),
            always::<2>(),
            always::<3>(),
            always::<4>(),
            always::<5>(),
            Property::always(rules::ENDS, |_, state: &State| !state.endless),
        ];
        if self.0.nodes > 2 {
            properties.extend([
                sometimes::<0>(),
                sometimes::<1>(),
                sometimes::<2>(),
                sometimes::<3>(),
                sometimes::<4>(),
            ]);
        }
        properties
    }
}

/// A rule as a property, which takes no closure.
fn always<const INDEX: usize>() -> Property<Protocol> {
    let (name, _) = rules::ALWAYS[INDEX];
    Property::always(name, |model: &Protocol, state: &State| rules::ALWAYS[INDEX].1(&model.0, &state.cluster))
}

fn sometimes<const INDEX: usize>() -> Property<Protocol> {
    let (name, _) = rules::REACHED[INDEX];
    Property::sometimes(name, |model: &Protocol, state: &State| {
        rules::REACHED[INDEX].1(&model.0, &state.cluster)
    })
}

/// Forgets how old values are, but not which are the last.
fn age(cluster: &mut Cluster, index: usize) {
    let block = &mut cluster.blocks[index];
    let latest = block.latest;
    let under_way = cluster.in_flight.iter_mut().filter(|envelope| usize::from(envelope.block) == index);
    let under_way = under_way.filter_map(|envelope| envelope.value.as_mut());
    let kept = block.copies.iter_mut().map(|copy| &mut copy.value);
    kept.chain(under_way).chain([&mut block.latest]).for_each(|value| *value = u32::from(*value == latest));
}
