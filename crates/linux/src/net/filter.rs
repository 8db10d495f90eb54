//! Frame filters, and their translation to classic BPF for packet sockets.
//!
//! Classic BPF: S. McCanne and V. Jacobson, "The BSD Packet Filter", USENIX 1993; the kernel's
//! dialect is described in its `Documentation/networking/filter.rst`. `xdp::program` implements the
//! same filters for AF_XDP.

use super::DeviceError;
use core::fmt;
use libc::{BPF_ABS, BPF_IND, BPF_JMP, BPF_K, BPF_LD, BPF_LDX, BPF_MSH, BPF_RET, sock_filter};

/// Selects the frames that a device receives. With a packet socket, the kernel's own stack also gets
/// every frame; with an XDP socket, the kernel never sees the selected frames.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Filter {
    /// Everything.
    #[default]
    Everything,
    /// Only frames for these ports.
    Ports(Ports),
}

/// UDP or TCP over IPv4 to certain destination ports, with or without one VLAN tag.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ports {
    /// Which of the two.
    pub protocol: PortProtocol,
    /// The destination ports, at most [`Ports::MOST`].
    pub ports: Vec<u16>,
    /// Whether to receive ARP too, for a stack with addresses of its own.
    pub arp: bool,
    /// Whether to receive the later fragments of all its datagrams, since they do not contain the port.
    pub fragments: bool,
}

/// A protocol whose header begins with both ports.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum PortProtocol {
    /// UDP.
    #[default]
    Udp,
    /// TCP.
    Tcp,
}

impl PortProtocol {
    /// Its number in the IP header.
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Udp => 17,
            Self::Tcp => 6,
        }
    }
}

impl fmt::Display for PortProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Udp { "UDP" } else { "TCP" })
    }
}

impl Ports {
    /// The largest number of ports, limited by the range of jumps in classic BPF.
    pub const MOST: usize = 200;
}

impl Filter {
    /// Selects UDP over IPv4 to the given ports, and nothing else.
    pub fn udp_ports(ports: impl IntoIterator<Item = u16>) -> Self {
        Self::Ports(Ports { ports: ports.into_iter().collect(), ..Ports::default() })
    }

    pub(super) fn check(&self) -> Result<(), DeviceError> {
        match self {
            Self::Ports(ports) if ports.ports.len() > Ports::MOST => Err(DeviceError::BadOption {
                option: "the number of ports",
                value: ports.ports.len() as u64,
                expected: "at most 200; take everything and demultiplex above instead",
            }),
            _ => Ok(()),
        }
    }

    /// Translates this filter for a packet socket, which sees frames after the kernel has removed a
    /// VLAN tag.
    pub(super) fn classic(&self) -> Vec<sock_filter> {
        match self {
            Self::Everything => vec![returning(u32::MAX)],
            Self::Ports(ports) => classic_ports(ports),
        }
    }

    /// A filter that rejects everything.
    pub(super) fn classic_nothing() -> Vec<sock_filter> {
        vec![returning(0)]
    }
}

/// Operand sizes of loads.
const HALF: u32 = 0x08;
const BYTE: u32 = 0x10;
/// Conditions of jumps: equal to a constant, or any bit of a constant set.
const EQUAL: u32 = 0x10;
const ANY_BIT: u32 = 0x40;

/// Where a jump goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Next,
    Accept,
    Reject,
}

fn classic_ports(ports: &Ports) -> Vec<sock_filter> {
    use Target::{Accept, Next, Reject};
    let accept_if = |wanted| if wanted { Accept } else { Reject };
    let mut program = Program::default();
    program.load(BPF_LD | HALF | BPF_ABS, 12); // Ethernet type
    program.jump(EQUAL, 0x0806, accept_if(ports.arp), Next);
    program.jump(EQUAL, 0x0800, Next, Reject);
    program.load(BPF_LD | BYTE | BPF_ABS, 23); // IP protocol
    program.jump(EQUAL, ports.protocol.number().into(), Next, Reject);
    program.load(BPF_LD | HALF | BPF_ABS, 20); // fragment offset
    program.jump(ANY_BIT, 0x1fff, accept_if(ports.fragments), Next);
    program.load(BPF_LDX | BYTE | BPF_MSH, 14); // length of the IP header
    program.load(BPF_LD | HALF | BPF_IND, 14 + 6); // the end of a UDP header: a frame without it is rejected
    program.load(BPF_LD | HALF | BPF_IND, 14 + 2); // destination port
    for &port in &ports.ports {
        program.jump(EQUAL, u32::from(port), Accept, Next);
    }
    program.finish()
}

/// A program under construction. It ends with a rejecting and then an accepting instruction.
#[derive(Default)]
struct Program {
    instructions: Vec<(sock_filter, [Target; 2])>,
}

impl Program {
    fn load(&mut self, code: u32, at: u32) {
        self.instructions.push((instruction(code, at), [Target::Next; 2]));
    }

    fn jump(&mut self, condition: u32, constant: u32, on_true: Target, on_false: Target) {
        self.instructions.push((instruction(BPF_JMP | condition | BPF_K, constant), [on_true, on_false]));
    }

    /// Fills in the distances of the jumps.
    fn finish(self) -> Vec<sock_filter> {
        let reject = self.instructions.len();
        let distance = |at: usize, target| match target {
            Target::Next => 0,
            // At most `Ports::MOST` plus a few, which fits into eight bits.
            Target::Reject => (reject - at - 1) as u8,
            Target::Accept => (reject - at) as u8,
        };
        let placed = self.instructions.iter().enumerate().map(|(at, &(instruction, [on_true, on_false]))| {
            sock_filter { jt: distance(at, on_true), jf: distance(at, on_false), ..instruction }
        });
        placed.chain([returning(0), returning(u32::MAX)]).collect()
    }
}

fn instruction(code: u32, k: u32) -> sock_filter {
    // Codes are sixteen bits wide.
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Ends the program and returns how many bytes of the frame are accepted.
fn returning(bytes: u32) -> sock_filter {
    instruction(BPF_RET | BPF_K, bytes)
}
