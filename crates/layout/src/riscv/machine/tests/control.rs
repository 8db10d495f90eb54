//! Branches, jumps, and where execution stops.

use super::{Machine, MachineError, Nobody, RET, Stop, execute};
use crate::riscv::testing::{CODE, image_of};
use proptest::prelude::*;

/// `addi a2, x0, 1` and `addi a2, x0, 2`
const ONE: u32 = 0x0010_0613;
const TWO: u32 = 0x0020_0613;
const ECALL: u32 = 0x0000_0073;

proptest! {
    #[test]
    fn branches_are_taken_as_rust_compares(a: u64, b: u64, same: bool, upper: bool) {
        let b = if same { a } else if upper { b | 1 << 63 } else { b };
        let (a_signed, b_signed) = (a as i64, b as i64);
        let cases = [
            (0x00b5_0663, a == b),
            (0x00b5_1663, a != b),
            (0x00b5_4663, a_signed < b_signed),
            (0x00b5_5663, a_signed >= b_signed),
            (0x00b5_6663, a < b),
            (0x00b5_7663, a >= b),
        ];
        for (branch, taken) in cases {
            // The branch skips a `ret`.
            let found = execute(&[branch, ONE, RET, TWO], a, b);
            prop_assert_eq!(found, Ok(if taken { 2 } else { 1 }), "{:#010x}", branch);
        }
    }
}

#[test]
fn branches_and_jumps_go_back() {
    // j +12; addi a2, x0, 1; ret; beq a0, a1, -8. And with `j -8` as the last.
    for last in [0xfeb5_0ce3, 0xff9f_f06f] {
        assert_eq!(execute(&[0x00c0_006f, ONE, RET, last, TWO], 0, 0), Ok(1));
    }
}

#[test]
fn a_jump_links_to_the_next_instruction() {
    // addi t1, ra, 0; jal ra, 12; -; -; addi a2, ra, 0; jalr x0, 0(t1)
    let words = [0x0000_8313, 0x00c0_00ef, 0, 0, 0x0000_8613, 0x0003_0067];
    assert_eq!(execute(&words, 0, 0), Ok(CODE + 8));
    // addi t1, ra, 0; jalr ra, 1(a0); -; addi a2, ra, 0; jalr x0, 0(t1): the lowest bit does not count
    let words = [0x0000_8313, 0x0015_00e7, 0, 0x0000_8613, 0x0003_0067];
    assert_eq!(execute(&words, CODE + 12, 0), Ok(CODE + 8));
    // jalr a0, -4(a0); -; addi a2, a0, 0; ret: the target is read before the link is written
    assert_eq!(execute(&[0xffc5_0567, 0, 0x0005_0613], CODE + 12, 0), Ok(CODE + 4));
}

#[test]
fn going_where_no_code_is_is_refused() {
    // jalr ra, 1(a0)
    let jump = |to| execute(&[0x0015_00e7], to, 0);
    assert_eq!(jump(CODE + 2), Err(MachineError::NotCode { pc: CODE + 2 }));
    assert_eq!(jump(0x5000), Err(MachineError::NotCode { pc: 0x5000 }));
    let past = image_of(&[ONE]);
    let ran = Machine::new(&past).unwrap().call(CODE, &[]);
    assert_eq!(ran, Err(MachineError::NotCode { pc: CODE + 4 }));
}

#[test]
fn unknown_words_are_refused_where_they_are() {
    let pc = CODE + 4;
    for word in [0x0000_0000, 0x1234_4501] {
        assert_eq!(execute(&[ONE, word], 0, 0), Err(MachineError::Compressed { pc, word }));
    }
    // amoadd.w, csrrw, fence.i, a load of 16 bytes, a branch of the third kind, fadd.s, a branch by 6 bytes, srai with a
    // seventh bit
    let words = [
        0x00b5_202f,
        0xc000_1073,
        0x0000_100f,
        0x0005_7603,
        0x00b5_2663,
        0x00b5_0653,
        0x00b5_0363,
        0x4205_561b,
    ];
    for word in words {
        let expected = Err(MachineError::UnknownInstruction { pc, word });
        assert_eq!(execute(&[ONE, word], 0, 0), expected, "{word:#010x}");
    }
    assert_eq!(execute(&[ONE, 0x0010_0073], 0, 0), Err(MachineError::Breakpoint { pc }));
}

#[test]
fn the_limit_holds() {
    // j 0
    assert_eq!(execute(&[0x0000_006f], 0, 0), Err(MachineError::InstructionLimit { pc: CODE, limit: 100 }));
    let mut machine = Machine::new(&image_of(&[ONE, ONE, RET])).unwrap();
    machine.set_limit(3);
    assert_eq!(machine.call(CODE, &[5]), Ok(5));
    machine.set_limit(2);
    let stopped = MachineError::InstructionLimit { pc: CODE + 8, limit: 2 };
    assert_eq!(machine.call(CODE, &[5]), Err(stopped));
    assert_eq!(machine.executed(), 5);
}

#[test]
fn the_host_answers_and_the_program_goes_on() {
    // ecall; addi a2, x0, 1; ecall; ret
    let image = image_of(&[ECALL, ONE, ECALL, RET]);
    let mut machine = Machine::new(&image).unwrap();
    machine.begin(CODE, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let mut seen = Vec::new();
    let mut observe = |instruction: &crate::trace::Instruction, _: &[_]| seen.push(instruction.address);
    assert_eq!(machine.run(&mut Nobody), Ok(Stop::Ecall([1, 2, 3, 4, 5, 6, 7, 8])));
    machine.answer(10);
    assert_eq!(machine.run(&mut observe), Ok(Stop::Ecall([10, 2, 1, 4, 5, 6, 7, 8])));
    machine.answer(11);
    assert_eq!(machine.run(&mut observe), Ok(Stop::Returned(11)));
    assert_eq!(seen, [CODE + 4, CODE + 12]);
    assert_eq!(machine.call(CODE, &[]), Err(MachineError::UnexpectedCall { pc: CODE }));
    assert_eq!(machine.begin(CODE, &[0; 9]), Err(MachineError::Arguments { given: 9 }));
}

#[test]
fn execution_stops_before_the_named_instruction() {
    let mut machine = Machine::new(&image_of(&[ONE, TWO, RET])).unwrap();
    machine.begin(CODE, &[]).unwrap();
    assert_eq!(machine.run_until(CODE + 4, &mut Nobody), Ok(Stop::Reached));
    assert_eq!((machine.pc(), machine.registers()[12]), (CODE + 4, 1));
    assert_eq!(machine.run_until(CODE + 4, &mut Nobody), Ok(Stop::Reached));
    assert_eq!(machine.run_until(CODE, &mut Nobody), Ok(Stop::Returned(0)));
    assert_eq!(machine.registers()[12], 2);
}
