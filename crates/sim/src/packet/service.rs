//! How service times vary around what the cost model says.

use crate::packet::host::Packet;
use warmcore_units::Nanos;
use warmcore_workload::TimeFactors;
use warmcore_workload::random::Random;

/// Draws the service times of packets.
///
/// Waiting for locks and the costs of pools, of decisions and of turning to a packet are added to what it draws.
pub trait ServiceDistribution: Clone + Send {
    /// The time that a processor of speed 1 works on `packet`, which takes `costs` by the cost model. Finite and not
    /// negative.
    fn draw(&mut self, packet: &Packet, costs: Nanos, random: &mut Random) -> Nanos;

    /// Whether [`draw`](Self::draw) always returns the costs. Then it is not asked.
    #[must_use]
    fn is_deterministic(&self) -> bool {
        false
    }
}

/// A random factor of mean 1.
impl ServiceDistribution for TimeFactors {
    #[inline]
    fn draw(&mut self, _packet: &Packet, costs: Nanos, random: &mut Random) -> Nanos {
        costs * TimeFactors::draw(self, random)
    }

    fn is_deterministic(&self) -> bool {
        self.is_one()
    }
}
