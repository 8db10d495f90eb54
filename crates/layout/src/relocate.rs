//! A trace as it would be with functions elsewhere: what a placement gains is told by [simulating](crate::simulate) it there.
//!
//! Instructions move with their functions, and so do the targets that they name. Data stay, also those that lie
//! between functions' instructions. No instruction changes: a jump that would no longer reach its target, or a call that could
//! become shorter, stays as it is.

use crate::order::Placement;
use crate::trace::{Function, Instruction, Trace};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a trace cannot be moved.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum RelocateError {
    /// The placement is of another program.
    #[error("the placement names function {function}, the trace has {functions}")]
    Unknown {
        /// The index that there is not.
        function: u32,
        /// How many functions the trace has.
        functions: usize,
    },
    /// A placed function would be shorter than it is.
    #[error("function {name} has {needed} bytes, the placement {given}")]
    Size {
        /// The function.
        name: String,
        /// Bytes that it has.
        needed: u64,
        /// Bytes that it was given.
        given: u64,
    },
    /// Executed code stays where a function is to be.
    #[error("executed code at {address:#x} has no place in the placement, which puts function {name} there")]
    Occupied {
        /// The code that stays.
        address: u64,
        /// The function that was to be there.
        name: String,
    },
}

/// The functions of a trace and where they go.
struct Map<'a> {
    trace: &'a Trace,
    /// The new address of each function that moves, by index.
    address: Vec<Option<u64>>,
    /// Placed functions by their new addresses: end and index.
    taken: BTreeMap<u64, (u64, usize)>,
}

/// `trace` with the functions of `placement` there. Other functions stay; those that were not executed and lie where
/// one is now are left out.
///
/// # Errors
/// If the placement is of another trace, gives a function too few bytes, or puts one where executed code stays.
pub fn relocate(trace: &Trace, placement: &Placement) -> Result<Trace, RelocateError> {
    let map = Map::new(trace, placement)?;
    let moved: Vec<Instruction> =
        trace.instructions().iter().map(|one| map.instruction(one)).collect::<Result<_, _>>()?;
    let mut relocated = Trace::new(map.functions());
    for (at, accesses) in trace.executed() {
        relocated.push(&moved[at], accesses);
    }
    Ok(relocated)
}

impl<'a> Map<'a> {
    fn new(trace: &'a Trace, placement: &Placement) -> Result<Self, RelocateError> {
        let functions = trace.functions();
        let mut map = Self { trace, address: vec![None; functions.len()], taken: BTreeMap::new() };
        for one in placement.placed() {
            let at = one.function as usize;
            let Some(function) = functions.get(at) else {
                return Err(RelocateError::Unknown { function: one.function, functions: functions.len() });
            };
            let needed = trace.function_size(at).0;
            if one.size.0 < needed {
                let name = function.name.clone();
                return Err(RelocateError::Size { name, needed, given: one.size.0 });
            }
            map.address[at] = Some(one.address);
            map.taken.insert(one.address, (one.end(), at));
        }
        Ok(map)
    }

    /// Where the byte at `address` goes; `None` if it stays.
    fn moved(&self, address: u64) -> Option<u64> {
        let function = self.trace.function_at(address)?;
        Some(self.address[function]? + (address - self.trace.functions()[function].address))
    }

    /// The placed function that lies between `from` and `to`.
    fn occupant(&self, from: u64, to: u64) -> Option<usize> {
        let before = self.taken.range(..to).next_back();
        before.filter(|&(_, &(end, _))| end > from).map(|(_, &(_, function))| function)
    }

    fn instruction(&self, one: &Instruction) -> Result<Instruction, RelocateError> {
        let target = one.target.map(|target| self.moved(target).unwrap_or(target));
        if let Some(address) = self.moved(one.address) {
            return Ok(Instruction { address, target, ..*one });
        }
        match self.occupant(one.address, one.address.saturating_add(u64::from(one.length.max(1)))) {
            Some(function) => {
                let name = self.trace.functions()[function].name.clone();
                Err(RelocateError::Occupied { address: one.address, name })
            }
            None => Ok(Instruction { target, ..*one }),
        }
    }

    fn functions(&self) -> Vec<Function> {
        let stays = |at: usize, function: &Function| {
            let end = function.address.saturating_add(self.trace.function_size(at).0);
            self.occupant(function.address, end).is_none()
        };
        let moved = |(at, function): (usize, &Function)| match self.address[at] {
            Some(address) => {
                Some(Function { address, size: self.trace.function_size(at).0, ..function.clone() })
            }
            None => stays(at, function).then(|| function.clone()),
        };
        self.trace.functions().iter().enumerate().filter_map(moved).collect()
    }
}
