//! Classic BPF programs that choose the socket of a datagram or of a connection (`SO_ATTACH_REUSEPORT_CBPF`), or of a frame
//! that carries a datagram (`PACKET_FANOUT_CBPF`).
//!
//! The program returns the number of a socket in the order in which they were bound (UDP) or began to listen (TCP). The
//! kernel calls it with what lies behind the transport's header; the headers lie at `SKF_NET_OFF` (see
//! `Documentation/networking/filter.rst`). Both transports' headers begin with the sender's port.

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_DIV, BPF_IND, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_MEM, BPF_MISC,
    BPF_MOD, BPF_MUL, BPF_RET, BPF_RSH, BPF_ST, BPF_TAX, BPF_X, BPF_XOR, SKF_AD_CPU, SKF_AD_OFF, SKF_NET_OFF,
    sock_filter,
};
use warmcore_units::CpuId;

const WORD: u32 = 0x00;
const HALF: u32 = 0x08;
const BYTE: u32 = 0x10;
/// Return the accumulator.
const ACCUMULATOR: u32 = 0x10;

/// Odd constants with well-mixed bits, by which the parts of a flow are multiplied: 2^32 divided by the golden
/// ratio, and the multipliers of MurmurHash3's finalizer.
const GOLDEN: u32 = 0x9e37_79b1;
const MIX: [u32; 2] = [0x85eb_ca6b, 0xc2b2_ae35];

/// The most cpus that [`by_cpu`] can list.
pub(in crate::net) const MAX_CPUS: usize = 1000;

/// A filter that lets no packet in.
pub(super) fn nothing() -> Vec<sock_filter> {
    vec![op(BPF_RET | BPF_K, 0)]
}

/// Chooses one of `sockets` by the sender's address and port, IPv4 or IPv6. `seed` makes the choice unpredictable to senders.
pub(in crate::net) fn by_flow(sockets: u32, seed: u32) -> Vec<sock_filter> {
    by_flow_among(sockets, sockets, seed)
}

/// Chooses one of the first `active` of `sockets`. A flow whose socket among all of them is active has that one, however many are.
pub(in crate::net) fn by_flow_among(active: u32, sockets: u32, seed: u32) -> Vec<sock_filter> {
    let mut program = vec![
        op(BPF_LD | BYTE | BPF_ABS, net(0)),
        op(BPF_ALU | BPF_RSH | BPF_K, 4), // the version
        jump_unless(6, 0),
    ];
    let branch = program.len() - 1;
    program.extend(ports_and_addresses_of_ipv6());
    // The way of IPv4 begins behind this, and behind the jump over it.
    program[branch].jf = (program.len() - branch) as u8;
    let v4 = ports_and_addresses_of_ipv4();
    program.push(op(BPF_JMP, v4.len() as u32)); // BPF_JA
    program.extend(v4);
    program.extend(mixed(seed));
    program.extend([
        op(BPF_ST, 0),
        op(BPF_ALU | BPF_MOD | BPF_K, sockets),
        sock_filter { jt: 1, ..op(BPF_JMP | BPF_JGE | BPF_K, active) },
        op(BPF_RET | ACCUMULATOR, 0),
        // Not active: another part of the hash chooses again.
        op(BPF_LD | BPF_MEM, 0),
        op(BPF_ALU | BPF_DIV | BPF_K, sockets),
        op(BPF_ALU | BPF_MOD | BPF_K, active),
        op(BPF_RET | ACCUMULATOR, 0),
    ]);
    program
}

/// Leaves a combination of the sender's address and port in the accumulator.
fn ports_and_addresses_of_ipv4() -> Vec<sock_filter> {
    let mut program = vec![
        // The port lies behind a header of four times the lower half of the first byte.
        op(BPF_LD | BYTE | BPF_ABS, net(0)),
        op(BPF_ALU | BPF_AND | BPF_K, 0xf),
        op(BPF_ALU | BPF_MUL | BPF_K, 4),
        op(BPF_MISC | BPF_TAX, 0),
        op(BPF_LD | HALF | BPF_IND, net(0)),
        op(BPF_ALU | BPF_MUL | BPF_K, GOLDEN),
    ];
    program.extend(combined_with(12));
    program
}

/// The same of IPv6. Behind extension headers it takes other bytes for the port, the same for all of a flow.
fn ports_and_addresses_of_ipv6() -> Vec<sock_filter> {
    let mut program = vec![op(BPF_LD | HALF | BPF_ABS, net(40)), op(BPF_ALU | BPF_MUL | BPF_K, GOLDEN)];
    for at in [8, 12, 16, 20] {
        program.extend(combined_with(at));
    }
    program
}

/// Combines the accumulator with the word at `at` of the IP header: `(A ^ word) * constant`.
fn combined_with(at: u32) -> [sock_filter; 4] {
    [
        op(BPF_MISC | BPF_TAX, 0),
        op(BPF_LD | WORD | BPF_ABS, net(at)),
        op(BPF_ALU | BPF_XOR | BPF_X, 0),
        op(BPF_ALU | BPF_MUL | BPF_K, MIX[0]),
    ]
}

/// Mixes the accumulator, so that its lower bits depend on all.
fn mixed(seed: u32) -> Vec<sock_filter> {
    let fold = |by| {
        [
            op(BPF_ST, 0),
            op(BPF_ALU | BPF_RSH | BPF_K, by),
            op(BPF_MISC | BPF_TAX, 0),
            op(BPF_LD | BPF_MEM, 0),
            op(BPF_ALU | BPF_XOR | BPF_X, 0),
        ]
    };
    let mut program = vec![op(BPF_ALU | BPF_XOR | BPF_K, seed)];
    for (by, multiplier) in [(16, MIX[0]), (13, MIX[1])] {
        program.extend(fold(by));
        program.push(op(BPF_ALU | BPF_MUL | BPF_K, multiplier));
    }
    program.extend(fold(16));
    program
}

/// Chooses the socket of the worker on the cpu that received the packet: worker `n` is on `cpus[n]`. Packets of
/// other cpus go to worker `cpu % workers`.
pub(in crate::net) fn by_cpu(cpus: &[CpuId]) -> Vec<sock_filter> {
    let mut program = vec![op(BPF_LD | WORD | BPF_ABS, (SKF_AD_OFF + SKF_AD_CPU) as u32)];
    for (worker, cpu) in cpus.iter().enumerate().take(MAX_CPUS) {
        program.push(jump_unless(cpu.0, 1));
        program.push(op(BPF_RET | BPF_K, worker as u32));
    }
    program.extend([op(BPF_ALU | BPF_MOD | BPF_K, (cpus.len() as u32).max(1)), op(BPF_RET | ACCUMULATOR, 0)]);
    program
}

const fn net(at: u32) -> u32 {
    (SKF_NET_OFF as u32).wrapping_add(at)
}

const fn op(code: u32, k: u32) -> sock_filter {
    // Codes are sixteen bits wide.
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Skips `over` instructions unless the accumulator is `value`.
const fn jump_unless(value: u32, over: u8) -> sock_filter {
    sock_filter { jf: over, ..op(BPF_JMP | BPF_JEQ | BPF_K, value) }
}
