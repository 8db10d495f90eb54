//! Properties of a network interface, needed before a device is opened on it.
//!
//! They are read through sockets and files of the calling thread's network namespace, because
//! `/sys/class/net` shows the namespace in which it was mounted.

use super::{DeviceError, kernel};
use rustix::io::Errno;
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::fs;
use std::os::fd::OwnedFd;

/// A network interface, as it was when it was [found](Interface::find).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its index in the kernel.
    pub index: u32,
    /// The largest packet it carries, without the Ethernet header, in bytes.
    pub mtu: usize,
    /// Its hardware address; zeros where it has none.
    pub mac: [u8; 6],
    /// How many receive queues it has, at least one.
    pub queues: u32,
    /// Whether it is up.
    pub up: bool,
}

/// `ethtool` commands.
const GET_CHANNELS: u32 = 0x3c;
/// Receive and transmit checksums, scatter-gather, segmentation (TCP, generic), generic receive
/// coalescing.
const SET_OFFLOADS: [u32; 6] = [0x15, 0x17, 0x19, 0x1f, 0x24, 0x2c];

impl Interface {
    /// Looks an interface up in the calling thread's network namespace.
    ///
    /// # Errors
    /// If there is none of this name, or the kernel does not answer.
    pub fn find(name: &str) -> Result<Self, DeviceError> {
        let failed =
            |source| DeviceError::Kernel { doing: format!("asking about interface `{name}`"), source };
        let socket = query_socket().map_err(failed)?;
        let index = name_to_index(&socket, name)
            .map_err(|_| DeviceError::NoInterface { name: name.to_owned(), present: Self::names() })?;
        Ok(Self {
            name: name.to_owned(),
            index,
            mtu: kernel::mtu(&socket, name).map_err(failed)?,
            mac: kernel::hardware_address(&socket, name).map_err(failed)?,
            queues: queues(&socket, name),
            up: kernel::is_up(&socket, name).map_err(failed)?,
        })
    }

    /// The names of all interfaces in the calling thread's network namespace.
    #[must_use]
    pub fn names() -> Vec<String> {
        let table = fs::read_to_string(Counters::PATH).unwrap_or_default();
        table
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, _)| name.trim().to_owned())
            .collect()
    }

    /// The longest frame it carries, with an Ethernet header and one VLAN tag.
    #[must_use]
    pub const fn longest_frame(&self) -> usize {
        self.mtu + super::ETHERNET_HEADER + super::VLAN_TAG
    }

    /// Switches off checksum, segmentation and coalescing offloads, so that the interface sends frames
    /// as they would be on a wire: with checksums, and no packet above the MTU. On a veth this must be
    /// done at the *sending* end. Offloads that the interface cannot switch are left as they are.
    ///
    /// # Errors
    /// If the capability `CAP_NET_ADMIN` is missing, or the interface is gone.
    pub fn switch_offloads_off(&self) -> Result<(), DeviceError> {
        let refused = DeviceError::from_kernel("switching offloads off", &self.name, "CAP_NET_ADMIN");
        let socket = query_socket().map_err(&refused)?;
        for command in SET_OFFLOADS {
            let mut words = [command, 0, 0, 0, 0, 0, 0, 0, 0];
            match kernel::ethtool(&socket, &self.name, &mut words) {
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::INVAL) => {}
                Err(error) => return Err(refused(error)),
            }
        }
        Ok(())
    }

    pub(super) fn require_up(self) -> Result<Self, DeviceError> {
        if self.up { Ok(self) } else { Err(DeviceError::Down { name: self.name }) }
    }
}

fn query_socket() -> Result<OwnedFd, Errno> {
    socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
}

/// Brings the loopback interface of the calling thread's network namespace up.
pub(super) fn bring_loopback_up() -> Result<(), Errno> {
    kernel::bring_up(query_socket()?, "lo")
}

/// The number and the hardware address, or its first bytes, of an interface of the calling thread's network namespace.
///
/// # Errors
/// If there is none of this name, or the kernel does not answer.
pub(crate) fn number_and_address(name: &str) -> Result<(u32, [u8; 6]), Errno> {
    let socket = query_socket()?;
    Ok((name_to_index(&socket, name)?, kernel::hardware_address(&socket, name)?))
}

/// Returns the table by which hashes choose receive queues; empty if the device has none.
///
/// # Errors
/// If the driver has no such table (`EOPNOTSUPP`), or there is no such interface.
pub(crate) fn indirection_table(name: &str) -> Result<Vec<u32>, Errno> {
    let socket = query_socket()?;
    let length = kernel::read_indirection(&socket, name, &mut [])?;
    let mut table = vec![0; length];
    kernel::read_indirection(&socket, name, &mut table)?;
    Ok(table)
}

/// Sets the table by which hashes choose receive queues; an empty one gives the choice back to the driver.
///
/// # Errors
/// If the driver has no such table (`EOPNOTSUPP`), or cannot have this one (`EINVAL`), or the capability
/// `CAP_NET_ADMIN` is missing.
pub(crate) fn set_indirection_table(name: &str, table: &[u32]) -> Result<(), Errno> {
    kernel::write_indirection(query_socket()?, name, table)
}

/// Returns the number of receive queues; one if the interface does not report it.
fn queues(socket: &OwnedFd, name: &str) -> u32 {
    let mut words = [GET_CHANNELS, 0, 0, 0, 0, 0, 0, 0, 0];
    match kernel::ethtool(socket, name, &mut words) {
        Ok(()) => {
            let [_, _, _, _, _, receive, _, _, combined] = words;
            (receive + combined).max(1)
        }
        Err(_) => 1,
    }
}

/// The kernel's counters of one interface. The file stays open, so any thread reads the namespace in
/// which it was opened.
#[derive(Debug)]
pub(super) struct Counters {
    table: fs::File,
    name: String,
}

impl Counters {
    const PATH: &str = "/proc/thread-self/net/dev";
    /// Column of dropped outgoing frames, counted after the interface name.
    const TRANSMIT_DROPS: usize = 11;

    pub(super) fn open(name: &str) -> std::io::Result<Self> {
        Ok(Self { table: fs::File::open(Self::PATH)?, name: name.to_owned() })
    }

    /// Frames that the kernel wanted to send through the interface and dropped; `None` once the
    /// interface is gone.
    pub(super) fn transmit_drops(&self) -> Option<u64> {
        use std::io::{Read, Seek};
        let (mut table, mut text) = (&self.table, String::new());
        table.rewind().ok()?;
        table.read_to_string(&mut text).ok()?;
        let mut rows = text.lines().filter_map(|line| line.split_once(':'));
        let (_, counters) = rows.find(|(name, _)| name.trim() == self.name)?;
        counters.split_whitespace().nth(Self::TRANSMIT_DROPS)?.parse().ok()
    }
}
