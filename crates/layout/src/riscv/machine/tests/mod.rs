mod arithmetic;
mod control;
mod data;
mod programs;

use super::{Machine, MachineError, Nobody, Stop};
use crate::riscv::testing::{CODE, image_of};

/// `jalr x0, 0(ra)`
const RET: u32 = 0x0000_8067;

/// Executes `words` up to their `ret` with `a` and `b` in `a0` and `a1`. Returns `a2`.
fn execute(words: &[u32], a: u64, b: u64) -> Result<u64, MachineError> {
    let mut machine = Machine::new(&image_of(&[words, &[RET]].concat()))?;
    machine.set_limit(100);
    machine.begin(CODE, &[a, b, 0xdead])?;
    match machine.run(&mut Nobody)? {
        Stop::Returned(_) => Ok(machine.registers()[12]),
        other => panic!("{other:?}"),
    }
}
