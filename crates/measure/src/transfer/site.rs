//! The site of a transfer: two ends of virtual wires on this machine, or this and another host.

use super::end_handle::{EndHandle, Ends};
use super::error::TransferError;
use super::instruction::{Instruction, Opening, Role};
use super::options::{Direction, Load};
use super::placement::ConnectionPlacement;
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
    /// On this machine, and on a host that serves at this address.
    Host(SocketAddr),
}

/// Two namespaces, joined by a veth pair for each connection. They are removed when this is dropped,
/// and also if the process is killed.
#[derive(Debug)]
pub struct Network {
    /// The namespace of the ends under test.
    pub near: Namespace,
    /// The namespace of the other ends.
    pub far: Namespace,
    /// The links between them, by connection.
    pub links: Vec<Link>,
}

/// The two ends of one connection.
pub(super) struct ConnectionEnds {
    /// The end under test.
    pub(super) near: EndHandle,
    /// The other end.
    pub(super) far: EndHandle,
}

impl Network {
    /// Builds a network for `connections` connections. With `offloads`, segments are as large as veth
    /// allows; without, they are as large as on an Ethernet wire.
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

    /// Steers the packets of one connection: data at one end, acknowledgements at the other.
    fn steer(&self, connection: usize, cpus: &CpuSet) -> Result<(), TransferError> {
        let link = &self.links[connection];
        self.near.steer(&link.near.name, 0, cpus)?;
        Ok(self.far.steer(&link.far.name, 0, cpus)?)
    }
}

impl Site {
    /// Opens a connection for each of `places`, with its packets and ends placed there. They transfer
    /// bytes from then on.
    pub(super) fn connect(
        &self,
        ends: &Ends,
        load: Load,
        places: &[ConnectionPlacement],
    ) -> Result<Vec<ConnectionEnds>, TransferError> {
        let connect = |(connection, place)| self.open_connection(ends, load, connection, place);
        places.iter().enumerate().map(connect).collect()
    }

    fn open_connection(
        &self,
        ends: &Ends,
        load: Load,
        connection: usize,
        place: &ConnectionPlacement,
    ) -> Result<ConnectionEnds, TransferError> {
        let [near_role, far_role] = load.roles();
        let named = |role: Role| format!("the {} end of connection {connection}", role_name(role));
        let start = |role, inside| EndHandle::start(named(role), ends, inside);
        let (mut near, mut far, address) = match self {
            Self::Lab(network) => {
                network.steer(connection, &place.packets)?;
                let address = network.links[connection].far.address.into();
                (start(near_role, Some(&network.near))?, start(far_role, Some(&network.far))?, address)
            }
            Self::Host(host) => {
                (start(near_role, None)?, EndHandle::connect(named(far_role), *host)?, host.ip())
            }
        };
        far.instruct(&Instruction {
            opening: Opening::Listen(address),
            role: far_role,
            cpus: place.ends.clone(),
        })?;
        let opening = Opening::Connect((address, far.port()?).into());
        near.instruct(&Instruction { opening, role: near_role, cpus: place.ends.clone() })?;
        near.ready()?;
        far.ready()?;
        Ok(ConnectionEnds { near, far })
    }

    /// Refuses models that place packets if the site cannot steer them.
    pub(super) fn check(&self, models: &[Model]) -> Result<(), TransferError> {
        let steers = models.iter().find(|model| model.steers());
        match (self, steers) {
            (Self::Host(_), Some(model)) => Err(TransferError::CannotSteerHost { model: model.name() }),
            _ => Ok(()),
        }
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Send(..) => "sending",
        Role::Receive => "receiving",
    }
}

impl Load {
    /// The roles of the end under test and of the other end.
    fn roles(&self) -> [Role; 2] {
        let (send, receive) = (Role::Send(self.size, self.rate), Role::Receive);
        match self.direction {
            Direction::Transmit => [send, receive],
            Direction::Receive => [receive, send],
        }
    }
}

impl ConnectionEnds {
    /// The receiving end, which counts the bytes that arrived.
    pub(super) fn receiver(&mut self, direction: Direction) -> &mut EndHandle {
        match direction {
            Direction::Transmit => &mut self.far,
            Direction::Receive => &mut self.near,
        }
    }
}
