//! Loads and stores, and what they may not touch.

use super::{Machine, MachineError, RET, execute};
use crate::riscv::testing::{CODE, DATA, image_of};
use crate::trace::{Access, Trace};
use proptest::prelude::*;
use warmcore_cachesim::Kind;

#[test]
fn loads_extend_by_their_sign_or_by_zeros() {
    // The data is 0x80, 0x81, …
    let cases = [
        (0x0035_0603, 0xffff_ffff_ffff_ff83), // lb a2, 3(a0)
        (0x0025_1603, 0xffff_ffff_ffff_8382), // lh a2, 2(a0)
        (0x0045_2603, 0xffff_ffff_8786_8584), // lw a2, 4(a0)
        (0x0085_3603, 0x8f8e_8d8c_8b8a_8988), // ld a2, 8(a0)
        (0x0035_4603, 0x83),                  // lbu a2, 3(a0)
        (0x0025_5603, 0x8382),                // lhu a2, 2(a0)
        (0x0045_6603, 0x8786_8584),           // lwu a2, 4(a0)
    ];
    for (word, expected) in cases {
        assert_eq!(execute(&[word], DATA, 0), Ok(expected), "{word:#010x}");
    }
}

#[test]
fn stores_change_as_many_bytes_as_they_say() {
    // sb a1, -1(a0); sh a1, 2(a0); sw a1, 4(a0); sd a1, -8(a0); each then ld a2, 0(a0) or ld a2, -8(a0)
    let cases = [
        (0xfeb5_0fa3, 0xff85_3603, 0x8886_8584_8382_8180),
        (0x00b5_1123, 0x0005_3603, 0x8f8e_8d8c_7788_8988),
        (0x00b5_2223, 0x0005_3603, 0x5566_7788_8b8a_8988),
        (0xfeb5_3c23, 0xff85_3603, 0x1122_3344_5566_7788),
    ];
    for (store, load, expected) in cases {
        assert_eq!(execute(&[store, load], DATA + 8, 0x1122_3344_5566_7788), Ok(expected), "{store:#010x}");
    }
}

proptest! {
    #[test]
    fn what_is_stored_is_loaded(value: u64, place in 0_u64..8) {
        // sd a1, 0(a0); ld a2, 0(a0)
        let address = DATA + 8 * place;
        prop_assert_eq!(execute(&[0x00b5_3023, 0x0005_3603], address, value), Ok(value));
    }

    #[test]
    fn no_address_and_no_word_leads_to_a_panic(address: u64, words in prop::collection::vec(any::<u32>(), 1..8)) {
        let _ = execute(&[0x0005_3603], address, 0);
        let _ = execute(&[0x00b5_3023], address, 0);
        let _ = execute(&words, address, 0);
        let _ = execute(&words, DATA, 0);
    }
}

#[test]
fn what_is_not_there_is_refused_with_pc_and_address() {
    // ld a2, 0(a0); sd a1, 0(a0)
    let (load, store) = (0x0005_3603, 0x00b5_3023);
    let pc = CODE;
    let cases = [
        (load, DATA + 1, MachineError::Misaligned { pc, address: DATA + 1, size: 8 }),
        (load, DATA + 64, MachineError::OutOfBounds { pc, address: DATA + 64, size: 8 }),
        (store, 0, MachineError::OutOfBounds { pc, address: 0, size: 8 }),
        (store, u64::MAX - 7, MachineError::OutOfBounds { pc, address: u64::MAX - 7, size: 8 }),
        (store, CODE, MachineError::ReadOnly { pc, address: CODE, size: 8 }),
    ];
    for (word, address, expected) in cases {
        assert_eq!(execute(&[word], address, 0), Err(expected));
    }
}

#[test]
fn a_trace_has_the_data_that_was_touched() {
    // addi a1, a1, 1; sw a1, 4(a0); lbu a2, 3(a0); ret
    let words = [0x0015_8593, 0x00b5_2223, 0x0035_4603, RET];
    let mut machine = Machine::new(&image_of(&words)).unwrap();
    let mut trace = Trace::default();
    machine.call_observed(CODE, &[DATA, 0], &mut trace).unwrap();
    let access = |address, size, kind| Access { address, size, kind };
    let touched: Vec<Vec<Access>> = trace.steps().map(|step| step.accesses.to_vec()).collect();
    let (store, load) = (access(DATA + 4, 4, Kind::Store), access(DATA + 3, 1, Kind::Load));
    assert_eq!(touched, [vec![], vec![store], vec![load], vec![]]);
    assert_eq!(machine.executed(), 4);
}

#[test]
fn the_host_reads_and_writes_all_but_code() {
    let mut machine = Machine::new(&image_of(&[RET])).unwrap();
    machine.write_u64(DATA + 3, 77).unwrap();
    assert_eq!(machine.read_u64(DATA + 3), Ok(77));
    assert_eq!(machine.read(CODE, 4).unwrap(), RET.to_le_bytes());
    assert_eq!(machine.write(CODE, &[0]), Err(MachineError::Host { address: CODE, size: 1 }));
    assert_eq!(machine.read(DATA + 60, 5), Err(MachineError::Host { address: DATA + 60, size: 5 }));
    machine.add_memory(0x9000_0000, 4096).unwrap();
    machine.write_u64(0x9000_0ff8, 1).unwrap();
    let overlap = MachineError::Overlap { address: 0x9000_0fff, size: 1 };
    assert_eq!(machine.add_memory(0x9000_0fff, 1), Err(overlap));
    let too_large = MachineError::TooLarge { size: 1 << 60, limit: 64 << 20 };
    assert_eq!(machine.add_memory(0xa000_0000, 1 << 60), Err(too_large));
}
