//! What an instruction is to a pipeline.

use super::registers::{reads_it, writes_it};
use crate::trace::Class;
use iced_x86::{FlowControl, Instruction, InstructionInfo, Mnemonic, OpKind, Register};

/// The class of `instruction`.
pub(super) fn classify(instruction: &Instruction, information: &InstructionInfo) -> Class {
    flow(instruction).or_else(|| slow(instruction.mnemonic())).unwrap_or_else(|| {
        let memory = information.used_memory();
        let registers = information.used_registers();
        if memory.iter().any(|used| writes_it(used.access())) {
            Class::Store
        } else if memory.iter().any(|used| reads_it(used.access())) {
            Class::Load
        } else if registers.iter().any(|used| is_float(used.register())) {
            Class::Float
        } else {
            Class::Integer
        }
    })
}

/// The class of one that goes elsewhere, or enters the kernel.
fn flow(instruction: &Instruction) -> Option<Class> {
    match instruction.flow_control() {
        FlowControl::Next => None,
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => Some(Class::Jump),
        FlowControl::ConditionalBranch => Some(Class::Branch),
        FlowControl::Return => Some(Class::Return),
        FlowControl::Call | FlowControl::IndirectCall if instruction.mnemonic() == Mnemonic::Call => {
            Some(Class::Call)
        }
        _ => Some(Class::Other),
    }
}

/// The class of one that takes long whatever its operands are, or waits for all before it.
fn slow(mnemonic: Mnemonic) -> Option<Class> {
    match mnemonic {
        Mnemonic::Mul | Mnemonic::Imul | Mnemonic::Mulx => Some(Class::Multiply),
        Mnemonic::Div | Mnemonic::Idiv => Some(Class::Divide),
        Mnemonic::Mfence
        | Mnemonic::Lfence
        | Mnemonic::Sfence
        | Mnemonic::Cpuid
        | Mnemonic::Rdtsc
        | Mnemonic::Rdtscp
        | Mnemonic::Rdpid
        | Mnemonic::Pause
        | Mnemonic::Hlt
        | Mnemonic::Xgetbv
        | Mnemonic::Serialize => Some(Class::Other),
        _ => None,
    }
}

fn is_float(register: Register) -> bool {
    register.is_vector_register() || register.is_st() || register.is_mm() || register.is_k()
}

/// Where it goes, if it names the place.
pub(super) fn target(instruction: &Instruction) -> Option<u64> {
    let is_near =
        matches!(instruction.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64);
    (instruction.op_count() > 0 && is_near).then(|| instruction.near_branch_target())
}
