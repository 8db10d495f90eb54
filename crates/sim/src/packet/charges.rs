//! What [`Effects`] (the extensions of the model) add to the service time of a packet.

use crate::packet::host::{Packet, SimulatedHost};
use warmcore_scenario::{Effects, Parallelism};
use warmcore_units::Nanos;
use warmcore_workload::arrivals::Direction;

/// The effects, with the state of the locks.
#[derive(Clone, Debug)]
pub(super) struct Charges {
    effects: Effects,
    /// When the active maps' locks will be free.
    maps_free: Nanos,
    /// When each stream's locks will be free; empty if sessions are not locked.
    sessions_free: Vec<Nanos>,
}

/// The parts of a packet's service that are work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// The path through the stack.
    pub(super) path: Nanos,
    /// Touching the packet's bytes.
    pub(super) touching: Nanos,
}

impl Charges {
    pub(super) fn new<C>(host: &SimulatedHost<'_, C>) -> Self {
        let mut effects = host.effects;
        if host.scheduling.approach != Parallelism::Locking {
            // A stack works on one packet at a time, so nobody waits for a lock.
            effects.map_lock_ns = 0.0;
            effects.session_lock_ns = 0.0;
        }
        let sessions = if effects.session_lock_ns > 0.0 { host.shape.streams as usize } else { 0 };
        Self { effects, maps_free: Nanos::ZERO, sessions_free: vec![Nanos::ZERO; sessions] }
    }

    /// The work on `packet`, of which receiving it alone would take `bare`.
    pub(super) fn work(&self, packet: &Packet, bare: Nanos) -> Work {
        let effects = &self.effects;
        let path = match packet.direction {
            Direction::Receive => bare,
            Direction::Send => bare * effects.send_path,
        };
        let touching = (effects.checksum_ns_per_byte + effects.copy_ns_per_byte) * f64::from(packet.bytes);
        Work { path, touching: Nanos(touching) }
    }

    /// The service time of `packet`, which starts at `now`, and takes this much `work`. `idle` says whether its
    /// processor was idle, and `speed` how fast it is.
    pub(super) fn service(
        &mut self,
        packet: &Packet,
        work: Work,
        idle: bool,
        now: Nanos,
        speed: f64,
    ) -> Nanos {
        let effects = &self.effects;
        let turning = if idle { effects.start_ns } else { 0.0 };
        let begins = now + Nanos((effects.decision_ns + turning) / speed);
        let maps = match packet.direction {
            Direction::Receive => acquire(&mut self.maps_free, begins, effects.map_lock_ns / speed),
            // A packet to be sent looks up no map.
            Direction::Send => begins,
        };
        let locked = match self.sessions_free.get_mut(packet.stream.index()) {
            Some(session_free) => acquire(session_free, maps, effects.session_lock_ns / speed),
            None => maps,
        };
        locked - now + work.path / speed + work.touching / speed
    }
}

/// Takes a lock that becomes free at `free`, holds it for `hold`, and returns when it was taken: at `now`, or
/// later if it is not free yet. A lock that is held for no time is never contended.
fn acquire(free: &mut Nanos, now: Nanos, hold: f64) -> Nanos {
    if hold == 0.0 {
        return now;
    }
    let taken = Nanos(now.0.max(free.0));
    *free = taken + Nanos(hold);
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_had_in_turn() {
        let mut free = Nanos::ZERO;
        assert_eq!(acquire(&mut free, Nanos(10.0), 5.0), Nanos(10.0));
        assert_eq!(acquire(&mut free, Nanos(12.0), 5.0), Nanos(15.0));
        assert_eq!(acquire(&mut free, Nanos(30.0), 5.0), Nanos(30.0));
        assert_eq!(acquire(&mut free, Nanos(31.0), 0.0), Nanos(31.0));
    }
}
