//! The BPF program that redirects frames of an interface to XDP sockets.
//!
//! It is assembled here, instruction by instruction, so that neither a BPF compiler nor a loader is
//! needed (instruction set: RFC 9669). The program:
//!
//! ```text
//! skip one VLAN tag
//! ARP                       → take, if requested
//! IPv4, our protocol, no fragment or the first one: destination port among ours → take
//! IPv4, our protocol, later fragment → take, if requested
//! anything else, truncated  → pass to the kernel
//!
//! take: redirect to the socket of this receive queue; pass to the kernel if it has none
//! ```
//!
//! The verifier requires a comparison with the frame's end before each access; this determines the
//! order of the checks.

use crate::net::{ETHERNET_HEADER, Filter, Ports, VLAN_TAG};

/// Registers, named by their contents. Kernel calls take arguments in 1 to 5 and return results in 0.
const RESULT: u8 = 0;
const CONTEXT: u8 = 1;
/// The start of the frame, advanced past skipped headers.
const FRAME: u8 = 2;
const END: u8 = 3;
const LIMIT: u8 = 4;
const VALUE: u8 = 5;
const SAVED_CONTEXT: u8 = 6;
const HEADER: u8 = 7;

/// Opcodes: class, size or operation, and source.
const MOVE: u8 = 0xbf;
const MOVE_CONSTANT: u8 = 0xb7;
const ADD: u8 = 0x0f;
const ADD_CONSTANT: u8 = 0x07;
const AND_CONSTANT: u8 = 0x57;
const SHIFT_LEFT_CONSTANT: u8 = 0x67;
const LOAD_BYTE: u8 = 0x71;
const LOAD_HALF: u8 = 0x69;
const LOAD_WORD: u8 = 0x61;
const JUMP_EQUAL: u8 = 0x15;
const JUMP_NOT_EQUAL: u8 = 0x55;
const JUMP_LESS: u8 = 0xa5;
const JUMP_GREATER_REGISTER: u8 = 0x2d;
const LOAD_CONSTANT: u8 = 0x18;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// The result `XDP_PASS`: the kernel processes the frame.
const PASS: i32 = 2;
/// Offsets in `struct xdp_md`.
const DATA: i16 = 0;
const DATA_END: i16 = 4;
const QUEUE: i16 = 16;
/// The helper `bpf_redirect_map`.
const REDIRECT_MAP: i32 = 51;
/// The source register of [`LOAD_CONSTANT`] if the constant is a map's descriptor.
const MAP_DESCRIPTOR: u8 = 1;

/// Where a jump goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Pass,
    Take,
    /// Skip this many instructions.
    Over(i16),
}

/// Assembles the program for `filter`. `map` is the descriptor of the map of sockets.
pub(super) fn assemble(filter: &Filter, map: i32) -> Vec<u64> {
    let mut program = Assembly::default();
    program.op(MOVE, SAVED_CONTEXT, CONTEXT, 0, 0);
    match filter {
        Filter::Everything => program.end_by_taking(map),
        Filter::Ports(ports) => {
            choose(&mut program, ports);
            program.end_by_passing();
            program.end_by_taking(map);
        }
    }
    program.place_jumps()
}

/// Decides by the headers whether a frame is taken.
fn choose(program: &mut Assembly, ports: &Ports) {
    let take_if = |wanted| if wanted { Target::Take } else { Target::Pass };
    let on_wire = |value: u16| i32::from(value.to_be());
    let header = ETHERNET_HEADER as i16;

    program.op(LOAD_WORD, FRAME, CONTEXT, DATA, 0);
    program.op(LOAD_WORD, END, CONTEXT, DATA_END, 0);
    program.require(header);
    program.op(LOAD_HALF, VALUE, FRAME, 12, 0); // Ethernet type
    program.jump(JUMP_EQUAL, VALUE, on_wire(0x8100), Target::Over(1));
    program.jump(JUMP_NOT_EQUAL, VALUE, on_wire(0x88a8), Target::Over(Assembly::REQUIRE + 2));
    program.op(ADD_CONSTANT, FRAME, 0, 0, VLAN_TAG as i32);
    program.require(header);
    program.op(LOAD_HALF, VALUE, FRAME, 12, 0);

    program.jump(JUMP_EQUAL, VALUE, on_wire(0x0806), take_if(ports.arp));
    program.jump(JUMP_NOT_EQUAL, VALUE, on_wire(0x0800), Target::Pass);
    program.require(header + 20);
    program.op(LOAD_BYTE, VALUE, FRAME, header + 9, 0); // IP protocol
    program.jump(JUMP_NOT_EQUAL, VALUE, ports.protocol.number().into(), Target::Pass);
    program.op(LOAD_HALF, VALUE, FRAME, header + 6, 0); // fragment offset
    program.op(AND_CONSTANT, VALUE, 0, 0, on_wire(0x1fff));
    program.jump(JUMP_NOT_EQUAL, VALUE, 0, take_if(ports.fragments));
    program.op(LOAD_BYTE, HEADER, FRAME, header, 0); // version and header length in words
    program.op(AND_CONSTANT, HEADER, 0, 0, 0x0f);
    program.op(SHIFT_LEFT_CONSTANT, HEADER, 0, 0, 2);
    program.jump(JUMP_LESS, HEADER, 20, Target::Pass);
    program.op(ADD, FRAME, HEADER, 0, 0);
    program.require(header + 8);
    program.op(LOAD_HALF, VALUE, FRAME, header + 2, 0); // destination port
    for &port in &ports.ports {
        program.jump(JUMP_EQUAL, VALUE, on_wire(port), Target::Take);
    }
}

/// A program under construction.
#[derive(Default)]
struct Assembly {
    instructions: Vec<(Instruction, Option<Target>)>,
    /// The first instructions of the two endings.
    pass: i16,
    take: i16,
}

#[derive(Clone, Copy)]
struct Instruction {
    code: u8,
    to: u8,
    from: u8,
    offset: i16,
    constant: i32,
}

impl Assembly {
    /// The number of instructions that [`require`](Self::require) adds.
    const REQUIRE: i16 = 3;

    fn op(&mut self, code: u8, to: u8, from: u8, offset: i16, constant: i32) {
        self.instructions.push((Instruction { code, to, from, offset, constant }, None));
    }

    fn jump(&mut self, code: u8, register: u8, constant: i32, target: Target) {
        let jump = Instruction { code, to: register, from: 0, offset: 0, constant };
        self.instructions.push((jump, Some(target)));
    }

    /// Passes the frame to the kernel if fewer than `bytes` bytes follow [`FRAME`].
    fn require(&mut self, bytes: i16) {
        self.op(MOVE, LIMIT, FRAME, 0, 0);
        self.op(ADD_CONSTANT, LIMIT, 0, 0, i32::from(bytes));
        let compare =
            Instruction { code: JUMP_GREATER_REGISTER, to: LIMIT, from: END, offset: 0, constant: 0 };
        self.instructions.push((compare, Some(Target::Pass)));
    }

    /// The first ending: passes the frame to the kernel.
    fn end_by_passing(&mut self) {
        self.pass = self.next();
        self.op(MOVE_CONSTANT, RESULT, 0, 0, PASS);
        self.op(EXIT, 0, 0, 0, 0);
    }

    /// The second ending: redirects the frame to the socket of this queue, if there is one.
    fn end_by_taking(&mut self, map: i32) {
        self.take = self.next();
        self.op(LOAD_WORD, 2, SAVED_CONTEXT, QUEUE, 0);
        self.op(LOAD_CONSTANT, 1, MAP_DESCRIPTOR, 0, map);
        self.op(0, 0, 0, 0, 0); // the constant's upper half
        self.op(MOVE_CONSTANT, 3, 0, 0, PASS); // if the queue has no socket
        self.op(CALL, 0, 0, 0, REDIRECT_MAP);
        self.op(EXIT, 0, 0, 0, 0);
    }

    fn next(&self) -> i16 {
        // A few dozen instructions and one per port, of which there are at most 200.
        self.instructions.len() as i16
    }

    /// Fills in the distances of the jumps.
    fn place_jumps(self) -> Vec<u64> {
        let place = |(at, (instruction, target)): (usize, (Instruction, Option<Target>))| {
            let next = at as i16 + 1;
            let offset = match target {
                None => instruction.offset,
                Some(Target::Over(count)) => count,
                Some(Target::Pass) => self.pass - next,
                Some(Target::Take) => self.take - next,
            };
            Instruction { offset, ..instruction }.encode()
        };
        self.instructions.into_iter().enumerate().map(place).collect()
    }
}

impl Instruction {
    /// Encodes the instruction as eight bytes in memory order.
    fn encode(self) -> u64 {
        let registers =
            if cfg!(target_endian = "little") { self.from << 4 | self.to } else { self.to << 4 | self.from };
        let [a, b] = self.offset.to_ne_bytes();
        let [c, d, e, f] = self.constant.to_ne_bytes();
        u64::from_ne_bytes([self.code, registers, a, b, c, d, e, f])
    }
}
