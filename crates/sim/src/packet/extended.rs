//! The state of what goes beyond Salehi 1994 and is no [effect](crate::packet::charges): the extensions of a host.

use crate::packet::charges::Work;
use crate::packet::host::{Packet, SimulatedHost};
use crate::packet::service::ServiceDistribution;
use warmcore_units::{CpuId, Nanos};
use warmcore_workload::Purpose;
use warmcore_workload::random::Random;

/// The extensions, with their state.
pub(super) struct Beyond<S> {
    /// How service times vary; `None` if they do not.
    service: Option<S>,
    random: Random,
    /// The speed of each processor; empty if all have speed 1.
    speeds: Vec<f64>,
}

impl<S: ServiceDistribution> Beyond<S> {
    pub(super) fn new<C>(host: &SimulatedHost<'_, C>, service: S) -> Self {
        Self {
            service: (!service.is_deterministic()).then_some(service),
            random: host.key.stream(Purpose::Service),
            speeds: host.extensions.speeds.to_vec(),
        }
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
