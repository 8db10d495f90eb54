//! Runs a host and shows every arrival and every finished packet to a watcher.
//!
//! The events and their order are those of `next` in the module of runs, which has no watcher and so costs nothing
//! for one. A watcher is called through a pointer: the loop is compiled once for each policy, whatever watches.

use crate::completions::NEVER;
use crate::packet::dispatch::{SystemTask, dispatch};
use crate::packet::features::ModelFeatures;
use crate::packet::feed::Feed;
use crate::packet::host::{Packet, SimulatedHost};
use crate::packet::system::{Finished, System};
use core::ops::ControlFlow;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_workload::Arrivals;

/// Sees what happens on a simulated host, in order of time.
pub(in crate::packet) trait Watcher {
    /// `packet` arrives. The run ends before that with [`ControlFlow::Break`].
    fn arrives(&mut self, packet: &Packet) -> ControlFlow<()>;

    /// The packet that has just arrived finds no place, and is dropped.
    fn drops(&mut self, packet: &Packet);

    /// A packet is finished. The run ends after that with [`ControlFlow::Break`].
    fn finishes(&mut self, finished: &Finished) -> ControlFlow<()>;
}

/// Simulates `host` under `arrivals` until `watcher` has seen enough, or nothing is left to do and no more packets
/// arrive.
pub(in crate::packet) fn watch(host: &SimulatedHost, arrivals: &mut dyn Arrivals, watcher: &mut dyn Watcher) {
    dispatch(host, Watched { feed: Feed::new(arrivals), watcher });
}

pub(in crate::packet) struct Watched<'s, 'w> {
    pub(in crate::packet) feed: Feed<'s>,
    pub(in crate::packet) watcher: &'w mut dyn Watcher,
}

impl SystemTask for Watched<'_, '_> {
    type Output = ();

    fn run<P: Policy, W: Waiting<Job = Packet>, F: ModelFeatures>(mut self, mut system: System<P, W, F>) {
        loop {
            let (event, arrival) = (system.next_event(), self.feed.at());
            let arriving = if event > arrival { Some(self.feed.next()) } else { system.take_request() };
            let goes_on = if let Some(packet) = arriving {
                let goes_on = self.watcher.arrives(&packet);
                if goes_on.is_continue() {
                    let before = system.present();
                    system.arrive(packet);
                    if system.present() == before {
                        self.watcher.drops(&packet);
                    }
                }
                goes_on
            } else if event < NEVER {
                system.step().map_or(ControlFlow::Continue(()), |finished| self.watcher.finishes(&finished))
            } else {
                return;
            };
            if goes_on.is_break() {
                return;
            }
        }
    }
}
