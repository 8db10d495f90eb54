//! What a packet costs beside its reception: the model's extensions ([`Effects`]).

use crate::packet::host::{Host, Packet};
use warmcore_scenario::{Effects, Parallelism};
use warmcore_units::Nanos;
use warmcore_workload::arrivals::Direction;

/// The extensions' state.
#[derive(Clone, Debug)]
pub(super) struct Charges {
    effects: Effects,
    /// When the active maps' locks will be free.
    maps_free: Nanos,
    /// When each stream's locks will be free; empty where nobody holds them for any time.
    sessions_free: Vec<Nanos>,
}

impl Charges {
    pub(super) fn new(host: &Host) -> Self {
        let mut effects = host.effects;
        if host.scheduling.approach != Parallelism::Locking {
            // A stack works on one packet at a time: nobody ever waits for a lock.
            effects.map_lock_ns = 0.0;
            effects.session_lock_ns = 0.0;
        }
        let sessions = if effects.session_lock_ns > 0.0 { host.shape.streams as usize } else { 0 };
        Self { effects, maps_free: Nanos::ZERO, sessions_free: vec![Nanos::ZERO; sessions] }
    }

    /// The service time of `packet`, which starts at `now` on a processor that was `idle` or not, and
    /// would take `bare` to receive.
    pub(super) fn service(&mut self, packet: &Packet, bare: Nanos, idle: bool, now: Nanos) -> Nanos {
        let effects = &self.effects;
        let path = match packet.direction {
            Direction::Receive => bare,
            Direction::Send => bare * effects.send_path,
        };
        let touching = (effects.checksum_ns_per_byte + effects.copy_ns_per_byte) * f64::from(packet.bytes);
        let turning = if idle { effects.start_ns } else { 0.0 };
        let begins = now + Nanos(effects.decision_ns + turning);
        let maps = match packet.direction {
            Direction::Receive => acquire(&mut self.maps_free, begins, effects.map_lock_ns),
            // Nothing is looked up.
            Direction::Send => begins,
        };
        let locked = match self.sessions_free.get_mut(packet.stream.index()) {
            Some(session_free) => acquire(session_free, maps, effects.session_lock_ns),
            None => maps,
        };
        locked - now + path + Nanos(touching)
    }
}

/// Takes a lock that will be free at `free`, at `now` or when it is, and holds it for `hold`;
/// when it was taken. A lock that is held for no time is no lock.
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
