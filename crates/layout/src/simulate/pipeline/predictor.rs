//! Which branches a processor foresees.

use super::BranchPrediction;
use crate::trace::{Class, Instruction};
use hashbrown::HashMap;
use std::collections::VecDeque;

/// What a processor remembers of branches and calls.
#[derive(Clone, Debug)]
pub(super) struct Predictor {
    prediction: BranchPrediction,
    /// How the branch at an address went the last time.
    bits: HashMap<u64, bool>,
    returns: VecDeque<u64>,
    depth: usize,
}

impl Predictor {
    pub(super) fn new(prediction: BranchPrediction, depth: u32) -> Self {
        Self { prediction, bits: HashMap::new(), returns: VecDeque::new(), depth: depth as usize }
    }

    /// Whether it foresees that after `instruction` comes the one at `next`, and learns of it.
    pub(super) fn foresees(&mut self, instruction: &Instruction, taken: bool, next: u64) -> bool {
        let foreseen = match instruction.class {
            Class::Branch => self.branch(instruction, taken),
            Class::Return => self.returns.pop_back() == Some(next),
            Class::Jump | Class::Call => instruction.target.is_some(),
            // A trap or a marker: no branch.
            _ => true,
        };
        if instruction.class == Class::Call && self.depth > 0 {
            if self.returns.len() == self.depth {
                self.returns.pop_front();
            }
            self.returns.push_back(instruction.end());
        }
        foreseen || self.prediction == BranchPrediction::Perfect
    }

    fn branch(&mut self, instruction: &Instruction, taken: bool) -> bool {
        let backward = instruction.target.is_some_and(|target| target <= instruction.address);
        match self.prediction {
            BranchPrediction::Perfect => true,
            BranchPrediction::Static => taken == backward,
            BranchPrediction::OneBit => {
                self.bits.insert(instruction.address, taken).unwrap_or(backward) == taken
            }
        }
    }
}
