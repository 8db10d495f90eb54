//! Which frames a device takes, and the classic BPF program that says so to a packet socket.
//!
//! Classic BPF: S. McCanne and V. Jacobson, "The BSD Packet Filter", USENIX 1993; the kernel's
//! dialect is described in its `Documentation/networking/filter.rst`. The same choice is made for
//! AF_XDP by `xdp::program`.

use super::DeviceError;
use libc::{BPF_ABS, BPF_IND, BPF_JMP, BPF_K, BPF_LD, BPF_LDX, BPF_MSH, BPF_RET, sock_filter};

/// Which of the interface's frames a device takes. A packet socket leaves the kernel its copy in
/// any case; what an XDP socket takes, the kernel never sees.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Filter {
    /// Everything.
    #[default]
    Everything,
    /// Only what these ports are meant for.
    Ports(Ports),
}

/// UDP over IPv4, with or without one VLAN tag, to some destination ports.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ports {
    /// The destination ports, at most [`Ports::MOST`].
    pub udp: Vec<u16>,
    /// Also ARP, for a stack that answers for addresses of its own.
    pub arp: bool,
    /// Also the later fragments of UDP datagrams, which do not name their port: all of them.
    pub fragments: bool,
}

impl Ports {
    /// The largest number of ports; the jumps of classic BPF reach no further.
    pub const MOST: usize = 200;
}

impl Filter {
    /// UDP over IPv4 to the given ports, nothing else.
    pub fn udp_ports(ports: impl IntoIterator<Item = u16>) -> Self {
        Self::Ports(Ports { udp: ports.into_iter().collect(), arp: false, fragments: false })
    }

    pub(super) fn check(&self) -> Result<(), DeviceError> {
        match self {
            Self::Ports(ports) if ports.udp.len() > Ports::MOST => Err(DeviceError::BadOption {
                option: "the number of ports",
                value: ports.udp.len() as u64,
                expected: "at most 200; take everything and demultiplex above instead",
            }),
            _ => Ok(()),
        }
    }

    /// This filter for a packet socket, which sees frames after the kernel has taken a VLAN tag
    /// out of them.
    pub(super) fn classic(&self) -> Vec<sock_filter> {
        match self {
            Self::Everything => vec![returning(u32::MAX)],
            Self::Ports(ports) => classic_ports(ports),
        }
    }

    /// The filter that takes nothing.
    pub(super) fn classic_nothing() -> Vec<sock_filter> {
        vec![returning(0)]
    }
}

/// Sizes of what is loaded.
const HALF: u32 = 0x08;
const BYTE: u32 = 0x10;
/// Conditions of jumps: equal to, or any bit set of, a constant.
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
    program.jump(EQUAL, 17, Next, Reject);
    program.load(BPF_LD | HALF | BPF_ABS, 20); // fragment offset
    program.jump(ANY_BIT, 0x1fff, accept_if(ports.fragments), Next);
    program.load(BPF_LDX | BYTE | BPF_MSH, 14); // length of the IP header
    program.load(BPF_LD | HALF | BPF_IND, 14 + 6); // the UDP header's end: a frame without it is rejected
    program.load(BPF_LD | HALF | BPF_IND, 14 + 2); // destination port
    for &port in &ports.udp {
        program.jump(EQUAL, u32::from(port), Accept, Next);
    }
    program.finish()
}

/// A program being written. It ends in a rejecting and then an accepting instruction.
#[derive(Default)]
struct Program {
    instructions: Vec<(sock_filter, [Target; 2])>,
}

impl Program {
    fn load(&mut self, code: u32, at: u32) {
        self.instructions.push((instruction(code, at), [Target::Next; 2]));
    }

    fn jump(&mut self, condition: u32, constant: u32, if_so: Target, if_not: Target) {
        self.instructions.push((instruction(BPF_JMP | condition | BPF_K, constant), [if_so, if_not]));
    }

    /// Fills in the distances of the jumps.
    fn finish(self) -> Vec<sock_filter> {
        let reject = self.instructions.len();
        let distance = |at: usize, target| match target {
            Target::Next => 0,
            // At most `Ports::MOST` and a few, so within the eight bits there are.
            Target::Reject => (reject - at - 1) as u8,
            Target::Accept => (reject - at) as u8,
        };
        let placed = self.instructions.iter().enumerate().map(|(at, &(instruction, [if_so, if_not]))| {
            sock_filter { jt: distance(at, if_so), jf: distance(at, if_not), ..instruction }
        });
        placed.chain([returning(0), returning(u32::MAX)]).collect()
    }
}

fn instruction(code: u32, k: u32) -> sock_filter {
    // Codes are sixteen bits wide.
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Ends the program: how many bytes of the frame are taken.
fn returning(bytes: u32) -> sock_filter {
    instruction(BPF_RET | BPF_K, bytes)
}
