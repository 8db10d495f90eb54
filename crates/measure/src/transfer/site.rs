//! Between what a transfer goes: the ends of virtual wires on this machine, or this and another host.

use super::error::TransferError;
use super::lead::{Ends, Led};
use super::options::{Direction, Load};
use super::order::{Meet, Order, Work};
use super::placement::Placement;
use crate::model::Model;
use std::net::SocketAddr;
use warmcore_linux::net::Namespace;
use warmcore_linux::net::lab::{self, Link, LinkOptions};
use warmcore_topology::CpuSet;

/// Where the two ends of every connection are.
#[derive(Debug)]
pub enum Site {
    /// On this machine, in two network namespaces.
    Lab(Network),
    /// Here, and on a host that serves at this address.
    Host(SocketAddr),
}

/// Two namespaces, joined by a veth pair for each connection. Gone when this is dropped, however the
/// process ends.
#[derive(Debug)]
pub struct Network {
    /// Where the ends under test are.
    pub near: Namespace,
    /// Where the others are.
    pub far: Namespace,
    /// What joins them, by connection.
    pub links: Vec<Link>,
}

/// The two ends of one connection.
pub(super) struct Pair {
    /// The end under test.
    pub(super) near: Led,
    /// The other one.
    pub(super) far: Led,
}

impl Network {
    /// Builds it for so many connections. `offloads` leaves segments as large as veth carries them by
    /// itself; without, they are as they would be on an Ethernet wire.
    ///
    /// # Errors
    /// If privilege or `ip` is missing.
    pub fn new(connections: u8, offloads: bool) -> Result<Self, TransferError> {
        let (near, far) = (Namespace::new()?, Namespace::new()?);
        let options = LinkOptions { offloads, ..LinkOptions::default() };
        let links = (0..connections).map(|number| lab::link(&near, &far, number, &options));
        let links = links.collect::<Result<_, _>>()?;
        Ok(Self { near, far, links })
    }

    /// Steers the packets of one connection: data at the one end, acknowledgements at the other.
    fn steer(&self, connection: usize, cpus: &CpuSet) -> Result<(), TransferError> {
        let link = &self.links[connection];
        self.near.steer(&link.near.name, 0, cpus)?;
        Ok(self.far.steer(&link.far.name, 0, cpus)?)
    }
}

impl Site {
    /// Makes a connection for each of `places`, its packets and ends there. They move bytes from then on.
    pub(super) fn connect(
        &self,
        ends: &Ends,
        load: Load,
        places: &[Placement],
    ) -> Result<Vec<Pair>, TransferError> {
        let connect = |(connection, place)| self.pair(ends, load, connection, place);
        places.iter().enumerate().map(connect).collect()
    }

    fn pair(
        &self,
        ends: &Ends,
        load: Load,
        connection: usize,
        place: &Placement,
    ) -> Result<Pair, TransferError> {
        let [near_work, far_work] = load.works();
        let named = |work: Work| format!("the {} end of connection {connection}", role(work));
        let start = |work, inside| Led::start(named(work), ends, inside);
        let (mut near, mut far, address) = match self {
            Self::Lab(network) => {
                network.steer(connection, &place.packets)?;
                let address = network.links[connection].far.address.into();
                (start(near_work, Some(&network.near))?, start(far_work, Some(&network.far))?, address)
            }
            Self::Host(host) => (start(near_work, None)?, Led::at(named(far_work), *host)?, host.ip()),
        };
        far.order(&Order { meet: Meet::Listen(address), work: far_work, cpus: place.ends.clone() })?;
        let meet = Meet::Connect((address, far.port()?).into());
        near.order(&Order { meet, work: near_work, cpus: place.ends.clone() })?;
        near.ready()?;
        far.ready()?;
        Ok(Pair { near, far })
    }

    /// Refuses models that place packets where nobody here can.
    pub(super) fn check(&self, models: &[Model]) -> Result<(), TransferError> {
        let steers = models.iter().find(|model| model.steers());
        match (self, steers) {
            (Self::Host(_), Some(model)) => Err(TransferError::CannotSteerHost { model: model.name() }),
            _ => Ok(()),
        }
    }
}

fn role(work: Work) -> &'static str {
    match work {
        Work::Send(..) => "sending",
        Work::Receive => "receiving",
    }
}

impl Load {
    /// What the end under test does, and what the other one.
    fn works(&self) -> [Work; 2] {
        let (send, receive) = (Work::Send(self.size, self.rate), Work::Receive);
        match self.direction {
            Direction::Transmit => [send, receive],
            Direction::Receive => [receive, send],
        }
    }
}

impl Pair {
    /// The receiving end, which knows what has come.
    pub(super) fn receiver(&mut self, direction: Direction) -> &mut Led {
        match direction {
            Direction::Transmit => &mut self.far,
            Direction::Receive => &mut self.near,
        }
    }
}
