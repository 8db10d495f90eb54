//! Where datagrams travel: a veth pair between two namespaces of our own, or loopback where those cannot be made.

use crate::sockets::error::SocketError;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;
use warmcore_costs::socket::Network;
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{Datagrams, Namespace, TimedDatagrams, lab_obstacle};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// How long a connection may take to open.
const CONNECTING: Duration = Duration::from_secs(2);

/// The network of a calibration. Nothing of it outlives this value, however the process ends.
pub(crate) struct Site {
    lab: Option<Lab>,
    /// Keeps the kernel stamping packets, so that it does so in every run alike.
    _stamping: TimedDatagrams,
    /// Why it is loopback, if it is.
    pub(crate) instead: Option<String>,
}

/// One end of the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Server,
    Client,
}

impl Site {
    /// Builds the network.
    ///
    /// # Errors
    /// If not even loopback can be used.
    pub(crate) fn new() -> Result<Self, SocketError> {
        let lab = match lab_obstacle() {
            Some(obstacle) => Err(obstacle),
            None => Lab::new(&LinkOptions::default()).map_err(|error| error.to_string()),
        };
        let (lab, instead) = match lab {
            Ok(lab) => (Some(lab), None),
            Err(reason) => (None, Some(reason)),
        };
        let bound = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(SocketError::doing("opening"))?;
        let stamping = TimedDatagrams::new(bound).map_err(SocketError::doing("opening"))?;
        Ok(Self { lab, _stamping: stamping, instead })
    }

    /// What it is.
    pub(crate) const fn network(&self) -> Network {
        if self.lab.is_some() { Network::Veth } else { Network::Loopback }
    }

    /// Lets the softirqs of the server's packets run on `cpu`; with none, where they are sent. Returns why not.
    pub(crate) fn steer(&self, cpu: Option<CpuId>) -> Result<(), String> {
        let Some(lab) = &self.lab else { return Err("loopback is not ours to steer".to_owned()) };
        let cpus: CpuSet = cpu.into_iter().collect();
        lab.near.steer(&lab.link.near.name, 0, &cpus).map_err(|error| error.to_string())
    }

    fn open(&self, side: Side) -> Result<UdpSocket, SocketError> {
        let (namespace, address): (Option<&Namespace>, Ipv4Addr) = match (&self.lab, side) {
            (None, _) => (None, Ipv4Addr::LOCALHOST),
            (Some(lab), Side::Server) => (Some(&lab.near), lab.link.near.address),
            (Some(lab), Side::Client) => (Some(&lab.far), lab.link.far.address),
        };
        let socket = within(namespace, || UdpSocket::bind((address, 0)));
        socket.and_then(|socket| socket).map_err(SocketError::doing("opening"))
    }

    /// Runs `work` where servers are, with the address that they listen at.
    pub(crate) fn at_server<T>(&self, work: impl FnOnce(Ipv4Addr) -> T) -> Result<T, SocketError> {
        let (namespace, address) = match &self.lab {
            None => (None, Ipv4Addr::LOCALHOST),
            Some(lab) => (Some(&lab.near), lab.link.near.address),
        };
        within(namespace, || work(address)).map_err(SocketError::doing("opening"))
    }

    /// A socket that receives, and waits for what it receives.
    pub(crate) fn server(&self) -> Result<UdpSocket, SocketError> {
        self.open(Side::Server)
    }

    /// A socket that sends to `server`, and never waits.
    pub(crate) fn client(&self, server: &UdpSocket) -> Result<UdpSocket, SocketError> {
        self.client_of(server.local_addr().map_err(SocketError::doing("asking"))?)
    }

    /// A socket that sends to `address`, and never waits.
    pub(crate) fn client_of(&self, address: SocketAddr) -> Result<UdpSocket, SocketError> {
        let socket = self.open(Side::Client)?;
        socket.connect(address).map_err(SocketError::doing("connecting"))?;
        socket.set_nonblocking(true).map_err(SocketError::doing("setting up"))?;
        Ok(socket)
    }

    /// A TCP connection to `address`. Writing and reading never wait.
    pub(crate) fn connect(&self, address: SocketAddr) -> Result<TcpStream, SocketError> {
        let namespace = self.lab.as_ref().map(|lab| &lab.far);
        let stream =
            within(namespace, || TcpStream::connect_timeout(&address, CONNECTING)).and_then(|stream| stream);
        let stream = stream.map_err(SocketError::doing("connecting"))?;
        let set_up = stream.set_nodelay(true).and_then(|()| stream.set_nonblocking(true));
        set_up.map_err(SocketError::doing("setting up"))?;
        Ok(stream)
    }

    /// Sockets for one run. New ones in each, so that runs differ in where they lie.
    pub(crate) fn endpoints(&self) -> Result<Endpoints, SocketError> {
        let (server, timed) = (self.server()?, self.server()?);
        server.set_nonblocking(true).map_err(SocketError::doing("setting up"))?;
        let opening = SocketError::doing("opening");
        let client = || {
            let answered = self.client(&server)?;
            let address = answered.local_addr().map_err(SocketError::doing("asking"))?;
            Ok(Client {
                plain: self.client(&server)?,
                to_timed: self.client(&timed)?,
                answered: TimedDatagrams::new(answered).map_err(&opening)?,
                address,
            })
        };
        let clients = [client()?, client()?];
        Ok(Endpoints { server, timed: TimedDatagrams::new(timed).map_err(&opening)?, clients })
    }

    /// A socket that receives in batches, and one that sends to it.
    pub(crate) fn batched(&self, payload: usize) -> Result<(Datagrams, UdpSocket), SocketError> {
        let server = self.server()?;
        let client = self.client(&server)?;
        Ok((Datagrams::new(server, payload), client))
    }
}

/// Runs `work` in `namespace`; without one, where this process is.
fn within<T>(namespace: Option<&Namespace>, work: impl FnOnce() -> T) -> io::Result<T> {
    match namespace {
        None => Ok(work()),
        Some(namespace) => namespace.run(work).map_err(io::Error::other),
    }
}

/// The sockets of one run.
pub(crate) struct Endpoints {
    /// Receives datagrams as a server does.
    pub(crate) server: UdpSocket,
    /// Receives datagrams with the time of their arrival.
    pub(crate) timed: TimedDatagrams,
    /// Of each thread.
    pub(crate) clients: [Client; 2],
}

/// The sockets from which one thread sends.
pub(crate) struct Client {
    /// To the server.
    pub(crate) plain: UdpSocket,
    /// To the server that is told times.
    pub(crate) to_timed: UdpSocket,
    /// To the server, for what is answered.
    pub(crate) answered: TimedDatagrams,
    /// Where answers go.
    pub(crate) address: SocketAddr,
}
