//! Why a device cannot be opened, and why a frame cannot be sent.

use super::NamespaceError;
use rustix::io::Errno;

/// Why a device cannot be opened, or has stopped working. All but [`Gone`](Self::Gone) and
/// [`Kernel`](Self::Kernel) are detected before the device is created.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DeviceError {
    /// A capability is missing.
    #[error("{doing} needs {needs}: run as root, or give the program this capability with `setcap`")]
    Privilege {
        /// The operation.
        doing: String,
        /// The required capabilities.
        needs: &'static str,
    },
    /// There is no such interface in this network namespace.
    #[error("there is no interface `{name}` in this network namespace; there are: {}", present.join(", "))]
    NoInterface {
        /// The name that was asked for.
        name: String,
        /// The names of the existing interfaces.
        present: Vec<String>,
    },
    /// The interface is down.
    #[error("interface `{name}` is down: bring it up with `ip link set {name} up`")]
    Down {
        /// Its name.
        name: String,
    },
    /// The interface existed when the device was opened, and exists no more.
    #[error("interface `{name}` is gone: it was deleted, or moved to another network namespace")]
    Gone {
        /// Its name.
        name: String,
    },
    /// The interface has fewer queues.
    #[error("interface `{interface}` has no queue {queue}: its receive queues are 0 to {}", queues - 1)]
    NoQueue {
        /// The interface.
        interface: String,
        /// The queue that was asked for.
        queue: u32,
        /// The number of its queues, at least one.
        queues: u32,
    },
    /// Another socket has the queue.
    #[error(
        "queue {queue} of `{interface}` belongs to another AF_XDP socket: close that one, or use another queue"
    )]
    QueueTaken {
        /// The interface.
        interface: String,
        /// The queue that was asked for.
        queue: u32,
    },
    /// The interface has an XDP program already.
    #[error(
        "interface `{interface}` has an XDP program already: detach it (`ip link set {interface} xdp off`) or end the program that attached it"
    )]
    ProgramPresent {
        /// The interface.
        interface: String,
    },
    /// The interface's MTU is larger than its driver supports with XDP.
    #[error(
        "interface `{interface}` carries packets of up to {mtu} bytes, more than its driver can hand to XDP: lower its MTU (`ip link set {interface} mtu 1500`), its peer's too if it is a veth, or use a packet socket"
    )]
    MtuTooLarge {
        /// The interface.
        interface: String,
        /// Its MTU, in bytes.
        mtu: usize,
    },
    /// The name is not valid for an interface.
    #[error("`{0}` cannot be an interface's name: expected 1 to 15 bytes")]
    BadName(String),
    /// An option is out of range.
    #[error("{option} is {value}: expected {expected}")]
    BadOption {
        /// The option.
        option: &'static str,
        /// Its value.
        value: u64,
        /// What would be right.
        expected: &'static str,
    },
    /// The interface's network namespace cannot be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The kernel refused for another reason.
    #[error("{doing} failed: {source}")]
    Kernel {
        /// The operation.
        doing: String,
        /// The error of the kernel.
        source: Errno,
    },
}

impl DeviceError {
    /// Explains an error of the kernel when `doing` something on `interface` that requires the
    /// capabilities `needs`.
    pub(super) fn from_kernel(
        doing: &str,
        interface: &str,
        needs: &'static str,
    ) -> impl Fn(Errno) -> Self + use<> {
        let (doing, name) = (format!("{doing} on `{interface}`"), interface.to_owned());
        move |source| match source {
            Errno::PERM | Errno::ACCESS => Self::Privilege { doing: doing.clone(), needs },
            Errno::NETDOWN => Self::Down { name: name.clone() },
            source => Self::Kernel { doing: doing.clone(), source },
        }
    }
}

/// Why a frame was not accepted, or why not all accepted frames could be sent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SendError {
    /// The frame is shorter than an Ethernet header or longer than the interface carries.
    #[error(
        "a frame of {length} bytes cannot be sent: expected {least} to {most} bytes with its Ethernet header"
    )]
    Length {
        /// The frame's length.
        length: usize,
        /// The shortest frame that can be sent.
        least: usize,
        /// The longest frame that can be sent.
        most: usize,
    },
    /// A TUN interface carries IP only.
    #[error(
        "a frame of Ethernet type {ethertype:#06x} cannot be sent through a TUN interface: expected IPv4 (0x0800) or IPv6 (0x86dd); use TAP for others"
    )]
    NotIp {
        /// The frame's Ethernet type.
        ethertype: u16,
    },
    /// The queue is full. From `send`: the frame was not accepted, try again after a `flush`. From
    /// `flush`: some frames are still queued, none is lost.
    #[error("the send queue is full: flush again later")]
    Full,
    /// The device can no longer send.
    #[error("cannot send frames through `{interface}`: {source}")]
    Failed {
        /// The interface.
        interface: String,
        /// The error of the kernel.
        source: Errno,
    },
}
