//! Small test networks: network namespaces joined by veth pairs.
//!
//! A [`Namespace`] is removed when its descriptors are closed, however the process ends. So nothing
//! needs to be cleaned up, even after a killed run. The machine's own interfaces are never touched.
//!
//! Links and addresses are created with `ip` of iproute2, which reports errors in words; building a
//! network is not performance-critical.
//!
//! ```
//! use warmcore_linux::net::lab::{Lab, LinkOptions};
//!
//! if let Some(missing) = warmcore_linux::net::privilege_missing() {
//!     println!("skipped: needs {missing}");
//!     return Ok(());
//! }
//! let lab = Lab::new(&LinkOptions::default())?;
//! let server = lab.near.run(|| std::net::UdpSocket::bind((lab.link.near.address, 0)))?;
//! let client = lab.far.run(|| std::net::UdpSocket::bind((lab.link.far.address, 0)))?;
//! # let (server, client) = (server.unwrap(), client.unwrap());
//! client.send_to(b"over the veth", server.local_addr().unwrap()).unwrap();
//! # let mut bytes = [0; 64];
//! # assert_eq!(server.recv(&mut bytes).unwrap(), 13);
//! # Ok::<(), warmcore_linux::net::lab::LabError>(())
//! ```

use super::{DeviceError, Interface, Namespace, NamespaceError};
use std::io;
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};

/// Why a network could not be built.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A namespace cannot be made or entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// `ip` cannot be run.
    #[error("cannot run `ip` ({0}): install iproute2")]
    NoProgram(io::Error),
    /// `ip` failed.
    #[error("`ip {arguments}` failed: {message}")]
    Refused {
        /// Its arguments.
        arguments: String,
        /// Its error message.
        message: String,
    },
    /// An interface cannot be set up.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Operations that use the `ip` program.
impl Namespace {
    /// Starts a program in this namespace. The caller must end it.
    ///
    /// # Errors
    /// The outer error if the namespace cannot be entered, the inner one if the program cannot be
    /// started.
    pub fn spawn(&self, command: &mut Command) -> Result<io::Result<Child>, NamespaceError> {
        self.run(|| command.spawn())
    }

    /// Runs `ip` with these arguments in this namespace. Returns its output.
    ///
    /// # Errors
    /// If it cannot be run, or fails.
    pub fn ip(&self, arguments: &[&str]) -> Result<String, LabError> {
        let output = self
            .run(|| Command::new("ip").args(arguments).stdin(Stdio::null()).output())?
            .map_err(LabError::NoProgram)?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(LabError::Refused { arguments: arguments.join(" "), message })
        }
    }

    /// Gives an interface of this namespace an address and brings it up.
    ///
    /// # Errors
    /// If there is no such interface, or it has this address already.
    pub fn configure(&self, interface: &str, address: Ipv4Addr, prefix: u8) -> Result<(), LabError> {
        self.ip(&["address", "add", &format!("{address}/{prefix}"), "dev", interface])?;
        self.ip(&["link", "set", interface, "up"]).map(drop)
    }

    /// Adds a permanent neighbour entry, so that this namespace's kernel need not use ARP. For stacks
    /// that do not answer ARP.
    ///
    /// # Errors
    /// If there is no such interface.
    pub fn neighbour(&self, interface: &str, address: Ipv4Addr, mac: &[u8; 6]) -> Result<(), LabError> {
        let (address, mac) = (address.to_string(), mac_text(mac));
        self.ip(&["neighbour", "replace", &address, "lladdr", &mac, "dev", interface]).map(drop)
    }
}

/// Options of a link between two namespaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkOptions {
    /// The largest packet, in bytes.
    pub mtu: usize,
    /// The number of receive and of transmit queues of each end.
    pub queues: u32,
    /// Whether checksums and segmentation are left to "hardware", as is the default for veth. If not,
    /// frames are as they would be on a wire.
    pub offloads: bool,
}

impl Default for LinkOptions {
    /// An Ethernet wire: 1,500 bytes, one queue, no offloads.
    fn default() -> Self {
        Self { mtu: 1500, queues: 1, offloads: false }
    }
}

/// A veth pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The end in the first namespace.
    pub near: End,
    /// The end in the second namespace.
    pub far: End,
}

/// One end of a [`Link`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// The interface's name.
    pub name: String,
    /// Its hardware address.
    pub mac: [u8; 6],
    /// Its IP address, in a /24 subnet used only by this link.
    pub address: Ipv4Addr,
}

/// Creates link `number` (from 0) between two namespaces: interfaces `wire<number>` on both sides,
/// with addresses 10.77.`number`.1 (near) and .2 (far), both up.
///
/// # Errors
/// If the namespaces have such a link already, or the kernel refuses the options.
pub fn link(near: &Namespace, far: &Namespace, number: u8, options: &LinkOptions) -> Result<Link, LabError> {
    let name = format!("wire{number}");
    let ends = [1, 2].map(|side| End {
        name: name.clone(),
        mac: [2, 0x77, 0, 0, number, side],
        address: Ipv4Addr::new(10, 77, number, side),
    });
    let [mac, peer_mac] = ends.each_ref().map(|end| mac_text(&end.mac));
    let (mtu, queues) = (options.mtu.to_string(), options.queues.to_string());
    let queues = ["numrxqueues", &queues, "numtxqueues", &queues];
    let end = |mac| ["name", name.as_str(), "address", mac, "mtu", mtu.as_str()];
    let (first, second, path) = (end(&mac), end(&peer_mac), far.path());
    let peer_namespace = ["netns", path.as_str()];
    let arguments =
        [&["link", "add"][..], &first, &queues, &["type", "veth", "peer"], &second, &queues, &peer_namespace]
            .concat();
    near.ip(&arguments)?;
    for (namespace, end) in [near, far].into_iter().zip(&ends) {
        namespace.configure(&name, end.address, 24)?;
        if !options.offloads {
            namespace.run(|| Interface::find(&name)?.switch_offloads_off())??;
        }
    }
    let [near, far] = ends;
    Ok(Link { near, far })
}

fn mac_text(mac: &[u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

/// Two namespaces and a link between them.
#[derive(Debug)]
pub struct Lab {
    /// The namespace of the device under test.
    pub near: Namespace,
    /// The namespace of its peer.
    pub far: Namespace,
    /// The link between them.
    pub link: Link,
}

impl Lab {
    /// Creates the namespaces and the link.
    ///
    /// # Errors
    /// If privilege or `ip` is missing, or the kernel refuses the options.
    pub fn new(options: &LinkOptions) -> Result<Self, LabError> {
        let (near, far) = (Namespace::new()?, Namespace::new()?);
        for namespace in [&near, &far] {
            namespace.ip(&["link", "set", "lo", "up"])?;
        }
        let link = link(&near, &far, 0, options)?;
        Ok(Self { near, far, link })
    }
}
