//! The state of what goes beyond Salehi 1994 and is no [effect](crate::packet::charges): the extensions of a host.

use crate::packet::charges::Work;
use crate::packet::host::{Packet, SimulatedHost};
use crate::packet::service::ServiceDistribution;
use warmcore_units::{CpuId, Nanos};
use warmcore_workload::random::Random;
use warmcore_workload::{Clients, Purpose};

/// The extensions, with their state.
pub(super) struct Beyond<S> {
    /// How service times vary; `None` if they do not.
    service: Option<S>,
    random: Random,
    /// The speed of each processor; empty if all have speed 1.
    speeds: Vec<f64>,
    /// The clients of a closed loop, if there is one.
    clients: Option<Clients>,
    /// Packets that found a full queue.
    lost: u64,
}

impl<S: ServiceDistribution> Beyond<S> {
    pub(super) fn new<C>(host: &SimulatedHost<'_, C>, service: S) -> Self {
        Self {
            service: (!service.is_deterministic()).then_some(service),
            random: host.key.stream(Purpose::Service),
            speeds: host.extensions.speeds.to_vec(),
            // A loop that has been checked has clients.
            clients: host
                .extensions
                .closed
                .and_then(|closed| Clients::new(closed, host.shape.streams, host.key).ok()),
            lost: 0,
        }
    }

    /// When the next request of a closed loop comes; infinite if there is none.
    #[inline]
    pub(super) fn next_request(&self) -> Nanos {
        self.clients.as_ref().map_or(Nanos::INFINITY, Clients::next_time)
    }

    /// Takes the next request of a closed loop.
    pub(super) fn request(&mut self) -> Option<Packet> {
        let arrival = self.clients.as_mut()?.request()?;
        Some(Packet::new(arrival.at, arrival.stream))
    }

    /// `packet` is finished at `now`.
    #[inline]
    pub(super) fn finished(&mut self, packet: &Packet, now: Nanos) {
        if let Some(clients) = &mut self.clients {
            clients.finished(packet.stream, now);
        }
    }

    /// A packet is lost.
    #[cold]
    pub(super) fn lose(&mut self) {
        self.lost += 1;
    }

    /// Packets lost so far.
    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }

    /// The speed of `cpu`.
    #[inline]
    pub(super) fn speed(&self, cpu: CpuId) -> f64 {
        self.speeds.get(cpu.index()).copied().unwrap_or(1.0)
    }

    /// The work on `packet` that is drawn around the modelled `work`.
    #[inline]
    pub(super) fn drawn(&mut self, packet: &Packet, work: Work) -> Work {
        match &mut self.service {
            None => work,
            Some(service) => {
                let path = service.draw(packet, work.path + work.touching, &mut self.random);
                Work { path, touching: Nanos::ZERO }
            }
        }
    }
}
