//! Instructions of each shape, by their bytes.

use super::{Decoder, Undecodable, Values, beginning_at};
use crate::trace::{Access, Class, Instruction};
use proptest::prelude::*;
use warmcore_cachesim::Kind::{self, Load, Store};

/// Bytes, their class, and kind, address and size of each access.
type Case<'a> = (&'a [u8], Class, &'a [(Kind, u64, u16)]);

fn decode(bytes: &[u8], ip: u64, values: &Values) -> Result<(Instruction, Vec<Access>), Undecodable> {
    let mut accesses = Vec::new();
    let instruction = Decoder::default().decode(bytes, ip, values, &mut accesses)?;
    Ok((instruction, accesses))
}

const IP: u64 = 0x40_1000;
const RSP: u64 = 0x7fff_0000;

/// Register N holds `(N + 1) << 16`, but rsp.
fn values() -> Values {
    let mut values = Values { fs_base: 0xf000_0000, gs_base: 0xa000_0000, ..Values::default() };
    values.general = std::array::from_fn(|number| (number as u64 + 1) << 16);
    values.general[4] = RSP;
    values
}

fn with_rcx(rcx: u64) -> Values {
    let mut values = values();
    values.general[1] = rcx;
    values
}

/// Class, and kind, address and size of each access.
fn decoded(bytes: &[u8], values: &Values) -> (Class, Vec<(Kind, u64, u16)>) {
    let (instruction, accesses) = decode(bytes, IP, values).unwrap();
    assert_eq!(usize::from(instruction.length), bytes.len(), "{bytes:02x?}");
    (instruction.class, accesses.iter().map(|access| (access.kind, access.address, access.size)).collect())
}

const RBX: u64 = 4 << 16;
const RSI: u64 = 7 << 16;
const RDI: u64 = 8 << 16;

#[test]
fn loads_stores_and_both() {
    let cases: &[Case<'_>] = &[
        (&[0x48, 0x8b, 0x43, 0x10], Class::Load, &[(Load, RBX + 16, 8)]), // mov rax, [rbx+16]
        (&[0x89, 0x43, 0xfc], Class::Store, &[(Store, RBX - 4, 4)]),      // mov [rbx-4], eax
        (&[0x88, 0x04, 0xb3], Class::Store, &[(Store, RBX + 4 * RSI, 1)]), // mov [rbx+rsi*4], al
        (&[0x48, 0x01, 0x03], Class::Store, &[(Load, RBX, 8), (Store, RBX, 8)]), // add [rbx], rax
        (&[0x48, 0x3b, 0x03], Class::Load, &[(Load, RBX, 8)]),            // cmp rax, [rbx]
        (&[0x48, 0x8b, 0x05, 0x10, 0, 0, 0], Class::Load, &[(Load, IP + 7 + 16, 8)]), // mov rax, [rip+16]
        (&[0xf0, 0x0f, 0xb1, 0x0b], Class::Store, &[(Load, RBX, 4), (Store, RBX, 4)]), // lock cmpxchg [rbx], ecx
        (&[0x66, 0x0f, 0x6f, 0x03], Class::Load, &[(Load, RBX, 16)]),                  // movdqa xmm0, [rbx]
        (&[0xc5, 0xfe, 0x7f, 0x03], Class::Store, &[(Store, RBX, 32)]),                // vmovdqu [rbx], ymm0
        (&[0x0f, 0xae, 0x23], Class::Store, &[(Load, RBX, 576), (Store, RBX, 576)]),   // xsave [rbx]
    ];
    for (bytes, class, accesses) in cases {
        assert_eq!(decoded(bytes, &values()), (*class, accesses.to_vec()), "{bytes:02x?}");
    }
}

#[test]
fn the_stack() {
    let cases: &[Case<'_>] = &[
        (&[0x53], Class::Store, &[(Store, RSP - 8, 8)]), // push rbx
        (&[0x5b], Class::Load, &[(Load, RSP, 8)]),       // pop rbx
        (&[0xff, 0x33], Class::Store, &[(Load, RBX, 8), (Store, RSP - 8, 8)]), // push [rbx]
        (&[0xe8, 0, 1, 0, 0], Class::Call, &[(Store, RSP - 8, 8)]), // call +0x100
        (&[0xff, 0x13], Class::Call, &[(Load, RBX, 8), (Store, RSP - 8, 8)]), // call [rbx]
        (&[0xc3], Class::Return, &[(Load, RSP, 8)]),     // ret
        (&[0xc9], Class::Load, &[(Load, 6 << 16, 8)]),   // leave
    ];
    for (bytes, class, accesses) in cases {
        assert_eq!(decoded(bytes, &values()), (*class, accesses.to_vec()), "{bytes:02x?}");
    }
}

#[test]
fn what_touches_no_memory() {
    let cases: &[(&[u8], Class)] = &[
        (&[0x48, 0x8d, 0x43, 0x10], Class::Integer),  // lea rax, [rbx+16]
        (&[0x0f, 0x1f, 0x44, 0, 0], Class::Integer),  // nop [rax+rax]
        (&[0x48, 0x01, 0xd8], Class::Integer),        // add rax, rbx
        (&[0x48, 0x0f, 0xaf, 0xc3], Class::Multiply), // imul rax, rbx
        (&[0x48, 0xf7, 0xf3], Class::Divide),         // div rbx
        (&[0xf2, 0x0f, 0x58, 0xc1], Class::Float),    // addsd xmm0, xmm1
        (&[0xd8, 0xc1], Class::Float),                // fadd st, st(1)
        (&[0x0f, 0x05], Class::Other),                // syscall
        (&[0x0f, 0xae, 0xf0], Class::Other),          // mfence
        (&[0x0f, 0x31], Class::Other),                // rdtsc
        (&[0x0f, 0x0b], Class::Other),                // ud2
        (&[0xff, 0xe0], Class::Jump),                 // jmp rax
        (&[0x0f, 0x18, 0x0b], Class::Integer),        // prefetcht0 [rbx]
    ];
    for (bytes, class) in cases {
        assert_eq!(decoded(bytes, &values()), (*class, Vec::new()), "{bytes:02x?}");
    }
}

#[test]
fn targets_are_those_that_are_named() {
    let target = |bytes: &[u8]| decode(bytes, IP, &values()).unwrap().0.target;
    assert_eq!(target(&[0xe8, 0, 1, 0, 0]), Some(IP + 5 + 0x100), "call");
    assert_eq!(target(&[0xeb, 0xfe]), Some(IP), "jmp to itself");
    assert_eq!(target(&[0x0f, 0x84, 0xfa, 0xff, 0xff, 0xff]), Some(IP), "je");
    for indirect in [&[0xff, 0xe0][..], &[0xff, 0x13], &[0xc3], &[0x90]] {
        assert_eq!(target(indirect), None);
    }
}

#[test]
fn string_instructions_touch_each_element() {
    let movs = |index: u64, sign: i64| {
        let moved = (index * 8) as i64 * sign;
        [(Load, RSI.wrapping_add_signed(moved), 8), (Store, RDI.wrapping_add_signed(moved), 8)]
    };
    let all = |sign| (0..3).flat_map(|index| movs(index, sign)).collect::<Vec<_>>();
    let rep_movsq = [0xf3, 0x48, 0xa5];
    assert_eq!(decoded(&rep_movsq, &with_rcx(3)), (Class::Store, all(1)));
    let backwards = Values { flags: 1 << 10, ..with_rcx(3) };
    assert_eq!(decoded(&rep_movsq, &backwards).1, all(-1));
    assert_eq!(decoded(&rep_movsq, &with_rcx(0)).1, []);
    assert_eq!(decoded(&[0xa4], &with_rcx(9)).1, [(Load, RSI, 1), (Store, RDI, 1)], "movsb, once");
    let stos = decoded(&[0xf3, 0xaa], &with_rcx(100)).1;
    assert_eq!((stos.len(), stos[99]), (100, (Store, RDI + 99, 1)));
    let scas = Values { iterations: Some(2), ..with_rcx(1 << 40) };
    assert_eq!(decoded(&[0xf2, 0xae], &scas).1, [(Load, RDI, 1), (Load, RDI + 1, 1)], "ended at the second");
}

#[test]
fn segments_are_added() {
    let thread = [0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0]; // mov rax, fs:[0x28]
    assert_eq!(decoded(&thread, &values()).1, [(Load, 0xf000_0028, 8)]);
    assert_eq!(decoded(&[0x65, 0x8b, 0x03], &values()).1, [(Load, 0xa000_0000 + RBX, 4)]); // mov eax, gs:[rbx]
    let short = Values { general: [0xffff_ffff_0000_1234; 16], ..values() };
    assert_eq!(decoded(&[0x67, 0x8b, 0x03], &short).1, [(Load, 0x1234, 4)]); // mov eax, [ebx]
}

#[test]
fn registers_are_told_apart() {
    let sets = |bytes: &[u8]| {
        let instruction = decode(bytes, IP, &values()).unwrap().0;
        (instruction.reads.0, instruction.writes.0)
    };
    let (rax, rcx, rbx, rsp, flags) = (1, 1 << 1, 1 << 3, 1 << 4, 1 << 16);
    assert_eq!(sets(&[0x48, 0x01, 0xd8]), (rax | rbx, rax | flags), "add rax, rbx");
    assert_eq!(sets(&[0x48, 0x8b, 0x43, 0x10]), (rbx, rax), "mov rax, [rbx+16]");
    assert_eq!(sets(&[0x88, 0xe0]), (rax, rax), "mov al, ah");
    assert_eq!(sets(&[0x74, 0x00]), (flags, 0), "je");
    assert_eq!(sets(&[0x51]), (rcx | rsp, rsp), "push rcx");
    assert_eq!(sets(&[0xf2, 0x0f, 0x58, 0xc1]), (1 << 32 | 1 << 33, 1 << 32), "addsd xmm0, xmm1");
}

#[test]
fn instructions_begin_where_those_before_them_end() {
    // movabs rax, …; ret; no instruction
    let code = [0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 0xc3, 0x06, 0x90];
    assert_eq!([0, 10, 11].map(|offset| beginning_at(&code, offset)), [Ok(()); 3]);
    assert_eq!(beginning_at(&code, 2), Err((0, Some(10))));
    assert_eq!(beginning_at(&code, 12), Err((11, None)));
    assert_eq!(beginning_at(&code[..5], 10), Err((0, None)), "it is not whole");
}

#[test]
fn bytes_that_are_no_instruction_are_refused() {
    let refused = decode(&[0x06], IP, &values()).unwrap_err();
    assert_eq!(refused.to_string(), "the bytes at 0x401000 are no x86-64 instruction: 06");
    assert!(decode(&[0x48, 0x8b], IP, &values()).is_err(), "the end is missing");
    assert!(decode(&[], IP, &values()).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_an_instruction_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..16),
        ip: u64,
        general: [u64; 16],
        flags: u64,
        iterations in 0_u64..100,
    ) {
        let values = Values { general, flags, fs_base: ip, gs_base: flags, iterations: Some(iterations) };
        if let Ok((instruction, accesses)) = decode(&bytes, ip, &values) {
            prop_assert!((1..=bytes.len()).contains(&usize::from(instruction.length)));
            prop_assert!(accesses.len() <= 2 * 100, "{accesses:?}");
        }
    }
}
