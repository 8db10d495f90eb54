//! The executed code of a trace, cut into basic blocks.

use crate::trace::{Class, Instruction, Trace};
use hashbrown::HashMap;

/// Instructions that were executed and follow each other in memory, of one function, and are entered at the first only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Block {
    /// Its function: an index in [`Trace::functions`].
    pub(crate) function: Option<u32>,
    /// Its first byte.
    pub(crate) address: u64,
    /// The first byte after it.
    pub(crate) end: u64,
    /// How many instructions it has.
    pub(crate) instructions: u32,
    /// Its first instruction: an index in [`Trace::instructions`].
    pub(crate) first: u32,
}

/// The executed instructions of a trace and their blocks.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    /// By address.
    pub(crate) blocks: Vec<Block>,
    /// The block of each instruction of [`Trace::instructions`].
    pub(crate) block_of: Vec<u32>,
}

impl Code {
    /// Blocks are cut at functions' limits, after branches, jumps, calls and returns, at targets that an executed
    /// instruction names, and wherever a step arrived from elsewhere.
    pub(crate) fn new(trace: &Trace) -> Self {
        let instructions = trace.instructions();
        let begins = begins(trace);
        let mut order: Vec<u32> = (0..instructions.len() as u32).collect();
        order.sort_unstable_by_key(|&index| instructions[index as usize].address);
        let mut code = Self { blocks: Vec::new(), block_of: vec![0; instructions.len()] };
        let mut cut = true;
        for index in order {
            let instruction = &instructions[index as usize];
            let function = trace.function_at(instruction.address).map(|at| at as u32);
            code.append(index, instruction, function, cut || begins[index as usize]);
            cut = is_end(instruction.class);
        }
        code
    }

    fn append(&mut self, index: u32, instruction: &Instruction, function: Option<u32>, cut: bool) {
        let end = instruction.end();
        match self.blocks.last_mut() {
            Some(block) if !cut && block.end == instruction.address && block.function == function => {
                block.end = end;
                block.instructions += 1;
            }
            _ => self.blocks.push(Block {
                function,
                address: instruction.address,
                end,
                instructions: 1,
                first: index,
            }),
        }
        self.block_of[index as usize] = self.blocks.len() as u32 - 1;
    }
}

/// Which instructions begin a block because something goes there.
fn begins(trace: &Trace) -> Vec<bool> {
    let instructions = trace.instructions();
    let index: HashMap<u64, usize> = (0..).zip(instructions).map(|(at, one)| (one.address, at)).collect();
    let mut begins = vec![false; instructions.len()];
    for target in instructions.iter().filter_map(|instruction| instruction.target) {
        if let Some(&at) = index.get(&target) {
            begins[at] = true;
        }
    }
    let mut falls_to = None;
    for (at, _) in trace.executed() {
        let instruction = &instructions[at];
        if falls_to != Some(instruction.address) {
            begins[at] = true;
        }
        falls_to = Some(instruction.end());
    }
    begins
}

/// Whether such an instruction ends a block.
const fn is_end(class: Class) -> bool {
    matches!(class, Class::Branch | Class::Jump | Class::Call | Class::Return)
}
