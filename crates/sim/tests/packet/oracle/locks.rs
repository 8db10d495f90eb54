//! What a packet costs besides its path through the stack, and who holds which lock.

use warmcore_scenario::Parallelism;
use warmcore_sim::packet::{Packet, SimulatedHost};
use warmcore_units::{Nanos, StreamId};
use warmcore_workload::Direction;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lock {
    Maps,
    Session(StreamId),
}

/// Which lock was held until when, in order.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    held: Vec<(Lock, Nanos)>,
}

impl Locks {
    /// The service time of a `packet` that starts at `now`. Receiving it takes `path` in the stack. Its
    /// processor `continues` from another packet, or comes from other work.
    pub(crate) fn service(
        &mut self,
        host: &SimulatedHost,
        packet: &Packet,
        path: Nanos,
        continues: bool,
        now: Nanos,
    ) -> Nanos {
        let effects = host.effects;
        let received = packet.direction == Direction::Receive;
        let path = if received { path } else { path * effects.send_path };
        let touching = (effects.checksum_ns_per_byte + effects.copy_ns_per_byte) * f64::from(packet.bytes);
        let turning = if continues { 0.0 } else { effects.start_ns };
        let mut ready = now + Nanos(effects.decision_ns + turning);
        if host.scheduling.approach == Parallelism::Locking {
            if received {
                ready = self.acquire(Lock::Maps, ready, effects.map_lock_ns);
            }
            ready = self.acquire(Lock::Session(packet.stream), ready, effects.session_lock_ns);
        }
        ready - now + path + Nanos(touching)
    }

    /// When `lock`, requested at `wanted`, is acquired; it is then held for `hold`. Locks are given in the
    /// order in which services start. A lock that is held for no time is never contended.
    fn acquire(&mut self, lock: Lock, wanted: Nanos, hold: f64) -> Nanos {
        if hold == 0.0 {
            return wanted;
        }
        let last = self.held.iter().rev().find(|(held, _)| *held == lock);
        let had = last.map_or(wanted, |&(_, until)| wanted.max(until));
        self.held.push((lock, had + Nanos(hold)));
        had
    }
}
