//! AF_XDP: frames taken from an interface before the kernel's own stack sees them.
//!
//! An [`XdpInterface`] is an interface with a BPF program on it, which picks frames by a
//! [`Filter`] and passes the rest on to the kernel. Each receive queue may have an [`XdpSocket`];
//! frames of a queue without one go to the kernel as well. The program hangs on a BPF link, and
//! goes with the last of interface handle and sockets, or with the process.
//!
//! Sockets work in copy mode, which every driver supports: the kernel copies a frame into a buffer
//! of the socket's. An interface whose MTU does not fit a buffer is served with frames in several
//! buffers (Linux 6.6 and later), put together here.
//!
//! The frames between veth ends carry no checksum unless the *peer's* offloads are
//! [off](crate::net::Interface::switch_offloads_off), and AF_XDP cannot tell.

mod program;
mod ring;
mod socket;

pub use socket::XdpSocket;

use crate::net::{DeviceError, Filter, Interface, Namespace, kernel};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// What loading, attaching and opening take.
const NEEDS: &str = "CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF";

/// Where in the kernel the program runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum AttachMode {
    /// In the driver, or after it where the driver cannot.
    #[default]
    Best,
    /// In the driver, before the kernel has made a packet of the frame.
    Driver,
    /// After the driver, on the kernel's packet: any interface, slower.
    Generic,
}

/// How large an [`XdpSocket`]'s rings are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XdpOptions {
    /// Buffers to receive into, a power of two. A frame of more than one buffer takes several.
    pub receive_slots: u32,
    /// Buffers to send from, a power of two.
    pub send_slots: u32,
}

impl Default for XdpOptions {
    /// 4,096 buffers to receive into, 1,024 to send from.
    fn default() -> Self {
        Self { receive_slots: 4096, send_slots: 1024 }
    }
}

/// An interface with an XDP program that picks frames for [sockets](Self::socket).
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

/// The program on its interface, for as long as this is there.
#[derive(Debug)]
struct Attachment {
    interface: Interface,
    /// Where the interface is, and its sockets must be.
    namespace: Namespace,
    map: OwnedFd,
    /// Attached in the driver, not after it.
    in_driver: bool,
    /// Frames may come in several buffers.
    several_buffers: bool,
    link: OwnedFd,
}

impl Drop for Attachment {
    fn drop(&mut self) {
        // Refused only if the interface, and the program with it, is gone.
        let _ = kernel::detach_program(&self.link);
    }
}

impl XdpInterface {
    /// Puts a program on the interface `name` of the calling thread's network namespace. Nothing is
    /// taken from the kernel until a queue has a socket.
    ///
    /// # Errors
    /// If capabilities are missing, there is no such interface or it is down, it has a program
    /// already, or its driver cannot do with its MTU what `mode` asks for.
    pub fn attach(name: &str, filter: &Filter, mode: AttachMode) -> Result<Self, DeviceError> {
        filter.check()?;
        let interface = Interface::find(name)?.require_up()?;
        let refused = DeviceError::from_kernel("loading an XDP program", &interface, NEEDS);
        let map = kernel::create_socket_map(interface.queues).map_err(&refused)?;
        let several_buffers = interface.longest_frame() > socket::LONGEST_IN_ONE_BUFFER;
        let instructions = program::assemble(filter, map.as_raw_fd());
        let program = kernel::load_program(&instructions, several_buffers).map_err(|(error, said)| {
            match refused(error) {
                DeviceError::Kernel { doing, source } if !said.is_empty() => {
                    DeviceError::Kernel { doing: format!("{doing} (the verifier says: {said})"), source }
                }
                other => other,
            }
        })?;
        let (link, in_driver) = attach(&program, &interface, mode)?;
        let namespace = Namespace::current()?;
        Ok(Self(Arc::new(Attachment { interface, namespace, map, in_driver, several_buffers, link })))
    }

    /// Opens the socket of receive queue `queue`, which from now on gets the chosen frames.
    /// Whichever thread calls this, the socket is opened in the interface's network namespace.
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

    /// Whether the program runs in the driver.
    #[must_use]
    pub fn runs_in_driver(&self) -> bool {
        self.0.in_driver
    }
}

/// Attaches the program as `mode` says; the link, and whether it is in the driver.
fn attach(
    program: &OwnedFd,
    interface: &Interface,
    mode: AttachMode,
) -> Result<(OwnedFd, bool), DeviceError> {
    /// `XDP_FLAGS_SKB_MODE` and `XDP_FLAGS_DRV_MODE`.
    const GENERIC: u32 = 1 << 1;
    const DRIVER: u32 = 1 << 2;
    let in_mode = |flags| kernel::attach_program(program, interface.index, flags);
    let attached = match mode {
        AttachMode::Driver => in_mode(DRIVER).map(|link| (link, true)),
        AttachMode::Generic => in_mode(GENERIC).map(|link| (link, false)),
        AttachMode::Best => match in_mode(DRIVER) {
            Ok(link) => Ok((link, true)),
            Err(Errno::BUSY | Errno::EXIST) => Err(Errno::BUSY),
            Err(_) => in_mode(GENERIC).map(|link| (link, false)),
        },
    };
    attached.map_err(|error| match error {
        Errno::BUSY | Errno::EXIST => DeviceError::ProgramPresent { interface: interface.name.clone() },
        Errno::RANGE => DeviceError::MtuTooLarge { interface: interface.name.clone(), mtu: interface.mtu },
        error => DeviceError::from_kernel("attaching an XDP program", interface, NEEDS)(error),
    })
}
