//! Which data an instruction touches.

use super::Values;
use super::registers::{reads_it, writes_it};
use crate::trace::Access;
use iced_x86::{Instruction, InstructionInfo, MemorySize, Register, UsedMemory};
use warmcore_cachesim::Kind;

/// The flag that lets string instructions go backwards.
const DIRECTION: u64 = 1 << 10;
/// What `xsave` and its kin write at least, in bytes: the legacy region and the header (Intel's manual, volume 1, §13.4).
/// More depends on the processor's state.
const XSAVE: u16 = 576;

/// Appends what `instruction` touches with `values`: of each element, loads before stores.
pub(super) fn append(
    instruction: &Instruction,
    information: &InstructionInfo,
    values: &Values,
    accesses: &mut Vec<Access>,
) {
    let first = accesses.len();
    let touched = information.used_memory();
    let loads = touched.iter().filter(|used| reads_it(used.access()));
    accesses.extend(loads.filter_map(|used| access(instruction, used, Kind::Load, values)));
    let stores = touched.iter().filter(|used| writes_it(used.access()));
    accesses.extend(stores.filter_map(|used| access(instruction, used, Kind::Store, values)));
    if is_repeated(instruction) {
        repeat(first, values, accesses);
    }
}

fn is_repeated(instruction: &Instruction) -> bool {
    instruction.is_string_instruction() && (instruction.has_rep_prefix() || instruction.has_repne_prefix())
}

/// Replaces what one element touches, from index `first` on, by what all do.
fn repeat(first: usize, values: &Values, accesses: &mut Vec<Access>) {
    let element = accesses.split_off(first);
    for iteration in 0..values.iterations.unwrap_or(values.general[1]) {
        accesses.extend(element.iter().map(|access| {
            let distance = iteration.wrapping_mul(u64::from(access.size));
            let address = if values.flags & DIRECTION == 0 {
                access.address.wrapping_add(distance)
            } else {
                access.address.wrapping_sub(distance)
            };
            Access { address, ..*access }
        }));
    }
}

fn access(instruction: &Instruction, used: &UsedMemory, kind: Kind, values: &Values) -> Option<Access> {
    let address = used.virtual_address(0, |register, _, _| value(register, values))?;
    let size = match used.memory_size() {
        // Of repeated ones the table does not say how many bytes they touch in all.
        MemorySize::Unknown => size(instruction.memory_size()),
        known => size(known),
    };
    Some(Access { address, size, kind })
}

fn size(memory: MemorySize) -> u16 {
    match memory {
        MemorySize::Xsave | MemorySize::Xsave64 => XSAVE,
        _ => memory.size() as u16,
    }
}

/// The value of a register of an address; `None` of a vector.
fn value(register: Register, values: &Values) -> Option<u64> {
    match register {
        Register::FS => Some(values.fs_base),
        Register::GS => Some(values.gs_base),
        Register::CS | Register::DS | Register::ES | Register::SS => Some(0),
        _ if register.is_gpr64() => Some(values.general[register.number()]),
        _ if register.is_gpr32() => Some(values.general[register.number()] & 0xffff_ffff),
        _ => None,
    }
}
