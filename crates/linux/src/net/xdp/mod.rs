//! AF_XDP: receives frames from an interface before the kernel's own stack sees them.
//!
//! An [`XdpInterface`] is an interface with a BPF program, which selects frames by a [`Filter`] and
//! passes the rest to the kernel. Each receive queue may have an [`XdpSocket`]; frames of a queue
//! without one also go to the kernel. The program is attached by a BPF link. It is detached when the
//! interface handle and all sockets are dropped, or the process ends.
//!
//! Sockets work in copy mode, which every driver supports: the kernel copies a frame into a buffer of
//! the socket. If the interface's MTU does not fit into a buffer, frames arrive in several buffers
//! (Linux 6.6 and later) and are reassembled here.
//!
//! Frames between veth ends have no checksum unless the *peer's* offloads are
//! [off](crate::net::Interface::switch_offloads_off), and AF_XDP does not report this.

mod program;
mod ring;
mod socket;

pub use socket::XdpSocket;

use crate::net::{DeviceError, Filter, Interface, Namespace, kernel};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// The capabilities needed to load and attach a program and to open a socket.
const NEEDS: &str = "CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF";

/// Where in the kernel the XDP program runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum AttachMode {
    /// In the driver, or after it if the driver does not support XDP.
    #[default]
    Best,
    /// In the driver, before the kernel allocates a packet (`sk_buff`).
    Driver,
    /// After the driver, on the kernel's packet. Works on any interface, but is slower.
    Generic,
}

/// The ring sizes of an [`XdpSocket`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XdpOptions {
    /// The number of receive buffers, a power of two. A long frame takes several.
    pub receive_slots: u32,
    /// The number of send buffers, a power of two.
    pub send_slots: u32,
}

impl Default for XdpOptions {
    /// 4,096 receive buffers and 1,024 send buffers.
    fn default() -> Self {
        Self { receive_slots: 4096, send_slots: 1024 }
    }
}

/// An interface with an XDP program that selects frames for [sockets](Self::socket).
///
/// ```no_run
/// use warmcore_linux::net::{AttachMode, Filter, FrameDevice, XdpInterface, XdpOptions};
///
/// let interface = XdpInterface::attach("eth0", &Filter::udp_ports([7]), AttachMode::Best)?;
/// let mut socket = interface.socket(0, XdpOptions::default())?;
/// socket.receive(32, |frame| println!("{frame:?}"));
/// # Ok::<(), warmcore_linux::net::DeviceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct XdpInterface(Arc<Attachment>);

/// The attached program. It is detached when this is dropped.
#[derive(Debug)]
struct Attachment {
    interface: Interface,
    /// The namespace of the interface, in which its sockets must be opened.
    namespace: Namespace,
    map: OwnedFd,
    /// Whether frames may arrive in several buffers.
    several_buffers: bool,
    link: OwnedFd,
}

impl Drop for Attachment {
    fn drop(&mut self) {
        // Fails only if the interface is gone, and the program with it.
        let _ = kernel::detach_program(&self.link);
    }
}

impl XdpInterface {
    /// Attaches a program to the interface `name` in the calling thread's network namespace. All frames
    /// go to the kernel until a queue has a socket.
    ///
    /// # Errors
    /// If capabilities are missing, the interface does not exist, is down or already has a program, or
    /// its driver does not support `mode` with its MTU.
    pub fn attach(name: &str, filter: &Filter, mode: AttachMode) -> Result<Self, DeviceError> {
        filter.check()?;
        let interface = Interface::find(name)?.require_up()?;
        let refused = DeviceError::from_kernel("loading an XDP program", &interface.name, NEEDS);
        let map = kernel::create_socket_map(interface.queues).map_err(&refused)?;
        let several_buffers = interface.longest_frame() > socket::LONGEST_IN_ONE_BUFFER;
        let instructions = program::assemble(filter, map.as_raw_fd());
        let program = kernel::load_program(&instructions, several_buffers).map_err(|(error, log)| {
            match refused(error) {
                DeviceError::Kernel { doing, source } if !log.is_empty() => {
                    DeviceError::Kernel { doing: format!("{doing} (the verifier says: {log})"), source }
                }
                other => other,
            }
        })?;
        let link = attach(&program, &interface, mode)?;
        let namespace = Namespace::current()?;
        Ok(Self(Arc::new(Attachment { interface, namespace, map, several_buffers, link })))
    }

    /// Opens the socket of receive queue `queue`. From now on it receives the queue's selected frames.
    /// The socket is opened in the interface's network namespace, whichever thread calls this.
    ///
    /// # Errors
    /// If the interface has no such queue, another socket has it, or an option is out of range.
    pub fn socket(&self, queue: u32, options: XdpOptions) -> Result<XdpSocket, DeviceError> {
        self.0.namespace.run(|| XdpSocket::open(&self.0, queue, options))?
    }

    /// The interface, as it was when the program was attached.
    #[must_use]
    pub fn interface(&self) -> &Interface {
        &self.0.interface
    }
}

/// Attaches the program as `mode` says.
fn attach(program: &OwnedFd, interface: &Interface, mode: AttachMode) -> Result<OwnedFd, DeviceError> {
    /// `XDP_FLAGS_SKB_MODE` and `XDP_FLAGS_DRV_MODE`.
    const GENERIC: u32 = 1 << 1;
    const DRIVER: u32 = 1 << 2;
    let in_mode = |flags| kernel::attach_program(program, interface.index, flags);
    let attached = match mode {
        AttachMode::Driver => in_mode(DRIVER),
        AttachMode::Generic => in_mode(GENERIC),
        AttachMode::Best => match in_mode(DRIVER) {
            Err(error) if !matches!(error, Errno::BUSY | Errno::EXIST) => in_mode(GENERIC),
            attached => attached,
        },
    };
    attached.map_err(|error| match error {
        Errno::BUSY | Errno::EXIST => DeviceError::ProgramPresent { interface: interface.name.clone() },
        Errno::RANGE => DeviceError::MtuTooLarge { interface: interface.name.clone(), mtu: interface.mtu },
        error => DeviceError::from_kernel("attaching an XDP program", &interface.name, NEEDS)(error),
    })
}
